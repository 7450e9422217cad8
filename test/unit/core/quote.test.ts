// Words of others in our sentences: short, on one line, harmless.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeValue, quote } from '../../../gateway/core/quote.ts';

describe('quote', () => {
  it.each([
    ['web', '"web"'],
    ['a\r\nb', '"a b"'],
    ['\u001b[31mred\u0007', '"[31mred"'],
    ['right\u202eleft', '"right left"'],
    ['lone \ud800 half', '"lone   half"'],
    ['', '""'],
  ])('writes %j as %j', (text, quoted) => {
    expect(quote(text)).toBe(quoted);
  });

  it('cuts long text by characters, not in the middle of one', () => {
    expect(quote('𝔘'.repeat(100), 3)).toBe('"𝔘𝔘𝔘…"');
    expect(quote('x'.repeat(1_000_000)).length).toBeLessThan(64);
  });

  it('never lets a control character through, nor more than its limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 80 }), (text, limit) => {
        const quoted = quote(text, limit);
        expect(quoted).not.toMatch(/\p{Cc}/u);
        expect([...quoted].length).toBeLessThanOrEqual(limit + 3);
      }),
    );
  });
});

describe('describeValue', () => {
  it.each([
    [null, 'null'],
    [undefined, 'nothing'],
    [[1], 'a list'],
    [{}, 'an object'],
    [70000, '70000'],
    [true, 'true'],
    ['8 0', '"8 0"'],
  ])('calls %j %s', (value, words) => {
    expect(describeValue(value)).toBe(words);
  });
});
