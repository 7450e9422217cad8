import { describe, expect, it } from 'vitest';
import { opensBreaker } from '../../../gateway/resilience/breaker.ts';

const POLICY = { failurePercent: 50, minRequests: 20, windowMs: 10_000, openMs: 5000, probes: 3 };

describe('a breaker', () => {
  it.each([
    [0, 0, false],
    [19, 19, false],
    [20, 9, false],
    [20, 10, true],
    [20, 20, true],
    [1001, 500, false],
    [1001, 501, true],
  ])('opens at %d attempts with %d failures: %s', (attempts, failures, expected) => {
    expect(opensBreaker(POLICY, attempts, failures)).toBe(expected);
  });

  it('can be so strict that one failure opens it, and so patient that all must fail', () => {
    expect(opensBreaker({ ...POLICY, failurePercent: 1, minRequests: 1 }, 100, 1)).toBe(true);
    expect(opensBreaker({ ...POLICY, failurePercent: 100 }, 20, 19)).toBe(false);
  });
});
