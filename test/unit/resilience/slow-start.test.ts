import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FULL_TENTHS, nextStepMs, warmTenths } from '../../../gateway/resilience/slow-start.ts';

const POLICY = { windowMs: 10_000, minPercent: 10 };

describe('slow start', () => {
  it.each([
    [0, 1],
    [999, 1],
    [1000, 1],
    [1999, 1],
    [2000, 2],
    [5500, 5],
    [9000, 9],
    [9999, 9],
    [10_000, 10],
    [1e9, 10],
  ])('after %d ms of ten seconds gives %d tenths of the weight', (warmMs, tenths) => {
    expect(warmTenths(POLICY, warmMs)).toBe(tenths);
  });

  it.each([
    [10, 0, 1],
    [25, 0, 2],
    [50, 0, 5],
    [50, 5000, 5],
    [50, 6000, 6],
    [100, 0, 10],
  ])('that begins with %d %% gives after %d ms %d tenths', (minPercent, warmMs, tenths) => {
    expect(warmTenths({ ...POLICY, minPercent }, warmMs)).toBe(tenths);
  });

  it('without a window gives the full weight at once', () => {
    const off = { windowMs: 0, minPercent: 10 };
    expect([warmTenths(off, 0), nextStepMs(off, 0)]).toEqual([FULL_TENTHS, Number.POSITIVE_INFINITY]);
  });

  it.each([
    [10, 0, 2000],
    [10, 1500, 500],
    [10, 9000, 1000],
    [50, 0, 6000],
    [10, 10_000, Number.POSITIVE_INFINITY],
    [100, 0, Number.POSITIVE_INFINITY],
  ])('that begins with %d %% takes its next step after %d ms in %d ms', (minPercent, warmMs, nextMs) => {
    expect(nextStepMs({ ...POLICY, minPercent }, warmMs)).toBe(nextMs);
  });

  it('goes from step to step to the full weight at the end of its window, never down, never past it', () => {
    const policies = fc.record({
      windowMs: fc.integer({ min: 1, max: 86_400_000 }),
      minPercent: fc.integer({ min: 10, max: 100 }),
    });
    fc.assert(
      fc.property(policies, (policy) => {
        const steps: number[] = [];
        let warmMs = 0;
        let next = 0;
        while (next !== Number.POSITIVE_INFINITY && steps.length < 50) {
          warmMs += next;
          steps.push(warmTenths(policy, warmMs));
          next = nextStepMs(policy, warmMs);
        }
        expect(steps).toEqual(steps.toSorted((a, b) => a - b));
        expect(steps[0]).toBe(Math.max(1, policy.windowMs === 0 ? 10 : Math.floor(policy.minPercent / 10)));
        expect(steps.at(-1)).toBe(FULL_TENTHS);
        expect(warmMs).toBeLessThanOrEqual(policy.windowMs + steps.length);
      }),
    );
  });
});
