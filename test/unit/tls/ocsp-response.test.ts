// The shell of an OCSP response.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ocspFault } from '../../../gateway/tls/ocsp-response.ts';

const NO_RESPONSE = 'not an OCSP response in DER';
const GOOD = [0x30, 0x07, 0x0a, 0x01, 0x00, 0xa0, 0x02, 0x30, 0x00];

describe('an OCSP response', () => {
  it.each([
    ['a successful one', GOOD, null],
    ['one with a long length', [0x30, 0x81, 0x07, ...GOOD.slice(2)], null],
    ['one of the errors', [0x30, 0x03, 0x0a, 0x01, 0x03], 'an OCSP response without success (status 3)'],
    ['one without content', [0x30, 0x03, 0x0a, 0x01, 0x00], 'an OCSP response without content'],
    ['nothing', [], NO_RESPONSE],
    ['one that is cut off', GOOD.slice(0, -1), NO_RESPONSE],
    ['one with something behind it', [...GOOD, 0], NO_RESPONSE],
    ['another structure', [0x31, ...GOOD.slice(1)], NO_RESPONSE],
    ['a length that claims too much', [0x30, 0x84, 0xff, 0xff, 0xff, 0xff], NO_RESPONSE],
    ['text', [...Buffer.from('-----BEGIN')], NO_RESPONSE],
  ])('%s: %j', (_what, octets, fault) => {
    expect(ocspFault(Uint8Array.from(octets))).toBe(fault);
  });

  it('is judged whatever the octets are', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (octets) => {
        expect(() => ocspFault(octets)).not.toThrow();
        expect(ocspFault(Uint8Array.from([...GOOD, ...octets])) === null).toBe(octets.length === 0);
      }),
    );
  });
});
