import { describe, expect, it } from 'vitest';
import { parseDuration, parseRate, parseSize } from '../../../../gateway/core/units.ts';
import { durationWords, lackOf, rateWords, sizeWords } from '../../../../gateway/proxy/explain/words.ts';

describe('the words of an explanation', () => {
  it.each([
    [1, '1ms'],
    [250, '250ms'],
    [1000, '1s'],
    [1500, '1.5s'],
    [1234, '1234ms'],
    [90_000, '90s'],
    [120_000, '2m'],
    [86_400_000, '24h'],
    [Number.POSITIVE_INFINITY, 'off'],
  ])('write %d ms as %s, which means the same', (ms, words) => {
    expect(durationWords(ms)).toBe(words);
    if (words !== 'off') expect(parseDuration(words)).toBe(ms);
  });

  it.each([
    [0, '0B'],
    [1023, '1023B'],
    [65_536, '64KiB'],
    [1_572_864, '1.5MiB'],
  ])('write %d bytes as %s', (bytes, words) => {
    expect(sizeWords(bytes)).toBe(words);
    expect(parseSize(words)).toBe(bytes);
  });

  it.each(['100/s', '5/m', '10/30s', '1000/h', '3/250ms'])('write the rate %s as it was written', (written) => {
    const { count, periodMs } = parseRate(written) ?? { count: 0, periodMs: 0 };
    expect(rateWords(count, periodMs)).toBe(written);
  });

  it('name all that an endpoint lacks, and nothing where it carries everything', () => {
    const facts = { tags: ['v2', 'eu'], meta: { zone: 'a' } };
    expect(lackOf(facts, { tags: ['v2'], meta: { zone: 'a' } })).toBeNull();
    expect(lackOf(facts, { tags: ['v1', 'v2', 'us'], meta: { zone: 'b', toString: 'x' } })).toBe(
      'lacks the tag v1 and the tag us and meta zone=b and meta toString=x',
    );
  });
});
