// What every balancing policy promises, whichever a route chooses.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BALANCE_POLICIES, makeBalancer } from '../../../gateway/balancing/make-balancer.ts';
import {
  candidates,
  countPicks,
  equalCandidates,
  seededHashes,
  type TestCandidate,
  testSources,
} from '../../support/candidates.ts';

type Kind = (typeof BALANCE_POLICIES)[number];

/** A balancer as a pool uses it: every request has a key. */
function subject(kind: Kind, seed = 1) {
  const balancer = makeBalancer<TestCandidate>({ kind }, testSources(seed));
  const nextHash = seededHashes(seed + 1);
  return {
    update: (usable: readonly TestCandidate[]) => balancer.update(usable),
    pick: (tried: readonly TestCandidate[] = []) => balancer.pick(tried, nextHash()),
    picks: (count: number) => Array.from({ length: count }, () => balancer.pick([], nextHash())),
  };
}

/** How far a share over many picks may be from that of the weight, in parts of it. */
const SHARE_TOLERANCE: Readonly<Record<Kind, number>> = {
  weighted_round_robin: 0,
  least_request: 0.1,
  random: 0.1,
  peak_ewma: 0.1,
  consistent_hash: 0.3,
};

const weights = fc.array(fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 65_535 })), {
  maxLength: 24,
});

describe.each(BALANCE_POLICIES)('%s', (kind) => {
  it('has nobody to pick before it was told of anybody', () => {
    expect(subject(kind).pick()).toBeUndefined();
  });

  it('has nobody to pick when everybody was taken away', () => {
    const balancer = subject(kind);
    const pool = equalCandidates(3);
    balancer.update(pool);
    expect(pool).toContain(balancer.pick());
    balancer.update([]);
    expect(balancer.pick()).toBeUndefined();
    expect(balancer.pick(pool)).toBeUndefined();
  });

  it('picks a lone endpoint with every request, and not again', () => {
    const balancer = subject(kind);
    const [lone] = candidates(7);
    balancer.update([lone].filter((each) => each !== undefined));
    expect(new Set(balancer.picks(50))).toEqual(new Set([lone]));
    expect(lone && balancer.pick([lone])).toBeUndefined();
  });

  it('picks every endpoint of the last update once in a row of retries, then none', () => {
    fc.assert(
      fc.property(weights, fc.integer(), (each, seed) => {
        const balancer = subject(kind, seed);
        const pool = candidates(...each);
        balancer.update(pool);
        const tried: TestCandidate[] = [];
        for (const _ of pool) {
          const picked = balancer.pick(tried);
          if (picked === undefined) break;
          expect(tried).not.toContain(picked);
          tried.push(picked);
        }
        expect(new Set(tried)).toEqual(new Set(pool));
        expect(balancer.pick(tried)).toBeUndefined();
      }),
    );
  });

  it('picks only from the last update, whatever the updates, loads and latencies (case 129)', () => {
    const step = fc.record({
      usable: fc.array(fc.nat(23), { maxLength: 24 }),
      tried: fc.array(fc.nat(23), { maxLength: 9 }),
      loads: fc.array(fc.nat(5), { minLength: 24, maxLength: 24 }),
      latencies: fc.array(fc.constantFrom(0, 0.4, 12, 900), { minLength: 24, maxLength: 24 }),
    });
    fc.assert(
      fc.property(weights, fc.array(step, { maxLength: 8 }), (each, steps) => {
        const pool = candidates(...each);
        const balancer = subject(kind);
        for (const { usable, tried, loads, latencies } of steps) {
          for (const [at, endpoint] of pool.entries()) {
            endpoint.load = loads[at] ?? 0;
            endpoint.latency = latencies[at] ?? 0;
          }
          const now = pool.filter((_, at) => usable.includes(at));
          const out = pool.filter((_, at) => tried.includes(at));
          const left = now.filter((endpoint) => !out.includes(endpoint));
          balancer.update(now);
          for (let pick = 0; pick < 10; pick++) {
            const picked = balancer.pick(out);
            if (left.length === 0) expect(picked).toBeUndefined();
            else expect(left).toContain(picked);
          }
        }
      }),
    );
  });

  it.each([[[1, 1, 1]], [[5, 1, 1]], [[10, 1]], [[1, 2, 3, 4]], [Array.from({ length: 20 }, (_, at) => 1 + (at % 4))]])(
    'shares among idle endpoints by their weights: %j',
    (each) => {
      for (const latency of [0, 25]) {
        const pool = candidates(...each);
        for (const endpoint of pool) endpoint.latency = latency;
        const balancer = subject(kind);
        balancer.update(pool);
        const total = each.reduce((sum, weight) => sum + weight, 0);
        const counts = countPicks(pool, balancer.picks(total * 1000));
        for (const [at, weight] of each.entries()) {
          expect(Math.abs((counts[at] ?? 0) - weight * 1000)).toBeLessThanOrEqual(
            weight * 1000 * SHARE_TOLERANCE[kind],
          );
        }
      }
    },
  );

  it('shares what a tried endpoint leaves by the weights of the others', () => {
    const pool = candidates(1000, 1, 2, 3);
    const [heavy, ...others] = pool;
    const balancer = subject(kind);
    balancer.update(pool);
    const picked = Array.from({ length: 6000 }, () => balancer.pick(heavy ? [heavy] : []));
    for (const [at, count] of countPicks(others, picked).entries()) {
      expect(Math.abs(count - (at + 1) * 1000)).toBeLessThan((at + 1) * 300);
    }
  });

  it('follows weights that change in an endpoint it knows', () => {
    const pool = candidates(1, 1);
    const balancer = subject(kind);
    balancer.update(pool);
    const [first] = pool;
    if (first) first.weight = 9;
    balancer.update(pool);
    const [count = 0] = countPicks(pool, balancer.picks(10_000));
    expect(Math.abs(count - 9000)).toBeLessThan(500);
  });

  it('goes on as if nothing had been when an update changes nothing (case 103)', () => {
    const pool = candidates(5, 1, 2);
    const steady = subject(kind);
    steady.update(pool);
    const updated = subject(kind);
    const picked = Array.from({ length: 200 }, () => {
      updated.update([...pool]);
      return updated.pick()?.key;
    });
    expect(picked).toEqual(steady.picks(200).map((each) => each?.key));
  });

  it('makes the same choices from the same turns and the same chance', () => {
    const pool = candidates(...Array.from({ length: 30 }, (_, at) => 1 + (at % 7)));
    const [one, other] = [subject(kind, 42), subject(kind, 42)];
    one.update(pool);
    other.update(pool);
    expect(one.picks(500)).toEqual(other.picks(500));
  });
});
