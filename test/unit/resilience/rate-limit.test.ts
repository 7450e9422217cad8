import { describe, expect, it } from 'vitest';
import { compileLimit, type LimitOptions } from '../../../gateway/resilience/rate-limit.ts';

const DAY_MS = 86_400_000;

function compile(part: Partial<LimitOptions> = {}) {
  return compileLimit({ id: 'orders', algorithm: 'token_bucket', count: 100, periodMs: 1000, ...part } as LimitOptions);
}

describe('a compiled rate limit', () => {
  it.each([
    [1_000_000, 1000],
    [3, 1000],
    [100, 1000],
    [7, 60_000],
    [1, DAY_MS],
    [1001, DAY_MS],
  ])('takes %d in %d ms in whole ticks, finer than a third of a microsecond', (count, periodMs) => {
    const { stepTicks, ticksPerMs, msPerTick } = compile({ count, periodMs });
    expect(Number.isSafeInteger(stepTicks)).toBe(true);
    expect(stepTicks * count).toBeCloseTo(periodMs * ticksPerMs, 3);
    expect(msPerTick).toBeLessThan(1 / 3000);
  });

  it('has a burst of its count unless it is told another', () => {
    expect(compile()).toMatchObject({ burst: 100 });
    expect(compile({ burst: 200 })).toMatchObject({ burst: 200 });
    expect(compile({ algorithm: 'leaky_bucket', burst: 0 })).toMatchObject({ burst: 0 });
  });

  it('has keys of its own, and others when any of its numbers changes', () => {
    const limits = [
      compile(),
      compile({ id: 'carts' }),
      compile({ count: 101 }),
      compile({ periodMs: 60_000 }),
      compile({ burst: 101 }),
      compile({ algorithm: 'leaky_bucket' }),
      compile({ algorithm: 'sliding_window' }),
    ];
    expect(new Set(limits.map(({ saltHigh, saltLow }) => `${saltHigh} ${saltLow}`)).size).toBe(limits.length);
    expect(compile()).toEqual(compile({ burst: 100 }));
  });
});
