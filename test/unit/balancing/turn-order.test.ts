import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { turnOrder } from '../../../gateway/balancing/turn-order.ts';

function turns(weights: readonly number[], count: number): number[] {
  const order = turnOrder(weights);
  return Array.from({ length: count }, (_, turn) => order(turn));
}

function counts(weights: readonly number[], cycle: number): number[] {
  const seen = weights.map(() => 0);
  for (const at of turns(weights, cycle)) seen[at] = (seen[at] ?? 0) + 1;
  return seen;
}

describe('the turn order', () => {
  it('is smooth: 5:1:1 gives A A B A C A A, again and again (case 100)', () => {
    const letters = turns([5, 1, 1], 14)
      .map((at) => 'ABC'[at])
      .join(' ');
    expect(letters).toBe('A A B A C A A A A B A C A A');
  });

  it('gives equal weights their turns in the order of the list', () => {
    expect(turns([3, 3, 3], 6)).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it.each([[[1, 2]], [[1, 3, 7]], [[1, 1000]], [[4, 2, 1]], [[65_535, 65_534]], [[1, 65_535, 777]]])(
    'gives %j exactly their shares over a cycle (case 81)',
    (weights) => {
      const cycle = weights.reduce((sum, weight) => sum + weight, 0);
      expect(counts(weights, cycle)).toEqual(weights);
    },
  );

  it('gives any weights exactly their shares over a cycle, from any turn on', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 0, max: 100_000 }),
        (weights, from) => {
          const order = turnOrder(weights);
          const cycle = weights.reduce((sum, weight) => sum + weight, 0);
          const seen = weights.map(() => 0);
          for (let turn = from; turn < from + cycle; turn++) {
            const at = order(turn);
            seen[at] = (seen[at] ?? 0) + 1;
          }
          expect(seen).toEqual(weights);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is exact and spread also where the cycle is too long to be written out', () => {
    const weights = Array.from({ length: 2000 }, (_, at) => 1 + ((at * 7919) % 500));
    const cycle = weights.reduce((sum, weight) => sum + weight, 0);
    expect(counts(weights, cycle)).toEqual(weights);
    const order = turnOrder([1_000, 1_000, ...Array.from({ length: 998 }, () => 999)]);
    const inFirstThousand = new Set(Array.from({ length: 1000 }, (_, turn) => order(turn)));
    expect(inFirstThousand.size).toBeGreaterThan(600);
  });
});
