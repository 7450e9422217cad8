// The registration drill: what may happen to wrapped services and to their registry happens, under steady load.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type DrillRegistry, REGISTRIES, type RegistryName } from '../support/drill-registry.ts';
import { freeRange } from '../support/free-range.ts';
import { type DrillGateway, startGateway } from '../support/gateway.ts';
import { PoolHistory } from '../support/pool-history.ts';
import { SteadyLoad } from '../support/steady-load.ts';
import type { WrappedInstance } from '../support/wrapped-instance.ts';
import { WrappedService } from '../support/wrapped-service.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    registry: { type: 'string', multiple: true, default: [] },
    step: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});

const FRONTS = 3;
const BACKS = 2;
const CLIENTS = values.short ? 8 : 16;
const DRAIN = values.short ? '1s' : '5s';
/** The short form has no time for heartbeats every 10 s. */
const HEARTBEAT = values.short ? ['--ttl', '3s'] : [];
/** How long a registry or a database is away: shorter than instances expire, and longer. */
const SHORT_AWAY_MS = 1500;
const LONG_AWAY_MS = values.short ? 5000 : 45_000;
/** What an instance without heartbeats is still listed for, the age of answers (3 s), and what it takes to see that. */
const EXPIRY_LIMIT_MS = 30_000 + 3000 + 2000;
/** Both happen at once; the rest is for a machine that has other things to do. */
const UNROUTED_LIMIT_MS = 10_000;
const DEREGISTERED_LIMIT_MS = 10_000;

interface Scene {
  readonly registry: DrillRegistry;
  readonly gateway: DrillGateway;
  /** What the gateway sends requests to; each calls the back through `weir/client`. */
  readonly front: WrappedService;
  readonly back: WrappedService;
  /** For each instance whose wrapper was killed: the milliseconds until the registry let go of it. */
  readonly expiries: Promise<number>[];
}

/** Milliseconds, the longest where there were several; absent where there is nothing to time. */
interface Outcome {
  readonly unroutedMs?: number;
  readonly unlistedMs?: number;
  readonly backMs?: number;
}

interface Step {
  readonly name: string;
  readonly run: (scene: Scene) => Promise<Outcome>;
  readonly limits?: Outcome;
}

const STEPS: readonly Step[] = [
  { name: 'nothing, for comparison', run: () => delay(values.short ? 500 : 5000, {}) },
  {
    name: 'kill -9 of a wrapper and its service, of both kinds',
    run: killedBoth,
    limits: { unroutedMs: UNROUTED_LIMIT_MS },
  },
  { name: 'rolling restart of the three, the new one first', run: ({ front }) => rolling(front, 'new first') },
  { name: 'rolling restart of the called, the old one first', run: ({ back }) => rolling(back, 'old first') },
  {
    name: 'kill -9 of a service',
    run: ({ front }) => killedService(front),
    limits: { unroutedMs: UNROUTED_LIMIT_MS, unlistedMs: DEREGISTERED_LIMIT_MS },
  },
  {
    name: 'kill -9 of a called service',
    run: ({ back }) => killedService(back),
    limits: { unlistedMs: DEREGISTERED_LIMIT_MS },
  },
  { name: 'those whose wrappers were killed expire', run: expired, limits: { unlistedMs: EXPIRY_LIMIT_MS } },
  { name: `the registry is killed, and away for ${SHORT_AWAY_MS} ms`, run: (scene) => away(scene, SHORT_AWAY_MS) },
  { name: `the registry is killed, and away for ${LONG_AWAY_MS} ms`, run: (scene) => away(scene, LONG_AWAY_MS) },
];

const DATABASE_STEPS: readonly Step[] = [
  {
    name: `its database is killed, and away for ${SHORT_AWAY_MS} ms`,
    run: (scene) => databaseAway(scene, SHORT_AWAY_MS),
  },
  {
    name: `its database is killed, and away for ${LONG_AWAY_MS} ms`,
    run: (scene) => databaseAway(scene, LONG_AWAY_MS),
  },
];

