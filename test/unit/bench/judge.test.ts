// The decision of the guard.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALLOWED_LOSS_PERCENT, isBaseline, judge, mildest } from '../../../bench/guard/judge.ts';

const baseline = { version: '1.0.0', commit: 'abc', date: '2026-01-01', ratios: { relay: 2 } };

describe('judge', () => {
  it('lets a loss of up to 15 % pass and fails a greater one', () => {
    expect(judge('relay', [2.29], baseline)).toMatchObject({ isFailed: false });
    const verdict = judge('relay', [2.31], baseline);
    expect(verdict).toMatchObject({ isFailed: true, baseline: 2 });
    expect(verdict.lossPercent).toBeCloseTo(15.5);
  });

  it('never fails a gain', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 2, noNaN: true }), (ratio) => {
        expect(judge('relay', [ratio], baseline).isFailed).toBe(false);
      }),
    );
  });

  it('fails exactly when the median has lost more than is allowed', () => {
    const rounds = fc.array(fc.double({ min: 0.5, max: 8, noNaN: true }), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(rounds, (ratios) => {
        const { ratio, isFailed } = judge('relay', ratios, baseline);
        expect(isFailed).toBe((ratio / 2 - 1) * 100 > ALLOWED_LOSS_PERCENT);
      }),
    );
  });

  it('is not moved by one round that a neighbour disturbed', () => {
    expect(judge('relay', [2, 2.1, 9], baseline)).toMatchObject({ ratio: 2.1, isFailed: false });
  });

  it('fails a scenario that the baseline does not have, or that was not measured', () => {
    expect(judge('other', [1], baseline)).toMatchObject({ isFailed: true, baseline: null });
    expect(judge('relay', [], baseline)).toMatchObject({ isFailed: true });
  });
});

describe('mildest', () => {
  it('lets a scenario pass that one quiet measurement of three finds within what is allowed', () => {
    const [noisy, quiet, noisier] = [
      judge('relay', [2.6], baseline),
      judge('relay', [2.1], baseline),
      judge('relay', [3], baseline),
    ];
    expect(mildest([noisy, quiet, noisier])).toBe(quiet);
  });

  it('fails exactly when every measurement has lost more than is allowed', () => {
    const ratio = fc.double({ min: 0.5, max: 8, noNaN: true });
    fc.assert(
      fc.property(ratio, fc.array(ratio, { maxLength: 2 }), (first, more) => {
        const verdicts = [first, ...more].map((each) => judge('relay', [each], baseline));
        const verdict = mildest([judge('relay', [first], baseline), ...verdicts.slice(1)]);
        expect(verdict.isFailed).toBe(verdicts.every(({ isFailed }) => isFailed));
      }),
    );
  });

  it('takes what was measured over what was not, and fails where nothing was', () => {
    const [none, loss] = [judge('relay', [], baseline), judge('relay', [3], baseline)];
    expect(mildest([none, loss])).toBe(loss);
    expect(mildest([none, none]).isFailed).toBe(true);
  });
});

describe('isBaseline', () => {
  it('takes a stored one and refuses anything else', () => {
    expect(isBaseline(baseline)).toBe(true);
    expect(isBaseline({ ratios: { relay: 0 } })).toBe(false);
    expect(isBaseline({ ratios: { relay: 'x' } })).toBe(false);
    expect(isBaseline({})).toBe(false);
    expect(isBaseline(null)).toBe(false);
  });
});
