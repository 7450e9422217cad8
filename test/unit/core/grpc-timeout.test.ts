// The time in a grpc-timeout field, read and written.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatGrpcTimeout, parseGrpcTimeout } from '../../../gateway/core/grpc-timeout.ts';

describe('a grpc-timeout', () => {
  it.each([
    ['1H', 3_600_000],
    ['2M', 120_000],
    ['5S', 5000],
    ['250m', 250],
    ['1500u', 1.5],
    ['99999999n', 99.999_999],
    ['0m', 0],
  ])('%s is %d ms', (text, ms) => {
    expect(parseGrpcTimeout(text)).toBeCloseTo(ms, 6);
  });

  it.each(['', '5', 'S', '5s', '-5S', '1.5S', ' 5S', '5S ', '123456789m'])('%j is none', (text) => {
    expect(parseGrpcTimeout(text)).toBeUndefined();
  });

  it.each([
    [5000, '5000000u'],
    [0.0004, '1u'],
    [-3, '1u'],
    [250_000, '250000m'],
    [200_000_000, '200000S'],
    [Number.POSITIVE_INFINITY, '99999999H'],
  ])('of %d ms is written %s', (ms, text) => {
    expect(formatGrpcTimeout(ms)).toBe(text);
  });

  it('says on its way never more than it was told, and hardly less', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 3.5e14, noNaN: true }), (ms) => {
        const read = parseGrpcTimeout(formatGrpcTimeout(ms));
        return read !== undefined && read <= ms * (1 + 1e-9) && read >= ms * 0.99 - 0.001;
      }),
    );
  });
});
