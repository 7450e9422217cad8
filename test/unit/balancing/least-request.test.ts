import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeastRequest } from '../../../gateway/balancing/least-request.ts';
import { candidates, countPicks, equalCandidates, type TestCandidate, testSources } from '../../support/candidates.ts';

function balancer(pool: readonly TestCandidate[], seed = 1): LeastRequest<TestCandidate> {
  const least = new LeastRequest<TestCandidate>(testSources(seed));
  least.update(pool);
  return least;
}

function start(from: LeastRequest<TestCandidate>): TestCandidate {
  const picked = from.pick([]);
  if (picked === undefined) throw new Error('nobody was picked');
  picked.load++;
  return picked;
}

interface Running {
  readonly at: TestCandidate;
  readonly endsMs: number;
}

/** `count` clients that each send their next request when the last was answered, `requests` in all. */
function runClients(pool: readonly TestCandidate[], answerMs: readonly number[], count: number, requests: number) {
  const least = balancer(pool);
  const running: Running[] = [];
  const picked: TestCandidate[] = [];
  let nowMs = 0;
  for (let request = 0; request < requests; request++) {
    if (running.length === count) {
      running.sort((one, other) => one.endsMs - other.endsMs);
      const ended = running.shift();
      if (ended) {
        ended.at.load--;
        nowMs = ended.endsMs;
      }
    }
    const lightest = Math.min(...pool.map((each) => each.load / each.weight));
    const each = least.pick([]);
    if (each === undefined) throw new Error('nobody was picked');
    expect(each.load / each.weight).toBe(lightest);
    each.load++;
    picked.push(each);
    running.push({ at: each, endsMs: nowMs + (answerMs[pool.indexOf(each)] ?? 0) });
  }
  return countPicks(pool, picked);
}

describe('least request', () => {
  it('picks the least in-flight ÷ weight of all that were not tried, for any weights and loads (case 121)', () => {
    const each = fc.record({ weight: fc.integer({ min: 1, max: 65_535 }), load: fc.nat(50), isTried: fc.boolean() });
    fc.assert(
      fc.property(fc.array(each, { minLength: 1, maxLength: 16 }), (facts) => {
        const pool = candidates(...facts.map(({ weight }) => weight));
        for (const [at, endpoint] of pool.entries()) endpoint.load = facts[at]?.load ?? 0;
        const tried = pool.filter((_, at) => facts[at]?.isTried);
        const loads = pool.filter((endpoint) => !tried.includes(endpoint)).map(({ load, weight }) => load / weight);
        const picked = balancer(pool).pick(tried);
        if (loads.length === 0) expect(picked).toBeUndefined();
        else expect(picked && picked.load / picked.weight).toBe(Math.min(...loads));
      }),
    );
  });

  it('keeps 20 clients evenly at a slow and a fast endpoint: the fast one answers five times as many (case 121)', () => {
    const [slow = 0, fast = 0] = runClients(equalCandidates(2), [500, 100], 20, 3000);
    expect(fast / slow).toBeGreaterThan(4.5);
    expect(fast / slow).toBeLessThan(5.5);
  });

  it('lets an endpoint of ten times the weight have ten times as many in flight (case 121)', () => {
    const pool = candidates(10, 1);
    runClients(pool, [500, 100], 22, 3000);
    expect(pool[0]?.load).toBeGreaterThanOrEqual(19);
    expect(pool[1]?.load).toBeLessThanOrEqual(3);
  });

  it('lets idle endpoints take turns in the smooth order of their weights (case 121)', () => {
    const pool = candidates(5, 1, 1);
    const least = balancer(pool);
    const picked = Array.from({ length: 14 }, () => least.pick([]));
    const letters = picked.map((each) => 'ABC'[pool.findIndex(({ key }) => key === each?.key)]);
    expect(letters.join(' ')).toBe('A A B A C A A A A B A C A A');
  });

  it.each([[[1, 0, 0, 0]], [[1, 0, 1, 0]], [[1, 1, 0, 0]], [[3, 0, 0, 1, 0, 2, 0, 0]]])(
    'lets idle ones share evenly what would be the turns of busy ones: %j',
    (loads) => {
      const pool = equalCandidates(loads.length);
      for (const [at, each] of pool.entries()) each.load = loads[at] ?? 0;
      const idle = loads.filter((load) => load === 0).length;
      const least = balancer(pool);
      const picked = Array.from({ length: idle * 1000 }, () => least.pick([]));
      for (const [at, count] of countPicks(pool, picked).entries()) {
        if (loads[at] !== 0) expect(count).toBe(0);
        else expect(Math.abs(count - 1000)).toBeLessThan(100);
      }
    },
  );

  it('still knows the connections of before an update: a new endpoint gets the next ones (case 120)', () => {
    const pool = candidates(1, 1, 1);
    const [a, b, c] = pool;
    const two = pool.slice(0, 2);
    const least = balancer(two);
    for (let tunnel = 0; tunnel < 4; tunnel++) start(least);
    expect([a?.load, b?.load]).toEqual([2, 2]);
    least.update(pool);
    expect([start(least), start(least)]).toEqual([c, c]);
  });

  describe('beyond 16 endpoints', () => {
    it('never picks the most loaded one, as of two it is always the worse', () => {
      const pool = equalCandidates(17);
      for (const [at, each] of pool.entries()) each.load = at;
      const least = balancer(pool);
      const counts = countPicks(
        pool,
        Array.from({ length: 5000 }, () => least.pick([])),
      );
      expect(counts[16]).toBe(0);
      expect(counts.slice(0, 8).every((count, at) => count > (counts[at + 8] ?? 0))).toBe(true);
    });

    it('keeps the load of a hundred endpoints within a few requests of each other', () => {
      const pool = equalCandidates(100);
      const least = balancer(pool);
      for (let request = 0; request < 10_000; request++) start(least);
      for (const { load } of pool) expect(Math.abs(load - 100)).toBeLessThanOrEqual(4);
    });

    it('keeps the load in proportion to the weights', () => {
      const pool = candidates(...Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 1 : 10)));
      const least = balancer(pool);
      for (let request = 0; request < 22_000; request++) start(least);
      for (const { load, weight } of pool) expect(Math.abs(load - weight * 100)).toBeLessThan(weight * 5);
    });

    it('goes back to looking at all when the pool shrinks', () => {
      const pool = equalCandidates(20);
      const least = balancer(pool);
      const few = pool.slice(0, 5);
      for (const [at, each] of few.entries()) each.load = at === 3 ? 0 : 1;
      least.update(few);
      expect(new Set(Array.from({ length: 20 }, () => least.pick([])))).toEqual(new Set(few.slice(3, 4)));
    });
  });
});
