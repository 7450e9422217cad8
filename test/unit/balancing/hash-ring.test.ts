import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstPointFrom, type HashRing, hashRing, POINTS_PER_ENDPOINT } from '../../../gateway/balancing/hash-ring.ts';
import { equalCandidates } from '../../support/candidates.ts';

const keys = fc.uniqueArray(fc.string({ maxLength: 20 }), { maxLength: 12 });

function pointsOf(ring: HashRing, owner: number): number[] {
  return Array.from(ring.positions).filter((_, at) => ring.owners[at] === owner);
}

describe('the ring of hashes', () => {
  it('has the same number of points for every key, in the order of the circle', () => {
    fc.assert(
      fc.property(keys, (each) => {
        const ring = hashRing(each);
        expect(ring.positions.length).toBe(each.length * POINTS_PER_ENDPOINT);
        expect(Array.from(ring.positions)).toEqual(Array.from(ring.positions).sort((a, b) => a - b));
        for (const owner of each.keys()) expect(pointsOf(ring, owner).length).toBe(POINTS_PER_ENDPOINT);
      }),
    );
  });

  it('has points that depend on their key alone', () => {
    fc.assert(
      fc.property(keys, (each) => {
        const ring = hashRing(each);
        for (const [owner, key] of each.entries()) expect(pointsOf(ring, owner)).toEqual(pointsOf(hashRing([key]), 0));
      }),
    );
  });

  it('gives the endpoints of a large pool hardly a point in common', () => {
    const { positions } = hashRing(equalCandidates(1000).map(({ key }) => key));
    expect(positions.length - new Set(positions).size).toBeLessThan(20);
  });

  it('finds the first point from any hash on, past the last one the first (case 127)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (hash) => {
        const ring = hashRing(['10.0.0.1:80', '10.0.0.2:80']);
        const expected = ring.positions.findIndex((position) => position >= hash);
        expect(firstPointFrom(ring, hash)).toBe(Math.max(0, expected));
      }),
    );
    const ring = hashRing(['10.0.0.1:80']);
    for (const [at, position] of ring.positions.entries()) expect(firstPointFrom(ring, position)).toBe(at);
    expect(firstPointFrom(ring, 2 ** 32 - 1)).toBe(0);
    expect(firstPointFrom(ring, 0)).toBe(0);
  });
});
