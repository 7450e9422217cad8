import { describe, expect, it } from 'vitest';
import { compileLimit, type LimitOptions } from '../../../gateway/resilience/rate-limit.ts';
import { allocateLimitTable, LimitTable } from '../../../gateway/shared/limit-table.ts';

const SEED = Uint32Array.of(1, 2);
const ALGORITHMS = ['token_bucket', 'leaky_bucket', 'sliding_window'] as const;

function tableOf(entries = 10_000): LimitTable {
  return new LimitTable(allocateLimitTable({ entries, seed: SEED }));
}

/** Two a second; of a leaky bucket one more, as one goes at once and two wait. */
function limitOf(part: Partial<LimitOptions> = {}) {
  return compileLimit({ id: 'orders', algorithm: 'token_bucket', count: 2, periodMs: 1000, ...part } as LimitOptions);
}

describe('the table of rate limits', () => {
  it.each(ALGORITHMS)('gives each key its own %s', (algorithm) => {
    const table = tableOf();
    const limit = limitOf({ algorithm });
    const keys = Array.from({ length: 200 }, (_, at) => `10.0.0.${at}`);
    const admitted = () => keys.filter((key) => table.take(limit, key, 5) >= 0).length;
    expect([admitted(), admitted(), admitted()]).toEqual([200, 200, algorithm === 'leaky_bucket' ? 200 : 0]);
    expect(admitted()).toBe(0);
    expect(table.evictions()).toBe(0);
  });

  it('gives each limit its own keys', () => {
    const table = tableOf();
    const limits = [limitOf(), limitOf({ id: 'carts' }), limitOf({ algorithm: 'sliding_window' })];
    for (const limit of limits) {
      expect([1, 2, 3].map(() => table.take(limit, 'a', 0) >= 0)).toEqual([true, true, false]);
    }
  });

  it('is one table for all views of it', () => {
    const buffer = allocateLimitTable({ entries: 100 });
    const [one, two] = [new LimitTable(buffer), new LimitTable(buffer)];
    const limit = limitOf();
    expect([one.take(limit, 'a', 0), two.take(limit, 'a', 0)]).toEqual([0, 0]);
    expect(one.take(limit, 'a', 0)).toBeCloseTo(-500, 2);
    expect(two.verdicts[0]).toMatchObject({ remaining: 0 });
  });

  it('tells what is left and for how long, and how long a queued request waits', () => {
    const table = tableOf();
    table.take(limitOf(), 'a', 100);
    expect(table.verdicts[0]).toMatchObject({ delayMs: 0, remaining: 1 });
    expect(table.verdicts[0]?.resetMs).toBeCloseTo(500, 2);
    const queue = limitOf({ algorithm: 'leaky_bucket' });
    expect([0, 0, 0, 0].map(() => Math.round(table.take(queue, 'a', 100)))).toEqual([0, 500, 1000, -500]);
  });

  it('chooses the places of keys by a seed of its own', () => {
    const seeds = [allocateLimitTable({ entries: 7 }), allocateLimitTable({ entries: 7 })].map(
      (buffer) => new Int32Array(buffer, 0, 2),
    );
    expect(seeds[0]).not.toEqual(seeds[1]);
  });
});

