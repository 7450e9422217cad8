import { describe, expect, it } from 'vitest';
import { requestIdOf } from '../../../gateway/proxy/request-id.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MANY = 10_000;

describe('requestIdOf', () => {
  it('keeps a plain id of a trusted peer', () => {
    expect(requestIdOf('a.b:c/d=+-_9', true)).toBe('a.b:c/d=+-_9');
  });

  it.each<[string, string | undefined, boolean]>([
    ['nobody sent one', undefined, true],
    ['the peer is not trusted', 'abc', false],
    ['it is empty', '', true],
    ['it has other characters', 'a b', true],
    ['it is longer than 128', 'a'.repeat(129), true],
  ])('makes a random UUID where %s', (_why, received, isTrusted) => {
    expect(requestIdOf(received, isTrusted)).toMatch(UUID);
  });

  it('makes another one each time, and every bit that is free takes both values in half of them', () => {
    const made = Array.from({ length: MANY }, () => requestIdOf(undefined, false));
    expect(new Set(made).size).toBe(MANY);
    expect(made.filter((id) => !UUID.test(id))).toEqual([]);
    const ones = Array.from({ length: 128 }, () => 0);
    for (const id of made) {
      const bits = BigInt(`0x${id.replaceAll('-', '')}`);
      for (let bit = 0; bit < 128; bit++) if ((bits >> BigInt(127 - bit)) & 1n) ones[bit] = (ones[bit] ?? 0) + 1;
    }
    // Four bits of the version, two of the variant; six deviations of ten thousand throws of a coin are 300.
    const fixed = ones.flatMap((count, bit) => (Math.abs(count - MANY / 2) > 300 ? [bit] : []));
    expect(fixed).toEqual([48, 49, 50, 51, 64, 65]);
  });
});
