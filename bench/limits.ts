// Rate limits alone: nanoseconds for a decision on one thread and on two, and the memory of a million keys.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { compileLimit, type LimitOptions, type RateLimit } from '../gateway/resilience/rate-limit.ts';
import { limitKeyOfIp } from '../gateway/resilience/rate-limit-key.ts';
import { allocateLimitTable, LimitTable } from '../gateway/shared/limit-table.ts';

const ENTRIES = 2 ** 20;
const MANY_KEYS = 1_000_000;
const ROUNDS = 7;
const TAKES = 500_000;
/** The clock moves by so much a request: 100 000 requests a second. */
const STEP_MS = 0.01;
const MEGABYTE = 1e6;

const PER_SECOND = { count: 100, periodMs: 1000 };
const TOKENS = compileLimit({ id: 'tokens', algorithm: 'token_bucket', ...PER_SECOND });
const QUEUE = compileLimit({ id: 'queue', algorithm: 'leaky_bucket', ...PER_SECOND });
const WINDOW = compileLimit({ id: 'window', algorithm: 'sliding_window', ...PER_SECOND });
const ALWAYS = compileLimit({ id: 'always', algorithm: 'token_bucket', count: 1_000_000, periodMs: 1000 });

/** What a thread of the bench is told; `gate` opens when all threads are there. */
interface Task {
  readonly buffer: SharedArrayBuffer;
  readonly gate: Int32Array;
  readonly keys: readonly string[];
}

interface Row {
  readonly what: string;
  readonly limits: readonly RateLimit[];
  readonly keys: readonly string[];
}

const FEW = ipv4Keys(1000);
/** Keeps what was measured, so that its memory is not freed while more is measured. */
const measured: LimitTable[] = [];

if (isMainThread) await main();
else runThread(workerData);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', default: false } } });
  if (values.help) {
    process.stdout.write('usage: node bench/limits.ts\n\nPrints what rate limits cost in time and memory.\n');
    return;
  }
  process.stdout.write(`${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}, medians of ${ROUNDS} rounds\n`);
  // Before all else, so that what the rows leave behind does not show.
  for (const algorithm of ['token_bucket', 'sliding_window'] as const) printMemory(algorithm);
  for (const { what, limits, keys } of rows()) {
    const table = new LimitTable(allocateLimitTable({ entries: ENTRIES }));
    print(
      what,
      medianOf(() => nsPerTake(table, limits, keys)),
      'ns',
    );
  }
  print('key of an IPv6 address', medianOf(nsPerIpKey), 'ns');
  print('two threads, the same key', await nsOfTwo(() => ['198.51.100.7']), 'ns');
  print('two threads, different keys', await nsOfTwo((thread) => [`198.51.100.${thread}`]), 'ns');
  print('two threads, 1000 keys each the same', await nsOfTwo(() => FEW), 'ns');
}

function rows(): readonly Row[] {
  return [
    { what: 'token bucket, one key, admitted', limits: [ALWAYS], keys: ['198.51.100.7'] },
    { what: 'token bucket, one key, mostly refused', limits: [TOKENS], keys: ['198.51.100.7'] },
    { what: 'token bucket, 1000 keys', limits: [TOKENS], keys: FEW },
    { what: 'token bucket, a million keys', limits: [TOKENS], keys: ipv4Keys(MANY_KEYS) },
    { what: 'leaky bucket, 1000 keys', limits: [QUEUE], keys: FEW },
    { what: 'sliding window, 1000 keys', limits: [WINDOW], keys: FEW },
    { what: 'all three at once, 1000 keys', limits: [TOKENS, QUEUE, WINDOW], keys: FEW },
  ];
}

function nsPerTake(table: LimitTable, limits: readonly RateLimit[], keys: readonly string[]): number {
  const ofRequest: string[] = limits.map(() => '');
  const startMs = performance.now();
  for (let at = 0; at < TAKES; at++) {
    ofRequest.fill(keys[at % keys.length] ?? '');
    table.takeAll(limits, ofRequest, startMs + at * STEP_MS);
  }
  return ((performance.now() - startMs) * 1e6) / TAKES;
}

function nsPerIpKey(): number {
  let length = 0;
  const startMs = performance.now();
  for (let at = 0; at < TAKES; at++) length += limitKeyOfIp('2001:db8:85a3:8d3:1319:8a2e:370:7348').length;
  if (length === 0) throw new Error('no key');
  return ((performance.now() - startMs) * 1e6) / TAKES;
}

/** What a take costs each of two threads that do nothing else. */
async function nsOfTwo(keysOf: (thread: number) => readonly string[]): Promise<number> {
  const buffer = allocateLimitTable({ entries: ENTRIES });
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const costs = [0, 1].map((thread) => {
    const task: Task = { buffer, gate, keys: keysOf(thread) };
    const worker = new Worker(new URL(import.meta.url), { workerData: task });
    return new Promise<number>((resolve, reject) => worker.once('message', resolve).once('error', reject));
  });
  return Math.max(...(await Promise.all(costs)));
}

function runThread({ buffer, gate, keys }: Task): void {
  const table = new LimitTable(buffer);
  nsPerTake(table, [ALWAYS], keys);
  Atomics.add(gate, 0, 1);
  while (Atomics.load(gate, 0) < 2) Atomics.pause();
  parentPort?.postMessage(medianOf(() => nsPerTake(table, [ALWAYS], keys)));
}

function printMemory(algorithm: LimitOptions['algorithm']): void {
  const limit = compileLimit({ id: 'memory', algorithm, ...PER_SECOND });
  const before = process.memoryUsage().rss;
  const buffer = allocateLimitTable({ entries: ENTRIES });
  const allocated = process.memoryUsage().rss;
  const table = new LimitTable(buffer);
  for (let at = 0; at < MANY_KEYS; at++) table.take(limit, ipv4Key(at), 0);
  const used = process.memoryUsage().rss;
  const growth = `${megabytes(allocated - before)} MB allocated, ${megabytes(used - before)} MB used`;
  const size = `${megabytes(buffer.byteLength)} MB of address space`;
  process.stdout.write(`${algorithm}, a million keys: ${growth}, ${size}, ${table.evictions()} evictions\n`);
  measured.push(table);
}

function ipv4Keys(count: number): string[] {
  return Array.from({ length: count }, (_, at) => ipv4Key(at));
}

function ipv4Key(at: number): string {
  return `10.${(at >>> 16) & 0xff}.${(at >>> 8) & 0xff}.${at & 0xff}`;
}

function print(what: string, figure: number, unit: string): void {
  process.stdout.write(`${what.padEnd(50)} ${figure.toFixed(0).padStart(8)} ${unit}\n`);
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}

/** The first round warms up. */
function medianOf(measure: () => number): number {
  measure();
  const figures = Array.from({ length: ROUNDS }, measure).toSorted((one, other) => one - other);
  return figures[Math.floor(ROUNDS / 2)] ?? Number.NaN;
}
