// What 100 services with 100 instances each take in memory, beside a gateway that has nothing to discover.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePorts } from '../../test/support/free-ports.ts';
import { startGateway } from './gateway.ts';
import { residentMiB } from './process.ts';
import { startCluster } from './registry-cluster.ts';

const SERVICES = 100;
const INSTANCES = 100;
const SETTLE_MS = 15_000;

/** Prints the resident memory of gateways with two workers: without discovery, with empty services, with full ones. */
export async function measureMemory(): Promise<void> {
  const cluster = await startCluster();
  // Consul counts the connections of a gateway that has gone until their blocking queries are over, and refuses over 200.
  const other = await startCluster();
  const services = Array.from({ length: SERVICES }, (_, at) => `service-${at}`);
  const ports = Array.from({ length: INSTANCES }, (_, at) => 8000 + at);
  for (const service of services) await cluster.set(service, ports);
  const routesTo = (names: readonly string[]) => {
    return Object.fromEntries(names.map((service) => [service, { service, match: [{ paths: [`/${service}/*`] }] }]));
  };
  const fixed = { service: 'idle', endpoints: ['127.0.0.1:9'], match: [{ paths: ['/idle'] }] };
  const idle = await resident(other.url, { idle: fixed }, 1);
  const empty = await resident(other.url, routesTo(services.map((service) => `no-${service}`)), 0);
  const full = await resident(cluster.url, routesTo(services), SERVICES * INSTANCES);
  console.log(`\n${SERVICES} services with ${INSTANCES} instances each, two workers, ${cluster.name}`);
  console.log(
    `resident memory: ${full.toFixed(0)} MiB; a gateway with one fixed endpoint ${idle.toFixed(0)} MiB, difference`,
    `${(full - idle).toFixed(1)} MiB; one whose ${SERVICES} services are empty ${empty.toFixed(0)} MiB, difference`,
    `${(full - empty).toFixed(1)} MiB (allowed: under 60)`,
  );
  await cluster.stop();
  await other.stop();
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
    await delay(SETTLE_MS);
    const memory = residentMiB(gateway.pid);
    // Asked for last: a page with so many series takes memory of its own.
    const known = await gateway.metric('weir_endpoints');
    if (known < endpoints) throw new Error(`${known} endpoints are known, not ${endpoints}`);
    return memory;
  } finally {
    await gateway.stop();
    rmSync(path, { force: true });
  }
}
