import { describe, expect, it } from 'vitest';
import {
  decayedStep,
  ejectionAllowance,
  ejectionMs,
  grownStep,
  lowerMedian,
  tooManyFailures,
  tooSlow,
} from '../../../gateway/resilience/ejection.ts';
import { ejectionPolicy } from '../../support/ejection-policy.ts';

const policy = ejectionPolicy();

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

describe('the share of failures', () => {
  it.each([
    [0, 0, null],
    [19, 19, null],
    [20, 9, null],
    [20, 10, 50],
    [20, 20, 100],
    [1000, 499, null],
    [1000, 999, 99],
  ])('of %d attempts with %d failures is too much: %s', (attempts, failures, percent) => {
    expect(tooManyFailures(policy, attempts, failures)).toBe(percent);
  });

  it('never ejects when it is off', () => {
    expect(tooManyFailures(ejectionPolicy({ failurePercent: Number.POSITIVE_INFINITY }), 100, 100)).toBeNull();
  });

  it('ejects at 100 % only when nothing is good', () => {
    const all = ejectionPolicy({ failurePercent: 100 });
    expect([tooManyFailures(all, 100, 99), tooManyFailures(all, 100, 100)]).toEqual([null, 100]);
  });
});

describe('a latency', () => {
  const slow = ejectionPolicy({ slowerThan: 3 });

  it.each([
    [30, 10, null],
    [31, 10, 3.1],
    [100, 10, 10],
    [9.9, 1, null],
    [10, 1, 10],
    [100, 0, null],
  ])('of %d ms beside a median of %d ms is too high: %s', (latencyMs, medianMs, ratio) => {
    expect(tooSlow(slow, latencyMs, medianMs)).toBe(ratio);
  });

  it('is never too high when the rule is off', () => {
    expect(tooSlow(policy, 1e9, 1)).toBeNull();
  });
});

describe('the median', () => {
  it.each([
    [[], 0],
    [[5], 5],
    [[9, 2], 2],
    [[9, 2, 4], 4],
    [[100, 9, 2, 4], 4],
    [[1, 10, 2, 100, 3], 3],
  ])('of %j is %d', (latencies, median) => {
    expect(lowerMedian([...latencies])).toBe(median);
  });
});
