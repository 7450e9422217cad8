// The slope with which a cost grows.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitPower } from '../../../bench/stats/power-fit.ts';

const SIZES = [10, 30, 100, 300, 1000];

describe('fitPower', () => {
  it('finds the slope and the factor of a power law', () => {
    const factors = fc.double({ min: 0.1, max: 1000, noNaN: true });
    fc.assert(
      fc.property(fc.double({ min: -2, max: 2, noNaN: true }), factors, (exponent, factor) => {
        const fit = fitPower(SIZES.map((size) => ({ size, cost: factor * size ** exponent })));
        expect(fit.exponent).toBeCloseTo(exponent, 6);
        expect(fit.factor / factor).toBeCloseTo(1, 6);
      }),
    );
  });

  it('is flat and certain for a cost that does not grow', () => {
    const fit = fitPower(SIZES.map((size) => ({ size, cost: 20 })));
    expect(fit.exponent).toBeCloseTo(0, 9);
    expect(fit.factor).toBeCloseTo(20, 9);
    expect(fit.rSquared).toBe(1);
  });

  it('explains little of a cost that goes up and down', () => {
    const fit = fitPower([10, 20, 10, 20, 10].map((cost, at) => ({ size: SIZES[at] ?? 1, cost })));
    expect(fit.rSquared).toBeLessThan(0.1);
  });

  it('has no slope for a single size', () => {
    expect(fitPower([{ size: 10, cost: 1 }]).exponent).toBeNaN();
    expect(fitPower([]).exponent).toBeNaN();
  });
});
