import { describe, expect, it } from 'vitest';
import {
  EXTENSION_BEGINS,
  EXTENSION_ENDS,
  EXTENSION_IS_BROKEN,
  nextInExtension,
} from '../../../gateway/http1/chunk-extension.ts';
import { CONTROLS, OCTETS, octetOf, TOKEN } from './parsing.ts';

/** Reads what stands between the first semicolon and the line feed of a chunk's line. */
function isExtension(text: string): boolean {
  let state = EXTENSION_BEGINS;
  for (const octet of Buffer.from(text, 'latin1')) {
    if (state === EXTENSION_ENDS) return false;
    state = nextInExtension(state, octet);
    if (state === EXTENSION_IS_BROKEN) return false;
  }
  return state === EXTENSION_ENDS;
}

function acceptedIn(text: (octet: string) => string): string[] {
  return OCTETS.map(octetOf).filter((octet) => isExtension(`${text(octet)}\r`));
}

describe('a chunk extension', () => {
  it.each([
    'a',
    'foo=bar',
    'a;b;c=d',
    'a="b c"',
    'a=""',
    'a="\\"\\\\"',
    'a="b;c=\\"d"; e',
    ' a',
    '\t a \t=\t b \t; c',
    'a="b" ;c',
    'a ;b',
    'a="caf\xe9"',
    "!#$%&'*+-.^_`|~=1",
  ])('may be %j (case 151)', (text) => expect(isExtension(`${text}\r`)).toBe(true));

  it.each([
    '',
    ' ',
    ';',
    'a;',
    'a;;b',
    '=',
    '=b',
    'a=',
    'a= ',
    'a=;b',
    'a==b',
    'a=b=c',
    'a b',
    'a=b c',
    'a ',
    'a=b ',
    'a="b" ',
    'a="',
    'a="b',
    'a="b\\',
    'a="b\\"',
    'a="b"c',
    'a="b""c"',
    'a=b"c"',
    '"a"',
    'a,b',
    'a\xe9',
    'a=\xe9',
  ])('may not be %j', (text) => expect(isExtension(`${text}\r`)).toBe(false));

  it('ends at a CR and at no other octet, if it may end there', () => {
    for (const text of ['a', 'a=b', 'a="b"']) {
      const ending = OCTETS.filter((octet) => isExtension(text + octetOf(octet)));
      expect([text, ending]).toEqual([text, [0x0d]]);
    }
  });

  it('has names and values of token octets', () => {
    const token = [...TOKEN].sort();
    expect(acceptedIn((octet) => `a${octet}b=c`).sort()).toEqual(
      [...token, ';', '='].filter((each) => each !== '=').sort(),
    );
    expect(acceptedIn((octet) => `a=b${octet}c`).sort()).toEqual([...token, ';'].sort());
  });

  it('quotes and escapes every octet that is no control', () => {
    const noControl = OCTETS.map(octetOf).filter((octet) => octet === '\t' || !CONTROLS.includes(octet.charCodeAt(0)));
    expect(acceptedIn((octet) => `a="b\\${octet}c"`)).toEqual(noControl);
    const plain = noControl.filter((octet) => octet !== '"' && octet !== '\\');
    // An escape takes the next octet with it.
    expect(acceptedIn((octet) => `a="b${octet}c"`)).toEqual([...plain, '\\'].sort());
  });

  it('may not have a control octet but blanks and tabs anywhere, least of all a CR or LF', () => {
    const text = ' ab ="c d" ; e=f\r';
    for (let at = 0; at < text.length; at++) {
      const accepted = CONTROLS.filter((octet) => isExtension(text.slice(0, at) + octetOf(octet) + text.slice(at)));
      expect([at, accepted.filter((octet) => octet !== 0x09)]).toEqual([at, []]);
    }
  });
});
