// Medians, spreads, ratios and the order of rounds.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inAnyOrder, median, medianRatio, spreadPercent } from '../../../bench/stats/statistics.ts';

const figures = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 20 });

describe('median', () => {
  it('is the middle value, or the mean of the two in the middle', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([9, 1, 5, 7])).toBe(6);
  });

  it('is not a number where nothing was measured', () => {
    expect(median([])).toBeNaN();
  });

  it('has as many values at or below it as at or above it', () => {
    fc.assert(
      fc.property(figures, (values) => {
        const middle = median(values);
        const below = values.filter((value) => value <= middle).length;
        const above = values.filter((value) => value >= middle).length;
        expect(Math.min(below, above)).toBeGreaterThanOrEqual(Math.floor(values.length / 2));
      }),
    );
  });

  it('leaves the values in their order', () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe('spreadPercent', () => {
  it('is half of the distance from the least to the most, in percent of the median', () => {
    expect(spreadPercent([90, 100, 120])).toBe(15);
  });

  it('is 0 for a single round', () => {
    expect(spreadPercent([42])).toBe(0);
  });
});

describe('medianRatio', () => {
  it('compares what was measured in the same round', () => {
    // A machine that was twice as slow in the second round was so for both.
    expect(medianRatio([30, 60, 30], [10, 20, 10])).toBe(3);
  });

  it('leaves out rounds that only one of the two has', () => {
    expect(medianRatio([30, 60, 1000], [10, 20])).toBe(3);
    expect(medianRatio([30], [])).toBeNaN();
  });
});

describe('inAnyOrder', () => {
  it('has each once, and in a few dozen draws each in each place', () => {
    const seen = new Set<string>();
    for (let draw = 0; draw < 100; draw++) {
      const drawn = inAnyOrder(['a', 'b', 'c']);
      expect(drawn.toSorted()).toEqual(['a', 'b', 'c']);
      drawn.forEach((name, place) => {
        seen.add(`${name}${place}`);
      });
    }
    expect(seen.size).toBe(9);
  });
});
