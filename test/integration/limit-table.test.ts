import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { compileLimit, type LimitOptions } from '../../gateway/resilience/rate-limit.ts';
import { allocateLimitTable, LimitTable } from '../../gateway/shared/limit-table.ts';
import type { LimitTally, LimitTask } from '../support/limit-thread.ts';
import { waitFor } from '../support/wait-for.ts';

const THREADS = 4;
const SEED = Uint32Array.of(1, 2);

type Hammering = Pick<LimitTask, 'limits' | 'keys' | 'requests'> & Partial<Pick<LimitTask, 'table' | 'stepMs'>>;

/** Four threads take at the same time; each takes `requests` times. */
async function hammer({ table = allocateLimitTable({ entries: 50_000, seed: SEED }), stepMs = 0, ...task }: Hammering) {
  const gate = new Int32Array(new SharedArrayBuffer(12));
  gate[1] = THREADS;
  const tallies = await Promise.all(
    Array.from({ length: THREADS }, (_, thread) => runThread({ ...task, table, stepMs, gate, thread })),
  );
  const admitted = task.keys.map((_, at) => tallies.reduce((sum, tally) => sum + (tally.admitted[at] ?? 0), 0));
  return { table: new LimitTable(table), admitted, delaysMs: tallies.flatMap(({ delaysMs }) => delaysMs) };
}

function runThread(task: LimitTask): Promise<LimitTally> {
  const worker = new Worker(new URL('../support/limit-thread.ts', import.meta.url), { workerData: task });
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
}

describe('a rate limit over four threads', () => {
  it.each([
    ['token_bucket', 1000, 1000],
    ['sliding_window', 1000, 1000],
    ['leaky_bucket', 999, 1000],
  ] as const)('admits of a %s at one moment exactly its quota to one key', async (algorithm, count, quota) => {
    const limits = [{ id: 'one', algorithm, count, periodMs: 60_000 }];
    const { admitted } = await hammer({ limits, keys: [['198.51.100.7']], requests: 100_000 });
    expect(admitted).toEqual([quota]);
  });

  it.each(['token_bucket', 'sliding_window'] as const)('gives each of 5000 keys exactly its %s', async (algorithm) => {
    const limits = [{ id: 'many', algorithm, count: 10, periodMs: 60_000 }];
    const keys = Array.from({ length: 5000 }, (_, at) => [`client ${at}`]);
    const { admitted, table } = await hammer({ limits, keys, requests: 50_000 });
    expect(admitted).toEqual(keys.map(() => 10));
    expect(table.evictions()).toBe(0);
  });

  it('admits exactly burst + rate × time while time goes on', async () => {
    const limits: LimitOptions[] = [{ id: 'one', algorithm: 'token_bucket', count: 100, periodMs: 1000, burst: 50 }];
    // 200 000 requests in 2.005 s; nobody can tell which of two threads comes first, but all of the rate is used.
    const { admitted } = await hammer({ limits, keys: [['a']], requests: 50_000, stepMs: 0.010_025 });
    expect(admitted).toEqual([250]);
  });

  it('admits to a sliding window exactly its count in each period and piece', async () => {
    const limits: LimitOptions[] = [{ id: 'one', algorithm: 'sliding_window', count: 100, periodMs: 1000 }];
    // 200 000 requests in 5 s: all of the count goes at the start of 0, 1018, 2036, 3055 and 4073 ms.
    const { admitted } = await hammer({ limits, keys: [['a']], requests: 50_000, stepMs: 0.025 });
    expect(admitted).toEqual([500]);
  });

  it('gives each place of a queue to one request', async () => {
    const limits: LimitOptions[] = [{ id: 'one', algorithm: 'leaky_bucket', count: 100, periodMs: 1000, burst: 500 }];
    const { delaysMs } = await hammer({ limits, keys: [['a']], requests: 20_000 });
    const places = delaysMs.map((ms) => Math.round(ms / 10)).toSorted((one, other) => one - other);
    expect(places).toEqual(Array.from({ length: 500 }, (_, at) => at + 1));
  });

  it('counts a request that one of several limits refuses under none of them', async () => {
    const perRoute: LimitOptions = { id: 'route', algorithm: 'token_bucket', count: 1000, periodMs: 60_000 };
    const perClient: LimitOptions = { id: 'client', algorithm: 'sliding_window', count: 10, periodMs: 60_000 };
    const keys = Array.from({ length: 50 }, (_, at) => ['', `client ${at}`]);
    const { admitted, table } = await hammer({ limits: [perRoute, perClient], keys, requests: 20_000 });
    expect(admitted).toEqual(keys.map(() => 10));
    table.take(compileLimit(perRoute), '', 0);
    expect(table.verdicts[0]).toMatchObject({ remaining: 1000 - 500 - 1 });
  });

  it('goes on when all keys share one bucket and push one another out', async () => {
    const limits: LimitOptions[] = [{ id: 'one', algorithm: 'token_bucket', count: 10, periodMs: 60_000 }];
    const keys = Array.from({ length: 100 }, (_, at) => [`client ${at}`]);
    const { admitted, table } = await hammer({
      ...{ limits, keys, requests: 20_000 },
      table: allocateLimitTable({ entries: 1, seed: SEED }),
    });
    expect(table.evictions()).toBeGreaterThan(0);
    // A key that was forgotten starts afresh, so each may have more than its ten, but none has less.
    expect(Math.min(...admitted)).toBeGreaterThanOrEqual(10);
  });

  it('survives threads that are stopped in the middle', async () => {
    const table = allocateLimitTable({ entries: 7, seed: SEED });
    const options: LimitOptions = { id: 'one', algorithm: 'token_bucket', count: 1000, periodMs: 1 };
    const gate = new Int32Array(new SharedArrayBuffer(12));
    for (let round = 0; round < 5; round++) {
      const task = { ...{ table, limits: [options], keys: [['a']], requests: 1e9 }, stepMs: 0.01, gate, thread: 0 };
      const worker = new Worker(new URL('../support/limit-thread.ts', import.meta.url), { workerData: task });
      const before = Atomics.load(gate, 2);
      await waitFor(() => Atomics.load(gate, 2) > before + 1000, { limitMs: 10_000, what: 'the requests of a thread' });
      await worker.terminate();
    }
    expect(new LimitTable(table).take(compileLimit(options), 'a', 1e12)).toBe(0);
  });
});
