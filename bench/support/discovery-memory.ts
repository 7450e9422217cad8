// What 100 services with 100 instances each take in memory, beside a gateway that has nothing to discover.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePorts } from '../../test/support/free-ports.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startGateway } from './gateway.ts';
import { residentMiB } from './process.ts';
import { startCluster } from './registry-cluster.ts';

const SERVICES = 100;
const INSTANCES = 100;
const SETTLE_MS = 20_000;

/** Prints the resident memory of both gateways, each with two workers, and the difference. */
export async function measureMemory(): Promise<void> {
  const cluster = await startCluster();
  const services = Array.from({ length: SERVICES }, (_, at) => `service-${at}`);
  const ports = Array.from({ length: INSTANCES }, (_, at) => 8000 + at);
  for (const service of services) await cluster.set(service, ports);
  const idle = await resident(cluster.url, { idle: { service: 'idle', endpoints: ['127.0.0.1:9'], match: [] } }, 1);
  const routes = services.map((service) => [service, { service, match: [{ paths: [`/${service}/*`] }] }]);
  const full = await resident(cluster.url, Object.fromEntries(routes), SERVICES * INSTANCES);
  console.log(`\n${SERVICES} services with ${INSTANCES} instances each, two workers, ${cluster.name}`);
  console.log(
    `resident memory: ${full.toFixed(0)} MiB, idle gateway ${idle.toFixed(0)} MiB,`,
    `difference ${(full - idle).toFixed(1)} MiB (allowed: under 60)`,
  );
  await cluster.stop();
}

async function resident(agent: string, routes: Readonly<Record<string, object>>, endpoints: number): Promise<number> {
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const path = join(tmpdir(), `weir-bench-${port}.json`);
  const gateway = await startGateway({
    port,
    adminPort,
    workers: 2,
    routes,
    gateway: { discovery: { consul: { agents: [agent] }, snapshot: { path } } },
  });
  try {
    const isKnown = async () => (await gateway.metric('weir_endpoints')) >= endpoints;
    await waitFor(isKnown, { limitMs: 30_000, what: `${endpoints} endpoints` });
    await delay(SETTLE_MS);
    return residentMiB(gateway.pid);
  } finally {
    await gateway.stop();
    rmSync(path, { force: true });
  }
}