if (values.help) {
  console.log('usage: npm run chaos:registration -- [--short] [--registry consul|sqlite|mariadb]… [--step WORDS]');
} else process.exitCode = await drill();

async function drill(): Promise<number> {
  const names = values.registry.length > 0 ? values.registry : Object.keys(REGISTRIES);
  const faults: string[] = [];
  for (const name of names) {
    if (!isRegistryName(name)) throw new Error(`--registry: expected one of ${Object.keys(REGISTRIES).join(', ')}`);
    faults.push(...(await drillWith(await REGISTRIES[name]())));
  }
  for (const fault of faults) console.log(fault);
  console.log(faults.length === 0 ? 'drill passed: 0 failed requests' : 'drill FAILED');
  return faults.length === 0 ? 0 : 1;
}

function isRegistryName(name: string): name is RegistryName {
  return Object.hasOwn(REGISTRIES, name);
}

async function drillWith(registry: DrillRegistry): Promise<string[]> {
  const ports = (await freeRange(40)).values();
  const folder = mkdtempSync(join(tmpdir(), 'weir-drill-'));
  const nextPort = (): number => ports.next().value ?? 0;
  const gateway = await startGateway({
    port: nextPort(),
    adminPort: nextPort(),
    workers: 2,
    routes: {
      front: { service: 'front', match: [{ paths: ['/*'] }] },
      back: { service: 'back', match: [{ paths: ['/back/*'] }] },
    },
    gateway: { discovery: { ...registry.discovery, snapshot: { path: join(folder, 'snapshot.json') } } },
  });
  const { environment, registerUrl } = registry;
  const options = ['--registry', registerUrl, '--drain', DRAIN, ...HEARTBEAT];
  const common = { options, environment, gateway, registry, nextPort };
  const back = new WrappedService({ ...common, name: 'back' });
  const front = new WrappedService({ ...common, name: 'front', client: { ...registry.client, services: ['back'] } });
  try {
    await Promise.all(Array.from({ length: BACKS }, () => back.add()));
    await Promise.all(Array.from({ length: FRONTS }, () => front.add()));
    return await underLoad({ registry, gateway, front, back, expiries: [] });
  } finally {
    await Promise.all([front.end(), back.end()]);
    await gateway.stop();
    await registry.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function underLoad(scene: Scene): Promise<string[]> {
  const { registry, gateway } = scene;
  const load = new SteadyLoad(`http://127.0.0.1:${gateway.port}`, { clients: CLIENTS, restMs: 10 });
  console.log(`\n${registry.title}\n`);
  console.log(
    '| step | s | requests | failed | degraded | slowest ms | fewest active | out of routing ms | out of registry ms | back ms |',
  );
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|');
  try {
    const faults: string[] = [];
    const steps = registry.database === null ? STEPS : [...STEPS, ...DATABASE_STEPS];
    for (const step of steps.filter(({ name }) => name.includes(values.step)))
      faults.push(...(await runStep(step, scene, load)));
    faults.push(...new Set(scene.front.complaints));
    return faults.map((fault) => `${registry.title}: ${fault}`);
  } finally {
    await load.stop();
  }
}

/** Runs the step and prints its line; gives what is not as it should be. */
async function runStep({ name, run, limits = {} }: Step, scene: Scene, load: SteadyLoad): Promise<string[]> {
  const begunMs = performance.now();
  const history = new PoolHistory(() => scene.front.pool());
  const outcome = await run(scene)
    .then((ended) => delay(500, ended))
    .finally(() => history.stop());
  const { fewest } = history;
  const { requests, failed, degraded, slowestMs, errors, spans } = load.take();
  const seconds = ((performance.now() - begunMs) / 1000).toFixed(0);
  const { unroutedMs, unlistedMs, backMs } = outcome;
  const times = [unroutedMs, unlistedMs, backMs].map((ms) => ms ?? '').join(' | ');
  console.log(`| ${name} | ${seconds} | ${requests} | ${failed} | ${degraded} | ${slowestMs} | ${fewest} | ${times} |`);
  const faults = Object.entries(errors).map(
    ([what, often]) => `${name}: ${often} × ${what} (${spans[what]?.firstMs} to ${spans[what]?.lastMs} ms)`,
  );
  if (requests === 0) faults.push(`${name}: no requests`);
  if (degraded > 0) faults.push(`${name}: ${degraded} degraded answers`);
  for (const what of ['unroutedMs', 'unlistedMs', 'backMs'] as const) {
    const [tookMs = 0, limitMs = Number.POSITIVE_INFINITY] = [outcome[what], limits[what]];
    if (tookMs > limitMs) faults.push(`${name}: ${what} ${tookMs}, at most ${limitMs} wanted`);
  }
  if (faults.length > 0) faults.push(...history.lines.map((line) => `  the pool at ${line}`));
  return faults;
}

/** As a deployment does it: one after the other, with a new one before the old one goes, or after it on its port. */
async function rolling(service: WrappedService, order: 'new first' | 'old first'): Promise<Outcome> {
  let [unroutedMs, backMs] = [0, 0];
  const added = async (port?: number): Promise<void> => {
    const begunMs = performance.now();
    await service.add(port);
    backMs = Math.max(backMs, Math.round(performance.now() - begunMs));
  };
  for (const old of service.instances) {
    if (order === 'new first') await added();
    unroutedMs = Math.max(unroutedMs, await service.stop(old));
    if (order === 'old first') await added(portOf(old));
  }
  return { unroutedMs, backMs };
}

/** The wrapper lives and deregisters at once; the next one gets the same port. */
async function killedService(service: WrappedService): Promise<Outcome> {
  const victim = oldestOf(service);
  const [unroutedMs, unlistedMs] = await Promise.all([
    service.untilUnrouted(victim.endpoint),
    service.untilUnlisted(victim.endpoint),
    service.killService(victim),
  ]);
  const begunMs = performance.now();
  await service.add(portOf(victim));
  return { unroutedMs, unlistedMs, backMs: Math.round(performance.now() - begunMs) };
}

/** Nobody is left to deregister: others take over while the registry still lists the dead. */
async function killedBoth({ front, back, expiries }: Scene): Promise<Outcome> {
  const [victim, called] = [oldestOf(front), oldestOf(back)];
  for (const [service, { endpoint }] of [[front, victim] as const, [back, called] as const]) {
    const expiry = service.untilUnlisted(endpoint);
    // It is waited for in a later step.
    expiry.catch(() => undefined);
    expiries.push(expiry);
  }
  const [unroutedMs] = await Promise.all([
    front.untilUnrouted(victim.endpoint),
    front.killBoth(victim),
    back.killBoth(called),
  ]);
  const begunMs = performance.now();
  await Promise.all([front.add(), back.add()]);
  return { unroutedMs, backMs: Math.round(performance.now() - begunMs) };
}

async function expired({ expiries }: Scene): Promise<Outcome> {
  return expiries.length === 0 ? {} : { unlistedMs: Math.max(...(await Promise.all(expiries))) };
}

async function away(scene: Scene, ms: number): Promise<Outcome> {
  return outage(scene, { ms, ...scene.registry });
}

async function databaseAway(scene: Scene, ms: number): Promise<Outcome> {
  const { database } = scene.registry;
  if (database === null) throw new Error('the registry has no database of its own');
  return outage(scene, { ms, ...database });
}

async function outage(
  { front, back }: Scene,
  { kill, start, ms }: { kill(): Promise<void>; start(): Promise<void>; readonly ms: number },
): Promise<Outcome> {
  await kill();
  await delay(ms);
  await start();
  const [frontMs, backMs] = await Promise.all([front.untilComplete(), back.untilComplete()]);
  // Late troubles: what was held on to during the outage, and is let go of afterwards.
  await delay(values.short ? 2000 : 12_000);
  return { backMs: Math.max(frontMs, backMs) };
}

function oldestOf(service: WrappedService): WrappedInstance {
  const [oldest] = service.instances;
  if (oldest === undefined) throw new Error('no instance is up');
  return oldest;
}

function portOf({ endpoint }: WrappedInstance): number {
  return Number(endpoint.slice(endpoint.lastIndexOf(':') + 1));
}
