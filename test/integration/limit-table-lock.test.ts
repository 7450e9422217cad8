import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { compileLimit } from '../../gateway/resilience/rate-limit.ts';
import { giveLock, takeLock } from '../../gateway/shared/limit-lock.ts';
import { allocateLimitTable, LimitTable } from '../../gateway/shared/limit-table.ts';
import { waitFor } from '../support/wait-for.ts';

describe('the lock of a bucket', () => {
  it('is given back by its holder only', () => {
    const words = new Int32Array(new SharedArrayBuffer(8));
    expect(takeLock(words, 1, 7)).toBe(false);
    giveLock(words, 1, 8);
    expect(words).toEqual(Int32Array.of(0, 7));
    giveLock(words, 1, 7);
    expect(takeLock(words, 1, 8)).toBe(false);
  });

  it('is waited for while its holder works', async () => {
    const words = new Int32Array(new SharedArrayBuffer(8));
    takeLock(words, 0, 7);
    // Holds the lock until the other thread has waited for it, and uses it again and again meanwhile.
    const worker = new Worker(
      `const { words } = require('node:worker_threads').workerData;
       Atomics.store(words, 1, 1);
       for (let ticket = 8; ticket < 1500; ticket++) { Atomics.wait(words, 1, 1, 1); Atomics.store(words, 0, ticket); }
       Atomics.store(words, 0, 0);`,
      { eval: true, workerData: { words } },
    );
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    await waitFor(() => Atomics.load(words, 1) === 1, { limitMs: 10_000, what: 'the other thread' });
    expect(takeLock(words, 0, 1500)).toBe(false);
    await ended;
  });

  it('is taken from a holder that is dead, and what the bucket held is forgotten', () => {
    const buffer = allocateLimitTable({ entries: 1 });
    const table = new LimitTable(buffer);
    const limit = compileLimit({ id: 'one', algorithm: 'token_bucket', count: 1, periodMs: 60_000 });
    expect(table.take(limit, 'a', 0)).toBe(0);
    expect(table.take(limit, 'a', 0)).toBeLessThan(0);
    const words = new Int32Array(buffer);
    // The head of the table is 16 words; the first word of the first bucket is its lock.
    expect(words[16]).toBe(0);
    words[16] = 12_345;
    expect(table.take(limit, 'a', 0)).toBe(0);
    expect(words[16]).toBe(0);
    expect(table.take(limit, 'a', 0)).toBeLessThan(0);
  });
});
