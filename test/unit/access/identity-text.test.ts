// Names as the value of a field, and read from one.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identityText, readIdentityText } from '../../../gateway/access/identity-text.ts';

describe('a name', () => {
  it('is read as it was written, whatever its letters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        const value = identityText(name);
        fc.pre(value !== undefined);
        expect(readIdentityText(value)).toBe(name);
      }),
    );
  });

  it.each([
    ['of UTF-8', 'Zo\u00c3\u00ab', 'Zoë'],
    ['of Latin-1', 'Zo\u00eb', 'Zoë'],
    ['of ASCII', 'anna', 'anna'],
  ])('%s is read in letters', (_what, value, name) => {
    expect(readIdentityText(value)).toBe(name);
  });
});
