import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConsistentHash } from '../../../gateway/balancing/consistent-hash.ts';
import { hashRing } from '../../../gateway/balancing/hash-ring.ts';
import { hashKey } from '../../../gateway/balancing/key-hash.ts';
import {
  candidates,
  countPicks,
  equalCandidates,
  seededHashes,
  type TestCandidate,
  testSources,
} from '../../support/candidates.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';

/** A ring over `pool` that does not look at the load. */
function ring(pool: readonly TestCandidate[]): ConsistentHash<TestCandidate> {
  const balancer = new ConsistentHash<TestCandidate>({ ...testSources(1), boundedLoad: Number.POSITIVE_INFINITY });
  balancer.update(pool);
  return balancer;
}

/** The hash of the key with this number. */
function key(number: number): number {
  return hashKey(`user-${number}`);
}

function owners(balancer: ConsistentHash<TestCandidate>, keys: number): (TestCandidate | undefined)[] {
  return Array.from({ length: keys }, (_, number) => balancer.pick([], key(number)));
}

const anyWeights = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 10 }), fc.constantFrom(100, 1000), fc.integer({ min: 1, max: 65_535 })),
  { minLength: 2, maxLength: 10 },
);
const anyHashes = fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 50, maxLength: 50 });

describe('consistent hashing', () => {
  it('does not care for the order of the list, for any weights', () => {
    fc.assert(
      fc.property(anyWeights, anyHashes, fc.integer(), (weights, hashes, seed) => {
        const pool = candidates(...weights);
        const random = createSeededRandom(seed);
        const shuffled = pool.map((each) => ({ each, by: random.below(1000) })).sort((a, b) => a.by - b.by);
        const [one, other] = [ring(pool), ring(shuffled.map(({ each }) => each))];
        for (const hash of hashes) expect(other.pick([], hash)).toBe(one.pick([], hash));
      }),
    );
  });

  it('moves only the keys of an endpoint that goes, for any weights, and to whom a retry went (case 117)', () => {
    fc.assert(
      fc.property(anyWeights, anyHashes, fc.nat(), (weights, hashes, at) => {
        const pool = candidates(...weights);
        const gone = pool[at % pool.length];
        if (gone === undefined) return;
        const before = ring(pool);
        const after = ring(pool.filter((each) => each !== gone));
        for (const hash of hashes) {
          const owner = before.pick([], hash);
          if (owner !== gone) expect(after.pick([], hash)).toBe(owner);
          expect(before.pick([gone], hash)).toBe(after.pick([], hash));
        }
      }),
    );
  });

  it('gives a request that tried several the owner its key would have without them', () => {
    fc.assert(
      fc.property(anyWeights, anyHashes, fc.nat(2 ** 10 - 1), (weights, hashes, mask) => {
        const pool = candidates(...weights);
        const tried = pool.filter((_, at) => (mask >> at) & 1);
        const without = ring(pool.filter((each) => !tried.includes(each)));
        for (const hash of hashes) expect(ring(pool).pick(tried, hash)).toBe(without.pick([], hash));
      }),
      { numRuns: 40 },
    );
  });

  it('gives an endpoint that becomes heavier keys of others, and moves no others', () => {
    fc.assert(
      fc.property(anyWeights, anyHashes, fc.integer({ min: 1, max: 65_535 }), (weights, hashes, more) => {
        const pool = candidates(...weights);
        const [grown] = pool;
        if (grown === undefined) return;
        const balancer = ring(pool);
        const before = hashes.map((hash) => balancer.pick([], hash));
        grown.weight = Math.min(65_535, grown.weight + more);
        balancer.update(pool);
        for (const [at, hash] of hashes.entries()) {
          const now = balancer.pick([], hash);
          if (now !== grown) expect(now).toBe(before[at]);
        }
      }),
    );
  });

  it('spreads the keys of a dead endpoint over the others, always in the same way (case 117)', () => {
    const pool = equalCandidates(5);
    const [dead, ...others] = pool;
    if (dead === undefined) return;
    const balancer = ring(pool);
    const affected = owners(balancer, 1000).flatMap((owner, number) => (owner === dead ? [number] : []));
    const substitutes = affected.map((number) => balancer.pick([dead], key(number)));
    expect(affected.length).toBeGreaterThan(120);
    for (const count of countPicks(others, substitutes)) {
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThan(affected.length / 2);
    }
    expect(affected.map((number) => balancer.pick([dead], key(number)))).toEqual(substitutes);
    balancer.update(others);
    expect(affected.map((number) => balancer.pick([], key(number)))).toEqual(substitutes);
  });

  it.each([[1], [10]])(
    'moves about a twentieth of the keys when one of 20 goes, weight %i among 1 and 10 (case 126)',
    (weight) => {
      const pool = candidates(...Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 1 : 10)));
      const gone = pool.find((each) => each.weight === weight);
      const balancer = ring(pool);
      const before = owners(balancer, 10_000);
      balancer.update(pool.filter((each) => each !== gone));
      const moved = owners(balancer, 10_000).filter((owner, number) => owner !== before[number]).length;
      expect(moved).toBe(before.filter((owner) => owner === gone).length);
      const share = (10_000 * weight) / 110;
      expect(Math.abs(moved - share)).toBeLessThan(share * 0.3);
      balancer.update(pool);
      expect(owners(balancer, 10_000)).toEqual(before);
    },
  );

  it('finds its way back after a thousand comings and goings (case 126)', () => {
    const pool = candidates(...Array.from({ length: 20 }, (_, at) => 1 + (at % 10)));
    const balancer = ring(pool);
    const before = owners(balancer, 500);
    const random = createSeededRandom(126);
    const usable = new Set(pool);
    for (let change = 0; change < 1000; change++) {
      const each = random.pick(pool);
      if (!usable.delete(each)) usable.add(each);
      const now = [...usable];
      balancer.update(now);
      const owner = balancer.pick([], key(change % 500));
      if (now.length === 0) expect(owner).toBeUndefined();
      else expect(now).toContain(owner);
    }
    balancer.update(pool);
    expect(owners(balancer, 500)).toEqual(before);
  });

  it('knows the ones of now when as many came as went', () => {
    const pool = equalCandidates(6);
    const [before, now] = [pool.slice(0, 5), pool.slice(1)];
    const balancer = ring(before);
    balancer.update(now);
    expect(owners(balancer, 500)).toEqual(owners(ring(now), 500));
  });

  it('has an owner for every key and halves them between two equals (case 127)', () => {
    const pool = equalCandidates(2);
    const texts = ['', 'x'.repeat(8192), 'ключ', '🔑', ...Array.from({ length: 100_000 }, (_, number) => `k${number}`)];
    const lone = ring(pool.slice(0, 1));
    expect(new Set(texts.map((text) => lone.pick([], hashKey(text))))).toEqual(new Set(pool.slice(0, 1)));
    const both = ring(pool);
    const counts = countPicks(
      pool,
      texts.map((text) => both.pick([], hashKey(text))),
    );
    expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(texts.length);
    for (const count of counts) expect(Math.abs(count - texts.length / 2)).toBeLessThan((texts.length / 2) * 0.15);
  });

  it('gives the hashes after the last point to the owner of the first (case 127)', () => {
    const pool = equalCandidates(3);
    const { positions, owners: owner } = hashRing(pool.map((each) => each.key));
    const balancer = ring(pool);
    const first = pool[owner[0] ?? 0];
    for (const hash of [(positions.at(-1) ?? 0) + 1, 2 ** 32 - 1, 0, positions[0] ?? 0]) {
      expect(balancer.pick([], hash)).toBe(first);
    }
  });

  it('gives points that fall together to the same endpoint in every order of the list', () => {
    const pool = equalCandidates(1500);
    const { positions, owners: owner } = hashRing(pool.map((each) => each.key));
    const [forwards, backwards] = [ring(pool), ring(pool.toReversed())];
    let shared = 0;
    for (let at = 1; at < positions.length; at++) {
      const position = positions[at] ?? 0;
      if (position !== positions[at - 1] || owner[at] === owner[at - 1]) continue;
      shared++;
      expect(backwards.pick([], position)).toBe(forwards.pick([], position));
    }
    expect(shared).toBeGreaterThan(0);
  });

  it('sends requests without a key to everybody in turn (cases 123, 124)', () => {
    const pool = candidates(2, 1, 1);
    const balancer = ring(pool);
    const picked = Array.from({ length: 300 }, () => balancer.pick([]));
    expect(countPicks(pool, picked)).toEqual([150, 75, 75]);
    expect(balancer.pick(pool.slice(0, 2), undefined)).toBe(pool[2]);
  });

  it('takes 0 for a hash like any other', () => {
    const balancer = ring(equalCandidates(5));
    expect(new Set(Array.from({ length: 50 }, () => balancer.pick([], 0))).size).toBe(1);
  });
});

