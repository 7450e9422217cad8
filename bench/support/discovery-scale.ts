// A thousand services in one Consul: how soon all are known, over how many connections, and how soon one change is.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../gateway/core/clock.ts';
import { unasked } from '../../gateway/core/discovery-update.ts';
import { Asker } from '../../gateway/discovery/asker.ts';
import { createConsulSource } from '../../gateway/discovery/consul.ts';
import { poolMark } from '../../gateway/discovery/pool-mark.ts';
import { consulSourceOptions } from '../../test/support/consul-source-options.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { percentiles } from './percentiles.ts';
import { startCluster } from './registry-cluster.ts';

const SERVICES = 1000;
const CHANGES = 100;
const INSTANCES = Array.from({ length: 10 }, (_, at) => 8001 + at);

/** Prints the three figures: the leader's part of the work, run in this process. */
export async function measureScale(): Promise<void> {
  const cluster = await startCluster();
  const services = Array.from({ length: SERVICES }, (_, at) => `service-${at}`);
  for (const service of services) await cluster.set(service, INSTANCES);
  console.log(`\n${SERVICES} services with ${INSTANCES.length} instances each, ${cluster.name}`);

  // The benchmark's own connection to the agent stands already.
  const traffic = countTraffic();
  const ports = new Map<string, string>();
  let updates = 0;
  const source = createConsulSource(consulSourceOptions({ agents: [cluster.url], confirmEmptyMs: 2000 }));
  const asker = new Asker({
    sourceOf: () => source,
    holdLastGoodMs: 600_000,
    clock: systemClock,
    onUpdate({ status, endpoints }) {
      updates += 1;
      if (endpoints !== null) ports.set(status.service, endpoints.map(({ port }) => port).join());
    },
  });
  const beganMs = performance.now();
  asker.ask(services.map((service) => ({ status: unasked(service, 'consul'), pool: poolMark([]) })));
  await waitFor(() => ports.size === SERVICES, { limitMs: 60_000, what: 'all services' });
  console.log(`first complete snapshot: ${(performance.now() - beganMs).toFixed(0)} ms (allowed: 5000)`);

  await delay(2000);
  let connections = connectionsTo(cluster.url);
  const delaysMs: number[] = [];
  const before = { updates, cpu: process.cpuUsage(), ...traffic.now() };
  for (let change = 0; change < CHANGES; change++) {
    // Every fourth hits one of the services that hold a connection, as 76 of 1,000 do.
    const service = services[change % 4 === 0 ? change : 130 + ((change * 379) % 870)] ?? '';
    const wanted = [...INSTANCES, 9000 + change];
    const changed = cluster.set(service, wanted);
    await changed;
    const changedMs = performance.now();
    await waitFor(() => ports.get(service) === wanted.join(), { limitMs: 10_000, what: `the change of ${service}` });
    delaysMs.push(performance.now() - changedMs);
    connections = Math.max(connections, connectionsTo(cluster.url));
    await delay(300 + Math.random() * 300);
  }
  const cpu = process.cpuUsage(before.cpu);
  const { bytes, questions } = traffic.now();
  traffic.stop();
  console.log(`most connections to the agent: ${connections} (allowed: under 150)`);
  console.log(`a change in one service until it is applied, ${CHANGES} times: ${percentiles(delaysMs)} (allowed: 250)`);
  console.log(
    `per change: ${((cpu.user + cpu.system) / 1000 / CHANGES).toFixed(1)} ms CPU of this process (the asker and the benchmark),`,
    `${((updates - before.updates) / CHANGES).toFixed(2)} updates of pools' states,`,
    `${((questions - before.questions) / CHANGES).toFixed(0)} questions,`,
    `${((bytes - before.bytes) / CHANGES / 1024).toFixed(0)} KiB from the agent`,
  );
  await asker.stop();
  await cluster.stop();
}

interface Traffic {
  now(): { readonly questions: number; readonly bytes: number };
  stop(): void;
}

/** Counts the requests of undici from now on, and the bytes that arrive on connections it makes from now on. */
function countTraffic(): Traffic {
  const sockets = new Set<Socket>();
  let questions = 0;
  const onConnected = (message: unknown): void => {
    if (hasSocket(message)) sockets.add(message.socket);
  };
  const onSent = (): void => {
    questions += 1;
  };
  subscribe('undici:client:connected', onConnected);
  subscribe('undici:client:sendHeaders', onSent);
  return {
    now: () => ({ questions, bytes: [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0) }),
    stop() {
      unsubscribe('undici:client:connected', onConnected);
      unsubscribe('undici:client:sendHeaders', onSent);
    },
  };
}

function hasSocket(message: unknown): message is { readonly socket: Socket } {
  return typeof message === 'object' && message !== null && 'socket' in message;
}

/** Established connections of this machine to a port, each counted once. */
function connectionsTo(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return lines.filter((line) => {
    const [, , remote = '', state] = line.trim().split(/\s+/);
    return state === '01' && remote.endsWith(`:${port}`);
  }).length;
}
