import { describe, expect, it } from 'vitest';
import { IS_TARGET, IS_TOKEN, IS_VALUE, isBlank, trimBlanks } from '../../../gateway/http1/octets.ts';
import { CONTROLS, OCTETS, octetOf, TOKEN } from './parsing.ts';

function holding(table: Uint8Array): number[] {
  return OCTETS.filter((octet) => table[octet] === 1);
}

describe('the octets of a token', () => {
  it('are those of RFC 9110 section 5.6.2 and no others', () => {
    expect(holding(IS_TOKEN).map(octetOf).sort()).toEqual([...TOKEN].sort());
  });
});

describe('the octets of a value', () => {
  it('are all but the controls, and the tab', () => {
    expect(holding(IS_VALUE)).toEqual(OCTETS.filter((octet) => octet === 0x09 || !CONTROLS.includes(octet)));
  });
});

describe('the octets of a target', () => {
  it('are all but the controls, the space and the #', () => {
    const refused = [0x20, 0x23, ...CONTROLS];
    expect(holding(IS_TARGET)).toEqual(OCTETS.filter((octet) => !refused.includes(octet)));
  });
});

describe('a table', () => {
  it('holds nothing beyond its octets, as at the end of a text', () => {
    for (const table of [IS_TOKEN, IS_VALUE, IS_TARGET]) {
      expect([table[''.charCodeAt(0)], table[256], table[-1]]).toEqual([undefined, undefined, undefined]);
    }
  });
});

describe('a blank', () => {
  it('is a space or a tab and nothing else', () => {
    expect(OCTETS.filter(isBlank)).toEqual([0x09, 0x20]);
  });

  it.each([
    ['', ''],
    [' \t ', ''],
    ['a', 'a'],
    [' \ta b\t ', 'a b'],
    ['\xa0a\xa0', '\xa0a\xa0'],
    ['\x0ba\x0c', '\x0ba\x0c'],
  ])('is cut from around %j alone', (text, trimmed) => expect(trimBlanks(text)).toBe(trimmed));
});
