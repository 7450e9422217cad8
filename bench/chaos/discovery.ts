// The discovery drill: what may happen to a Consul happens to it, under steady load; no client may see a failure.

import { once } from 'node:events';
import { type AddressInfo, createServer as createPlainServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DrillConsul } from '../support/consul.ts';
import { type DrillGateway, startGateway } from '../support/gateway.ts';
import { portOf, startService } from '../support/plain-service.ts';
import { SteadyLoad } from '../support/steady-load.ts';

const { values } = parseArgs({
  options: { short: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});

/** How long Consul is away, and how often things are repeated. */
const AWAY_MS = values.short ? 8000 : 60_000;
const TOGGLES = values.short ? 10 : 20;
const FLAPS = values.short ? 12 : 60;
const NAME = 'drill-service';
const TOKEN = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';

interface Scene {
  readonly consul: DrillConsul;
  readonly gateway: DrillGateway;
  readonly ports: readonly number[];
}

const STEPS: readonly (readonly [name: string, run: (scene: Scene) => Promise<void>])[] = [
  ['nothing, for comparison', () => delay(3000)],
  ['the agent is restarted with its data', restart],
  [`the agent is away for ${AWAY_MS / 1000} s`, awayForAWhile],
  ['the agent comes back without its data; instances register again after 5 s', wiped],
  [`maintenance of one instance is toggled ${TOGGLES} times`, maintenance],
  [`a check flaps twice a second, ${FLAPS} times`, flapping],
  ['the token is revoked for 10 s and given back', revoked],
  ['50 instances come at once and leave at once', fifty],
  ['all instances but one leave and return', nearlyEmpty],
];

if (values.help) console.log('usage: npm run chaos:discovery -- [--short]');
else process.exitCode = await drill();

async function drill(): Promise<number> {
  const services = await Promise.all(Array.from({ length: 3 }, startService));
  const consul = new DrillConsul(await freePorts(5));
  await consul.start();
  await consul.createToken(TOKEN);
  const scene = { consul, ports: services.map((service) => portOf(service)) };
  await registerAll(scene);
  const [port = 0, adminPort = 0] = await freePorts(2);
  const gateway = await startGateway({
    port,
    adminPort,
    workers: 2,
    routes: { drill: { service: NAME, match: [{ paths: ['/*'] }] } },
    gateway: {
      discovery: {
        consul: { agents: [consul.url], token: TOKEN, wait: '10s' },
        snapshot: { path: `data/drill-${port}.json` },
      },
    },
  });
  const load = new SteadyLoad(`http://127.0.0.1:${port}`, { clients: 20, restMs: 5 });
  try {
    return await runSteps({ ...scene, gateway }, load);
  } finally {
    await load.stop();
    await gateway.stop();
    await consul.close();
    for (const service of services) service.close().closeAllConnections();
  }
}

async function runSteps(scene: Scene, load: SteadyLoad): Promise<number> {
  let failed = 0;
  console.log('| step | seconds | requests | failed | degraded | slowest ms |');
  console.log('|---|---:|---:|---:|---:|---:|');
  for (const [name, run] of STEPS) {
    const begun = performance.now();
    await run(scene);
    await delay(1000);
    const count = load.take();
    failed += count.failed;
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    console.log(
      `| ${name} | ${seconds} | ${count.requests} | ${count.failed} | ${count.degraded} | ${count.slowestMs} |`,
    );
    for (const [what, times] of Object.entries(count.errors)) console.log(`  ${times} × ${what}`);
  }
  console.log(failed === 0 ? 'drill passed: 0 failed requests' : `drill FAILED: ${failed} failed requests`);
  return failed === 0 ? 0 : 1;
}

async function restart({ consul }: Scene): Promise<void> {
  await consul.stop('SIGTERM');
  await consul.start();
}

async function awayForAWhile({ consul }: Scene): Promise<void> {
  await consul.stop();
  await delay(AWAY_MS);
  await consul.start();
}

async function wiped(scene: Scene): Promise<void> {
  const { consul } = scene;
  await consul.stop();
  consul.wipe();
  await consul.start();
  await consul.createToken(TOKEN);
  await delay(5000);
  await registerAll(scene);
  await delay(3000);
}

async function maintenance({ consul }: Scene): Promise<void> {
  for (let at = 0; at < TOGGLES; at++) {
    await consul.maintenance('drill-1', at % 2 === 0);
    await delay(250);
  }
}

async function flapping({ consul }: Scene): Promise<void> {
  for (let at = 0; at < FLAPS; at++) {
    await consul.check('drill-2', at % 2 === 1);
    await delay(500);
  }
}

async function revoked({ consul }: Scene): Promise<void> {
  await consul.revokeToken(TOKEN);
  await delay(10_000);
  await consul.createToken(TOKEN);
  await delay(5000);
}

async function fifty({ consul, ports }: Scene): Promise<void> {
  // Fifty registrations of the three servers: the pool has three endpoints, the catalogue fifty-three instances.
  const extra = Array.from({ length: 50 }, (_, at) => ({
    name: NAME,
    id: `extra-${at}`,
    port: ports[at % ports.length] ?? 0,
  }));
  await Promise.all(extra.map((instance) => consul.register(instance)));
  await delay(2000);
  await Promise.all(extra.map(({ id }) => consul.deregister(id)));
  await delay(1000);
}

async function nearlyEmpty(scene: Scene): Promise<void> {
  const { consul } = scene;
  await Promise.all(['drill-1', 'drill-2'].map((id) => consul.deregister(id)));
  await delay(2000);
  await registerAll(scene);
  await delay(1000);
}

async function registerAll({ consul, ports }: Pick<Scene, 'consul' | 'ports'>): Promise<void> {
  await Promise.all(
    ports.map((port, at) => {
      const instance = { name: NAME, id: `drill-${at}`, port, weight: at + 1 };
      // A restarted agent calls its checks critical until they run again; the one with a check is the one that flaps.
      return consul.register(at === 2 ? { ...instance, ttlSeconds: 3600 } : instance);
    }),
  );
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createPlainServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