describe('several limits of one request', () => {
  const perClient = limitOf({ id: 'per client', count: 2 });
  const perRoute = limitOf({ id: 'per route', count: 5 });

  it('count a request that one of them refuses under none', () => {
    const table = tableOf();
    const take = (client: string) => table.takeAll([perRoute, perClient], ['', client], 0);
    expect([take('a'), take('a')]).toEqual([0, 0]);
    for (let at = 0; at < 10; at++) expect(take('a')).toBeCloseTo(-500, 2);
    expect(table.verdicts.map(({ remaining }) => remaining)).toEqual([3, 0]);
    expect([take('b'), take('b'), take('c')]).toEqual([0, 0, 0]);
    expect(table.verdicts.map(({ remaining }) => remaining)).toEqual([0, 1]);
    expect(take('c')).toBeCloseTo(-200, 2);
    expect(table.verdicts.map(({ remaining }) => remaining)).toEqual([0, 1]);
  });

  it('refuse for the longest time of those that refuse', () => {
    const table = tableOf();
    const slow = limitOf({ id: 'slow', count: 1, periodMs: 60_000 });
    table.takeAll([slow, perClient], ['', 'a'], 0);
    table.take(perClient, 'a', 0);
    expect(table.takeAll([slow, perClient], ['', 'a'], 0)).toBeCloseTo(-60_000, 2);
    expect(table.takeAll([perClient, slow], ['a', ''], 0)).toBeCloseTo(-60_000, 2);
  });

  it('delay for the longest time', () => {
    const table = tableOf();
    const fast = limitOf({ id: 'fast', algorithm: 'leaky_bucket', count: 100 });
    const slow = limitOf({ id: 'slow', algorithm: 'leaky_bucket', count: 10 });
    const delays = [1, 2, 3].map(() => Math.round(table.takeAll([fast, slow, perRoute], ['', '', ''], 0)));
    expect(delays).toEqual([0, 100, 200]);
  });

  it('are right when all their keys share one bucket, also when it has no room for them', () => {
    const table = tableOf(1);
    const limits = Array.from({ length: 5 }, (_, at) => limitOf({ id: `limit ${at}`, count: 3 }));
    const keys = limits.map(() => '');
    const verdicts = [1, 2, 3, 4].map(() => table.takeAll(limits, keys, 0));
    expect(verdicts.map((verdict) => verdict >= 0)).toEqual([true, true, true, false]);
    expect(table.evictions()).toBe(0);
    const others = Array.from({ length: 9 }, (_, at) =>
      limitOf({ id: `other ${at}`, algorithm: ALGORITHMS[at % 3] ?? 'token_bucket' }),
    );
    for (let at = 0; at < 20; at++) expect(table.takeAll(others, new Array(9).fill(''), 10_000 * at)).toBe(0);
  });

  it('start a key afresh that another key of the same request has pushed out', () => {
    const table = tableOf(1);
    const window = (id: string) => limitOf({ id, algorithm: 'sliding_window', count: 5 });
    for (let at = 0; at < 6; at++) {
      for (const nowMs of [0, 0, 0, 500]) table.take(window('others'), `key ${at}`, nowMs);
    }
    table.take(window('known'), '', 400);
    expect(table.takeAll([window('new'), window('known')], ['', ''], 600)).toBe(0);
    expect(table.evictions()).toBe(2);
    table.take(window('known'), '', 600);
    expect(table.verdicts[0]).toMatchObject({ remaining: 3 });
  });

  it('admit when there are none', () => {
    expect(tableOf().takeAll([], [], 0)).toBe(0);
  });
});

describe('a full table of rate limits', () => {
  it.each(ALGORITHMS)(
    'forgets a key of a %s that does not matter any more before others, and counts only others',
    (algorithm) => {
      const table = tableOf(1);
      const limit = limitOf({ algorithm });
      table.take(limit, 'old', 0);
      for (let at = 0; at < 6; at++) table.take(limit, `key ${at}`, 5000);
      table.take(limit, 'new', 5000);
      expect(table.evictions()).toBe(0);
      for (let at = 0; at < 6; at++) expect(table.take(limit, `key ${at}`, 5000)).toBeGreaterThanOrEqual(0);
      if (algorithm === 'leaky_bucket') for (let at = 0; at < 6; at++) table.take(limit, `key ${at}`, 5000);
      for (let at = 0; at < 6; at++) expect(table.take(limit, `key ${at}`, 5000)).toBeLessThan(0);
    },
  );

  it('forgets the key that has used least of its limit', () => {
    const table = tableOf(1);
    const limit = limitOf({ count: 10 });
    for (let key = 0; key < 7; key++) {
      for (let used = 0; used < 10 - key; used++) table.take(limit, `key ${key}`, 0);
    }
    table.take(limit, 'new', 0);
    expect(table.evictions()).toBe(1);
    expect(table.take(limit, 'key 0', 0)).toBeLessThan(0);
    table.take(limit, 'key 5', 0);
    expect(table.verdicts[0]).toMatchObject({ remaining: 4 });
  });

  it.each(ALGORITHMS)('holds a million keys of a %s in its bounds', (algorithm) => {
    const buffer = allocateLimitTable({ entries: 10_000, seed: SEED });
    const table = new LimitTable(buffer);
    const limit = limitOf({ algorithm });
    let admitted = 0;
    for (let at = 0; at < 1_000_000; at++) if (table.take(limit, `client ${at}`, at / 1000) === 0) admitted++;
    expect(admitted).toBe(1_000_000);
    // A thousand new keys a millisecond, each of which matters for half a second at least.
    expect(table.evictions()).toBeGreaterThan(900_000);
    expect(table.evictions()).toBeLessThan(1_000_000 - 9000);
    expect(buffer.byteLength).toBeLessThan(10_000 * 95);
  });
});
