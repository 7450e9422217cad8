// The known word that a misspelt one is nearest to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, suggest } from '../../../gateway/config/suggest.ts';

describe('suggest', () => {
  const known = ['retry', 'rewrite', 'fallback', 'timeout', 'on', 'max'];

  it.each([
    ['retrys', 'retry'],
    ['retyr', 'retry'],
    ['fallbck', 'fallback'],
    ['FALLBACK', 'fallback'],
    ['time_out', 'timeout'],
    ['rewrte', 'rewrite'],
  ])('finds for %s the word %s', (word, meant) => {
    expect(suggest(word, known)).toBe(meant);
  });

  it.each(['', 'x', 'no', 'weight', 'rate', 'a'.repeat(100_000)])('finds nothing for %.20s', (word) => {
    expect(suggest(word, known)).toBeUndefined();
  });
});

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['abc', 'acb', 1],
    ['abcd', 'bacd', 1],
    ['kitten', 'sitting', 3],
  ])('of %j and %j is %i', (one, other, edits) => {
    expect(editDistance(one, other)).toBe(edits);
  });

  it('is symmetric, and zero only for equal words', () => {
    const word = fc.string({ maxLength: 8 });
    fc.assert(
      fc.property(word, word, (one, other) => {
        expect(editDistance(one, other)).toBe(editDistance(other, one));
        expect(editDistance(one, other) === 0).toBe(one === other);
      }),
    );
  });
});
