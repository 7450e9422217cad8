// A thread that takes from a shared table of rate limits as it is told, and says what it was told; started by its URL.
import { parentPort, workerData } from 'node:worker_threads';
import { compileLimit, type LimitOptions } from '../../gateway/resilience/rate-limit.ts';
import { LimitTable } from '../../gateway/shared/limit-table.ts';

export interface LimitTask {
  readonly table: SharedArrayBuffer;
  readonly limits: readonly LimitOptions[];
  /** The keys of each request, one for each limit; requests take them in turn, each thread from another one on. */
  readonly keys: readonly (readonly string[])[];
  readonly requests: number;
  /** Each request is so much later than the one before, of whatever thread. */
  readonly stepMs: number;
  /** Words that all threads share: how many have arrived, how many must, the number of the next request. */
  readonly gate: Int32Array;
  readonly thread: number;
}

/** What the thread was told: for each of `keys` how many were admitted, and how long each queued request waits. */
export interface LimitTally {
  readonly admitted: readonly number[];
  readonly delaysMs: readonly number[];
}

const ARRIVED = 0;
const EXPECTED = 1;
const NEXT = 2;

const task: LimitTask = workerData;
parentPort?.postMessage(run(task));

function run({ table: buffer, limits, keys, requests, stepMs, gate, thread }: LimitTask): LimitTally {
  const table = new LimitTable(buffer);
  const compiled = limits.map((options) => compileLimit(options));
  const admitted = keys.map(() => 0);
  const delaysMs: number[] = [];
  Atomics.add(gate, ARRIVED, 1);
  while (Atomics.load(gate, ARRIVED) < Atomics.load(gate, EXPECTED)) Atomics.pause();
  for (let at = 0; at < requests; at++) {
    const turn = (at + thread * 7) % keys.length;
    const delayMs = table.takeAll(compiled, keys[turn] ?? [], stepMs * Atomics.add(gate, NEXT, 1));
    if (delayMs >= 0) admitted[turn] = (admitted[turn] ?? 0) + 1;
    if (delayMs > 0) delaysMs.push(delayMs);
  }
  return { admitted, delaysMs };
}
