import { describe, expect, it } from 'vitest';
import {
  prepareRateLimitFields,
  rateLimitLine,
  retryAfterSeconds,
} from '../../../../gateway/proxy/routes/rate-limit-fields.ts';
import { compileLimit, type LimitOptions } from '../../../../gateway/resilience/rate-limit.ts';

function named(name: string, part: Partial<LimitOptions> = {}) {
  const options = { id: name, algorithm: 'token_bucket', count: 100, periodMs: 1000, ...part } as LimitOptions;
  return { name, limit: compileLimit(options) };
}

function verdict(remaining: number, resetMs: number) {
  return { delayMs: 0, remaining, resetMs };
}

describe('the RateLimit-Policy field', () => {
  it.each([
    [{}, ';q=100;w=1'],
    [{ burst: 200 }, ';q=100;w=1;weir-burst=200'],
    [{ burst: 100 }, ';q=100;w=1'],
    [{ algorithm: 'leaky_bucket', burst: 20 }, ';q=100;w=1;weir-queue=20'],
    [{ algorithm: 'leaky_bucket' }, ';q=100;w=1;weir-queue=100'],
    [{ algorithm: 'sliding_window', periodMs: 60_000 }, ';q=100;w=60'],
    [{ count: 1, periodMs: 86_400_000 }, ';q=1;w=86400'],
    [{ count: 1_000_000 }, ';q=1000000;w=1'],
    [{ count: 5, periodMs: 100 }, ';q=50;w=1'],
    [{ count: 100, periodMs: 1500 }, ';q=133;w=2'],
  ] satisfies [Partial<LimitOptions>, string][])('tells the rate of %o in whole seconds: %s', (part, policy) => {
    expect(prepareRateLimitFields([named('default', part)]).policyLine).toBe(
      `RateLimit-Policy: "default"${policy}\r\n`,
    );
  });

  it('lists all limits of a route', () => {
    const { policyLine } = prepareRateLimitFields([named('burst'), named('day', { periodMs: 86_400_000 })]);
    expect(policyLine).toBe('RateLimit-Policy: "burst";q=100;w=1, "day";q=100;w=86400\r\n');
  });

  it('is not there without limits', () => {
    expect(prepareRateLimitFields([])).toEqual({ policyLine: '', items: [] });
  });

  it('writes any name as a String of RFC 9651', () => {
    const { policyLine } = prepareRateLimitFields([named('a "b" \\ c\r\nX: é😀')]);
    expect(policyLine).toBe('RateLimit-Policy: "a \\"b\\" \\\\ c__X: __";q=100;w=1\r\n');
  });
});

describe('the RateLimit field', () => {
  it('tells of each limit what is left, and for how long in seconds rounded up', () => {
    const fields = prepareRateLimitFields([named('burst'), named('day')]);
    const line = rateLimitLine(fields, [verdict(50, 10), verdict(0, 30_001), verdict(7, 7)]);
    expect(line).toBe('RateLimit: "burst";r=50;t=1, "day";r=0;t=31\r\n');
  });

  it('is not there without limits', () => {
    expect(rateLimitLine(prepareRateLimitFields([]), [verdict(1, 1)])).toBe('');
  });
});

describe('Retry-After of a refused request', () => {
  it.each([
    [0.1, 1],
    [999, 1],
    [1000, 1],
    [1000.1, 2],
    [86_400_000, 86_400],
  ])('rounds %d ms up to %d s, at least one', (waitMs, seconds) => {
    expect(retryAfterSeconds(waitMs)).toBe(seconds);
  });
});
