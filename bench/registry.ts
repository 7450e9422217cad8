// The table registry under load: 5,000 instances with a heartbeat every 10 s, 100 readers a second; nothing may be lost.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { findFreePorts } from '../test/support/free-ports.ts';
import { hasMariadb, startMariadb } from '../test/support/real-mariadb.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { startCommand } from '../test/support/weir-command.ts';
import { percentiles } from './support/percentiles.ts';
import { cpuMicroseconds, residentMiB } from './support/process.ts';

const INSTANCES = 5000;
const SERVICES = 50;
const HEARTBEAT_MS = 10_000;
const READS_PER_SECOND = 100;
const TICK_MS = 10;

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, store: { type: 'string', default: 'sqlite' } },
});
const seconds = Number(values.seconds);
if (!(seconds >= 1 && seconds <= 600) || !['sqlite', 'mariadb'].includes(values.store)) {
  throw new Error('usage: node bench/registry.ts [--seconds 1..600] [--store sqlite|mariadb]');
}
if (values.store === 'mariadb' && !hasMariadb()) throw new Error('there is no MariaDB');

const folder = await mkdtemp(join(tmpdir(), 'weir-bench-registry-'));
const mariadb = values.store === 'mariadb' ? await startMariadb() : undefined;
const [port = 0] = await findFreePorts(1);
const store = mariadb?.url ?? `sqlite:${join(folder, 'registry.db')}`;
const registry = startCommand(['registry', '--listen', `127.0.0.1:${port}`, '--store', store], folder);
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64, allowH2: false });
const writesMs: number[] = [];
const readsMs: number[] = [];
const failures = new Map<string, number>();
try {
  const isThere = () =>
    pool.request({ method: 'GET', path: '/instances?service=s0' }).then(
      ({ body }) => body.dump().then(() => true),
      () => false,
    );
  await waitFor(isThere, { limitMs: 10_000, what: 'the registry' });
  console.log(
    `Node ${process.version}, ${values.store}: ${INSTANCES} instances of ${SERVICES} services, ${seconds} s\n`,
  );

  const begunMs = performance.now();
  for (let at = 0; at < INSTANCES; at += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, more) => beat(at + more, [])));
  }
  console.log(`all registered for the first time after ${((performance.now() - begunMs) / 1000).toFixed(1)} s`);

  const cpuBefore = cpuMicroseconds(registry.pid);
  await steadily();
  const cpuShare = (cpuMicroseconds(registry.pid) - cpuBefore) / (seconds * 1e6);
  console.log(`heartbeats: ${writesMs.length}, ${percentiles(writesMs)}`);
  console.log(`reads:      ${readsMs.length}, ${percentiles(readsMs)}`);
  console.log(
    `the registry's process: ${(cpuShare * 100).toFixed(0)} % of a core, ${residentMiB(registry.pid).toFixed(0)} MiB`,
  );

  const lost = await countLost();
  const failed = [...failures].map(([what, count]) => `${count} × ${what}`).join(', ') || 'none';
  console.log(`failed requests: ${failed}; instances lost: ${lost}`);
  process.exitCode = lost === 0 && failures.size === 0 ? 0 : 1;
} finally {
  await pool.destroy();
  await registry.stop();
  await mariadb?.close();
  await rm(folder, { recursive: true });
}

/** Sends what is due every few milliseconds, whether or not the answers keep up. */
async function steadily(): Promise<void> {
  const pending = new Set<Promise<void>>();
  const track = (request: Promise<void>): void => {
    pending.add(request);
    void request.finally(() => pending.delete(request));
  };
  const begunMs = performance.now();
  let beats = 0;
  let reads = 0;
  for (let elapsedMs = 0; elapsedMs < seconds * 1000; elapsedMs = performance.now() - begunMs) {
    for (; beats < (elapsedMs * INSTANCES) / HEARTBEAT_MS; beats++) track(beat(beats % INSTANCES, writesMs));
    for (; reads < (elapsedMs * READS_PER_SECOND) / 1000; reads++) track(read(reads % SERVICES));
    await delay(TICK_MS);
  }
  await Promise.all(pending);
}

async function beat(at: number, timesMs: number[]): Promise<void> {
  const [high, low] = [at >> 8, at & 255];
  const meta = { env: 'prod', weight: 1, zone: `zone-${at % 3}`, version: '1.2.3' };
  const record = {
    service: `s${at % SERVICES}`,
    instance: `instance-${at}`,
    addr: `10.0.${high}.${low}`,
    port: 8080,
    meta,
  };
  await ask({ method: 'POST', path: '/register', body: JSON.stringify(record) }, timesMs);
}

async function read(service: number): Promise<void> {
  const text = await ask({ method: 'GET', path: `/instances?service=s${service}&env=prod` }, readsMs);
  const { count } = text === '' ? { count: 'no answer' } : JSON.parse(text);
  if (count !== INSTANCES / SERVICES) fail(`a list of ${count}`);
}

/** Gives the text of the answer; '' when it failed, which is counted. */
async function ask(
  request: { method: 'GET' | 'POST'; path: string; body?: string },
  timesMs: number[],
): Promise<string> {
  const begunMs = performance.now();
  try {
    const answer = await pool.request(request);
    const text = await answer.body.text();
    timesMs.push(performance.now() - begunMs);
    if (answer.statusCode === 200) return text;
    fail(`status ${answer.statusCode}`);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
  return '';
}

function fail(what: string): void {
  failures.set(what, (failures.get(what) ?? 0) + 1);
}

async function countLost(): Promise<number> {
  let listed = 0;
  for (let at = 0; at < SERVICES; at++) {
    const text = await ask({ method: 'GET', path: `/instances?service=s${at}` }, []);
    listed += text === '' ? 0 : JSON.parse(text).count;
  }
  return INSTANCES - listed;
}
