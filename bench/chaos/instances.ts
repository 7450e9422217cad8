// The instance drill: what may happen to the instances of a service happens to them, under steady load.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findFreePorts } from '../../test/support/free-ports.ts';
import type { Behaviour } from '../support/drill-instance.ts';
import { type DrillInstance, DrillService } from '../support/drill-service.ts';
import { type DrillGateway, startGateway } from '../support/gateway.ts';
import { type LoadCount, SteadyLoad } from '../support/steady-load.ts';

const { values } = parseArgs({
  options: { short: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});

const NAME = 'drill-service';
const INSTANCES = 5;
const CLIENTS = 20;
/** How long a trouble lasts. */
const TROUBLE_MS = values.short ? 1500 : 15_000;
/** How long an instance takes to start again. */
const RESTART_MS = values.short ? 200 : 1000;
/** The first and the longest ejection. */
const EJECTION = values.short ? { base: '300ms', max: '2s' } : { base: '500ms', max: '4s' };
/** Failures in a row that eject. */
const FAILURES = 5;
const LIMIT_MS = 30_000;

interface Scene {
  readonly service: DrillService;
  readonly gateway: DrillGateway;
  readonly load: SteadyLoad;
}

/** What a step has to say besides the counts of the load; times are null where there is nothing to time. */
interface Outcome {
  readonly ejectedMs: number | null;
  readonly returnedMs: number | null;
  /** What was counted before the step ended, where the step takes counts itself. */
  readonly counts?: readonly LoadCount[];
  /** What went wrong, besides failed requests. */
  readonly wrong?: string;
}

interface Step {
  readonly name: string;
  readonly run: (scene: Scene) => Promise<Outcome>;
  /** How many requests may fail, given how often an endpoint was ejected; truncated answers are not among them. */
  readonly mayFail?: (ejections: number) => number;
  readonly mayTruncate?: boolean;
}

const NOTHING: Outcome = { ejectedMs: null, returnedMs: null };

const STEPS: readonly Step[] = [
  { name: 'nothing, for comparison', run: () => delay(values.short ? 500 : 5000, NOTHING) },
  { name: 'one is killed, and started again', run: killed },
  { name: 'one answers 503', run: (scene) => behaving(scene, 'status 503') },
  {
    name: 'one answers 500',
    run: (scene) => behaving(scene, 'status 500'),
    // Those that eject it, those that were on their way to it then, and one for each probe.
    mayFail: (ejections) => FAILURES + CLIENTS + ejections,
  },
  { name: 'one is 20 times slower', run: (scene) => behaving(scene, 'slow') },
  { name: 'one hangs (response timeout 1 s)', run: (scene) => behaving(scene, 'hangs') },
  { name: 'one resets its answers in the middle', run: (scene) => behaving(scene, 'resets'), mayTruncate: true },
  { name: 'all are restarted, one after the other, each deregistered first', run: restartedInOrder },
  { name: 'all are restarted, one after the other, without a word', run: restartedWithoutAWord },
  { name: 'all are down, and back', run: allDown },
];

if (values.help) console.log('usage: npm run chaos:instances -- [--short]');
else process.exitCode = await drill();

async function drill(): Promise<number> {
  const [port = 0, adminPort = 0, registryPort = 0] = await findFreePorts(3);
  const registryUrl = `http://127.0.0.1:${registryPort}`;
  const folder = mkdtempSync(join(tmpdir(), 'weir-drill-'));
  const service = new DrillService({ name: NAME, registryUrl, ports: await instancePorts() });
  const gateway = await startGateway({ port, adminPort, workers: 2, ...files(registryPort, folder) });
  try {
    await service.start();
    await until('all endpoints', async () => (await gateway.states(NAME)).size === INSTANCES);
    const load = new SteadyLoad(`http://127.0.0.1:${port}`, { clients: CLIENTS, restMs: 5 });
    try {
      return await runSteps({ service, gateway, load });
    } finally {
      await load.stop();
    }
  } finally {
    await service.stop();
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function files(registryPort: number, folder: string): Pick<Parameters<typeof startGateway>[0], 'routes' | 'gateway'> {
  const address = `127.0.0.1:${registryPort}`;
  return {
    gateway: {
      discovery: {
        source: 'registry',
        registry: { url: `http://${address}`, interval: '200ms' },
        embeddedRegistry: { address, store: 'sqlite::memory:' },
        snapshot: { path: join(folder, 'snapshot.json') },
      },
    },
    routes: {
      drill: {
        service: NAME,
        match: [{ paths: ['/*'] }],
        timeout: { connect: '500ms', response: '1s' },
        ejection: { consecutiveFailures: FAILURES, slowerThan: 3, ...EJECTION },
        fallback: { chain: [{ stale: { maxAge: '10m' } }] },
      },
    },
  };
}

async function runSteps(scene: Scene): Promise<number> {
  const { load, gateway } = scene;
  const faults: string[] = [];
  console.log(
    '| step | s | requests | failed | truncated | degraded | extra attempts | slowest ms | out ms | back ms |',
  );
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|');
  await delay(1000);
  load.take();
  for (const { name, run, mayFail = () => 0, mayTruncate = false } of STEPS) {
    const begunMs = performance.now();
    const [retries, ejections] = [
      await gateway.metric('weir_retries_total'),
      await gateway.metric('weir_ejections_total'),
    ];
    const { ejectedMs, returnedMs, counts = [], wrong } = await run(scene);
    await delay(values.short ? 200 : 500);
    const count = sumOf([...counts, load.take()]);
    const extra = (await gateway.metric('weir_retries_total')) - retries;
    const allowed = mayFail((await gateway.metric('weir_ejections_total')) - ejections);
    const failed = count.failed - count.truncated;
    const seconds = ((performance.now() - begunMs) / 1000).toFixed(0);
    console.log(
      `| ${name} | ${seconds} | ${count.requests} | ${failed} | ${count.truncated} | ${count.degraded} | ${extra} | ${count.slowestMs} | ${ejectedMs ?? ''} | ${returnedMs ?? ''} |`,
    );
    if (wrong !== undefined) faults.push(`${name}: ${wrong}`);
    if (failed > allowed) faults.push(`${name}: ${failed} failed requests, at most ${allowed} wanted`);
    if (count.truncated > 0 && !mayTruncate) faults.push(`${name}: ${count.truncated} truncated answers`);
    if (failed > allowed) for (const [what, times] of Object.entries(count.errors)) faults.push(`  ${times} × ${what}`);
  }
  for (const fault of faults) console.log(fault);
  console.log(faults.length === 0 ? 'drill passed' : 'drill FAILED');
  return faults.length === 0 ? 0 : 1;
}

/** The one that has the trouble. */
function victimOf({ service }: Scene): DrillInstance {
  const [, victim] = service.instances;
  if (victim === undefined) throw new Error('no instances');
  return victim;
}

async function killed(scene: Scene): Promise<Outcome> {
  const victim = victimOf(scene);
  return trouble(scene, { begin: () => victim.end('SIGKILL'), end: () => victim.start() });
}

async function behaving(scene: Scene, behaviour: Behaviour): Promise<Outcome> {
  const victim = victimOf(scene);
  return trouble(scene, { begin: () => victim.behave(behaviour), end: () => victim.behave('well') });
}

/** A trouble of one instance: how long until it takes no traffic, and from its end until it takes some again. */
async function trouble(
  scene: Scene,
  { begin, end }: { begin: () => Promise<void>; end: () => Promise<void> },
): Promise<Outcome> {
  const { endpoint } = victimOf(scene);
  const begunMs = performance.now();
  await begin();
  const ejectedMs = await until('the ejection', async () => (await stateOf(scene, endpoint)) !== 'active');
  await delay(Math.max(0, begunMs + TROUBLE_MS - performance.now()));
  await end();
  const returnedMs = await until('the return', async () => (await stateOf(scene, endpoint)) === 'active');
  return { ejectedMs, returnedMs };
}

/** As a deployment should do it: out of the registry, out of the pool, then down. */
async function restartedInOrder(scene: Scene): Promise<Outcome> {
  const { service } = scene;
  for (const instance of service.instances) {
    await service.deregister(instance);
    await until('the endpoint to be gone', async () => (await stateOf(scene, instance.endpoint)) === undefined);
    await delay(RESTART_MS);
    await instance.end('SIGTERM');
    await instance.start();
    await service.register(instance);
    await until('the endpoint', async () => (await stateOf(scene, instance.endpoint)) === 'active');
  }
  return NOTHING;
}

/** As it happens: killed and started again, while the registry has it as living. */
async function restartedWithoutAWord(scene: Scene): Promise<Outcome> {
  let slowestMs = 0;
  for (const instance of scene.service.instances) {
    await instance.end('SIGKILL');
    await delay(RESTART_MS);
    await instance.start();
    const backMs = await until('the return', async () => (await stateOf(scene, instance.endpoint)) === 'active');
    slowestMs = Math.max(slowestMs, backMs);
  }
  return { ejectedMs: null, returnedMs: slowestMs };
}

async function allDown({ service, gateway, load }: Scene): Promise<Outcome> {
  await Promise.all(service.instances.map((instance) => instance.end('SIGKILL')));
  // What was answered before the last one was down.
  await delay(300);
  const before = load.take();
  await delay(TROUBLE_MS);
  const down = load.take();
  await Promise.all(service.instances.map((instance) => instance.start()));
  const returnedMs = await until('all to be back', async () =>
    [...(await gateway.states(NAME)).values()].every((state) => state === 'active'),
  );
  const unmarked = down.requests - down.degraded;
  const isGood = unmarked === 0 && down.requests > 0;
  return {
    ejectedMs: null,
    returnedMs,
    counts: [before, down],
    ...(!isGood && { wrong: `${unmarked} of ${down.requests} answers were not marked as degraded` }),
  };
}

async function stateOf({ gateway }: Scene, endpoint: string): Promise<string | undefined> {
  return (await gateway.states(NAME)).get(endpoint);
}

/** Waits for a condition and gives the milliseconds that it took. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<number> {
  const begunMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begunMs > LIMIT_MS) throw new Error(`waited ${LIMIT_MS} ms in vain for ${what}`);
    await delay(10);
  }
  return Math.round(performance.now() - begunMs);
}

function sumOf(counts: readonly LoadCount[]): LoadCount {
  const sum = (of: (count: LoadCount) => number) => counts.reduce((total, count) => total + of(count), 0);
  const errors: Record<string, number> = {};
  for (const count of counts) {
    for (const [what, times] of Object.entries(count.errors)) errors[what] = (errors[what] ?? 0) + times;
  }
  return {
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    truncated: sum(({ truncated }) => truncated),
    degraded: sum(({ degraded }) => degraded),
    slowestMs: Math.max(...counts.map(({ slowestMs }) => slowestMs)),
    errors,
  };
}

/** Below those that the system gives to outgoing connections: an instance that was killed must have its port again. */
async function instancePorts(): Promise<number[]> {
  const ports: number[] = [];
  for (let port = 20_000 + (process.pid % 8000); ports.length < INSTANCES; port++) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    ports.push(port);
  }
  return ports;
}