describe('the bounded load of consistent hashing', () => {
  function bounded(pool: readonly TestCandidate[], boundedLoad: number) {
    const balancer = new ConsistentHash<TestCandidate>({ ...testSources(1, pool), boundedLoad });
    balancer.update(pool);
    return balancer;
  }

  it('keeps every endpoint within its share of all requests in flight, for any weights and keys', () => {
    const bounds = fc.constantFrom(1, 1.1, 1.25, 2);
    fc.assert(
      fc.property(anyWeights, bounds, fc.integer(), fc.boolean(), (weights, bound, seed, isOneKey) => {
        const pool = candidates(...weights);
        const balancer = bounded(pool, bound);
        const nextHash = seededHashes(seed);
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        for (let inFlight = 1; inFlight <= 60; inFlight++) {
          const picked = balancer.pick([], isOneKey ? 4711 : nextHash());
          if (picked === undefined) throw new Error('nobody was picked');
          picked.load++;
          expect(picked.load).toBeLessThanOrEqual(Math.ceil((bound * inFlight * picked.weight) / total));
        }
      }),
    );
  });

  it('passes a hot key on in the order in which its owners would go', () => {
    const pool = equalCandidates(4);
    const unbounded = ring(pool);
    const order: TestCandidate[] = [];
    for (const _ of pool) order.push(...[unbounded.pick(order, 4711)].filter((each) => each !== undefined));
    const balancer = bounded(pool, 1);
    for (const expected of order) {
      const picked = balancer.pick([], 4711);
      expect(picked).toBe(expected);
      if (picked) picked.load++;
    }
  });

  it('counts the request that is to come: with a bound of 1.5 an owner may have 4 of 5 in flight, and not 5', () => {
    const pool = equalCandidates(2);
    const owner = ring(pool).pick([], 4711);
    const other = pool.find((each) => each !== owner);
    if (owner === undefined || other === undefined) throw new Error('there are two');
    const balancer = bounded(pool, 1.5);
    [owner.load, other.load] = [3, 1];
    expect(balancer.pick([], 4711)).toBe(owner);
    [owner.load, other.load] = [4, 0];
    expect(balancer.pick([], 4711)).toBe(other);
  });

  it('leaves a key with its owner while the load is even', () => {
    const pool = equalCandidates(4);
    for (const each of pool) each.load = 100;
    const [balancer, unbounded] = [bounded(pool, 1.25), ring(pool)];
    expect(owners(balancer, 500)).toEqual(owners(unbounded, 500));
  });

  it('takes the owner when everybody is full, and never one that was tried', () => {
    const pool = equalCandidates(4);
    for (const each of pool) each.load = 100;
    const balancer = new ConsistentHash<TestCandidate>({ ...testSources(1), boundedLoad: 1.25 });
    balancer.update(pool);
    expect(owners(balancer, 500)).toEqual(owners(ring(pool), 500));
    for (const each of pool) expect(balancer.pick([each], 4711)).not.toBe(each);
    expect(balancer.pick(pool, 4711)).toBeUndefined();
  });

  it('is unbounded when it is infinite: one key fills one endpoint', () => {
    const pool = equalCandidates(4);
    const balancer = bounded(pool, Number.POSITIVE_INFINITY);
    for (let request = 0; request < 100; request++) {
      const picked = balancer.pick([], 4711);
      if (picked) picked.load++;
    }
    expect(pool.map((each) => each.load).sort()).toEqual([0, 0, 0, 100]);
  });
});
