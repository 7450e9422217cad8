import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WeightedDraw } from '../../../gateway/balancing/weighted-draw.ts';
import { candidates, countPicks, seededChance, type TestCandidate } from '../../support/candidates.ts';

function draw(pool: readonly TestCandidate[], random: () => number): WeightedDraw<TestCandidate> {
  const chance = new WeightedDraw<TestCandidate>(random);
  chance.update(pool);
  return chance;
}

describe('a weighted draw', () => {
  it('gives every endpoint the part of chance that its weight says, from 0 to the last number below 1', () => {
    const pool = candidates(1, 2, 1);
    const [a, b, c] = pool;
    const drawn = [0, 0.24, 0.25, 0.74, 0.75, 1 - 2 ** -53].map((random) => draw(pool, () => random).draw([]));
    expect(drawn).toEqual([a, a, b, b, c, c]);
  });

  it('draws two different ones from whatever chance', () => {
    const pool = candidates(1, 2, 1);
    for (const random of [0, 0.25, 0.5, 0.75, 1 - 2 ** -53]) {
      const chance = draw(pool, () => random);
      expect(chance.drawBetter([], () => true)).not.toBe(chance.draw([]));
    }
  });

  it.each([[[1000, 3, 1]], [[1, 1000, 3]], [[3, 1, 1000]]])(
    'draws a second endpoint as if there were no first: %j',
    (weights) => {
      const pool = candidates(...weights);
      const heavy = pool.find(({ weight }) => weight === 1000);
      // What is better than the first is the second, always.
      const chance = draw(pool, seededChance(5));
      const seconds = Array.from({ length: 4000 }, () => chance.drawBetter([], () => true));
      const others = pool.filter((each) => each !== heavy);
      for (const [at, count] of countPicks(others, seconds).entries()) {
        const expected = 1000 * (others[at]?.weight ?? 0);
        expect(Math.abs(count - expected)).toBeLessThan(expected * 0.1);
      }
    },
  );

  it('compares two different endpoints that were not tried, for any weights', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 65_535 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(weights, fc.integer(), fc.nat(9), (each, seed, triedCount) => {
        const pool = candidates(...each);
        const tried = pool.slice(0, triedCount);
        const chance = draw(pool, seededChance(seed));
        let compared = 0;
        for (let pick = 0; pick < 20; pick++) {
          const picked = chance.drawBetter(tried, (one, other) => {
            compared++;
            expect(one).not.toBe(other);
            expect(tried).not.toContain(one);
            expect(tried).not.toContain(other);
            return false;
          });
          expect(picked === undefined).toBe(tried.length === pool.length);
        }
        expect(compared).toBe(pool.length - tried.length > 1 ? 20 : 0);
      }),
    );
  });
});
