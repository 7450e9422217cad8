import { describe, expect, it } from 'vitest';
import { decayedStep, ejectionAllowance, ejectionMs, grownStep } from '../../../gateway/resilience/ejection.ts';

const policy = { consecutiveFailures: 5, baseMs: 5000, maxMs: 300_000, maxPercent: 50 };

describe('an ejection', () => {
  it.each([
    [0, 50, 0],
    [1, 50, 0],
    [1, 100, 0],
    [2, 50, 1],
    [2, 10, 1],
    [3, 50, 1],
    [4, 50, 2],
    [5, 50, 2],
    [10, 30, 3],
    [3, 100, 3],
  ])('of %d endpoints at %d %% leaves room for %d (case 109)', (size, maxPercent, allowed) => {
    expect(ejectionAllowance(size, maxPercent)).toBe(allowed);
  });

  it('doubles up to its maximum', () => {
    expect([0, 1, 2, 5, 6, 7, 30].map((step) => ejectionMs(policy, step, 0.5))).toEqual([
      5000, 10_000, 20_000, 160_000, 300_000, 300_000, 300_000,
    ]);
  });

  it('has a jitter of 20 % and is never longer than the maximum', () => {
    expect(ejectionMs(policy, 0, 0)).toBe(4000);
    expect(ejectionMs(policy, 0, 1)).toBe(6000);
    expect(ejectionMs(policy, 6, 1)).toBe(300_000);
  });

  it('grows no further than to its maximum, and one step is forgiven for every maximum of service (case 130)', () => {
    let step = 0;
    for (let at = 0; at < 50; at++) step = grownStep(policy, step);
    expect(step).toBe(6);
    expect([0, 299_999, 300_000, 900_000, 9_000_000].map((ms) => decayedStep(policy, step, ms))).toEqual([
      6, 6, 5, 3, 0,
    ]);
  });
});
