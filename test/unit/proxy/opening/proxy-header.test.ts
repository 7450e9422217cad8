// Headers of the PROXY protocol: which are good, whose address they tell, and what is refused as soon as it can be told.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ProxyHeaderReading, readProxyHeader } from '../../../../gateway/proxy/opening/proxy-header.ts';
import { binaryHeader, furtherPart, ipv4Addresses, ipv6Addresses, SIGNATURE } from '../../../support/proxy-headers.ts';

const LONG_IPV6 = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';
const IPV4 = ipv4Addresses('203.0.113.7');
const NOOP = furtherPart(0x04, Buffer.alloc(5));

/** Of a network load balancer of AWS: a checksum, the endpoint's name, and padding. */
const FROM_AWS = binaryHeader({
  parts: [
    Buffer.from('ac1f0771ac1f0a1fc8f20050', 'hex'),
    furtherPart(0x03, Buffer.from('e8d6892d', 'hex')),
    furtherPart(0xea, Buffer.from('\x01vpce-08d2bf15fac5001c9')),
    furtherPart(0x04, Buffer.alloc(36)),
  ],
});

/** Of HAProxy behind TLS: what is known of it, and the common name of the client. */
const FROM_HAPROXY = binaryHeader({
  parts: [
    ipv4Addresses('127.0.0.1'),
    furtherPart(
      0x20,
      Buffer.concat([
        Buffer.of(7, 0, 0, 0, 0),
        furtherPart(0x21, Buffer.from('TLSv1.3')),
        furtherPart(0x22, Buffer.from('Example Common Name Client Cert')),
      ]),
    ),
  ],
});

const GOOD: readonly (readonly [what: string, header: Buffer, source: string | null])[] = [
  ['TCP4', text('PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n'), '203.0.113.7'],
  ['the longest TCP4', text('PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n'), '255.255.255.255'],
  ['ports of 0', text('PROXY TCP4 203.0.113.7 192.0.2.1 0 0\r\n'), '203.0.113.7'],
  ['TCP6', text('PROXY TCP6 2001:db8::7 ::1 56324 443\r\n'), '2001:db8::7'],
  ['TCP6 in full', text('PROXY TCP6 2001:0DB8:0:0:0:0:0:7 ::1 1 1\r\n'), '2001:db8::7'],
  ['the longest TCP6', text(`PROXY TCP6 ${LONG_IPV6} ${LONG_IPV6} 65535 65535\r\n`), LONG_IPV6],
  ['TCP6 of a mapped address', text('PROXY TCP6 ::ffff:203.0.113.7 ::1 1 1\r\n'), '203.0.113.7'],
  ['UNKNOWN', text('PROXY UNKNOWN\r\n'), null],
  ['UNKNOWN with whatever follows', text('PROXY UNKNOWN of no meaning\t\0 at all\r\n'), null],
  ['the longest UNKNOWN', text(`PROXY UNKNOWN ${LONG_IPV6} ${LONG_IPV6} 65535 65535\r\n`), null],
  ['binary IPv4', binaryHeader({ parts: [IPV4] }), '203.0.113.7'],
  [
    'binary IPv6',
    binaryHeader({ family: 0x21, parts: [ipv6Addresses('20010db8000000000000000000000007')] }),
    '2001:db8::7',
  ],
  [
    'binary IPv6 of a mapped address',
    binaryHeader({ family: 0x21, parts: [ipv6Addresses('00000000000000000000ffffcb007107')] }),
    '203.0.113.7',
  ],
  ['a UNIX socket', binaryHeader({ family: 0x31, parts: [Buffer.alloc(216, 'x')] }), null],
  ['LOCAL', binaryHeader({ command: 0x20, family: 0 }), null],
  ['LOCAL with addresses', binaryHeader({ command: 0x20, parts: [IPV4] }), null],
  ['LOCAL with what no family has', binaryHeader({ command: 0x20, family: 0xff, parts: [Buffer.alloc(3)] }), null],
  ['a connection of no family', binaryHeader({ family: 0 }), null],
  ['further parts', binaryHeader({ parts: [IPV4, NOOP, furtherPart(0xe0, Buffer.from('own'))] }), '203.0.113.7'],
  ['4 KiB of them', binaryHeader({ parts: [IPV4, furtherPart(0x04, Buffer.alloc(4096 - 15))] }), '203.0.113.7'],
  ['a good checksum (AWS)', FROM_AWS, '172.31.7.113'],
  ['what HAProxy tells of TLS', FROM_HAPROXY, '127.0.0.1'],
];

const BAD: readonly (readonly [what: string, header: Buffer])[] = [
  ['a request', text('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
  ['a request that begins alike', text('PROPFIND / HTTP/1.1\r\n')],
  ['a hello of TLS', Buffer.of(0x16, 3, 1)],
  ['lower case', text('proxy TCP4 203.0.113.7 192.0.2.1 1 1\r\n')],
  ['a tabulator', text('PROXY\tTCP4 203.0.113.7 192.0.2.1 1 1\r\n')],
  ['two spaces', text('PROXY TCP4  203.0.113.7 192.0.2.1 1 1\r\n')],
  ['a space at the end', text('PROXY TCP4 203.0.113.7 192.0.2.1 1 1 \r\n')],
  ['another family', text('PROXY UDP4 203.0.113.7 192.0.2.1 1 1\r\n')],
  ['UNKNOWN with a tail', text('PROXY UNKNOWNS\r\n')],
  ['no family', text('PROXY \r\n')],
  ['an address of the other family', text('PROXY TCP4 2001:db8::7 192.0.2.1 1 1\r\n')],
  ['a destination of the other family', text('PROXY TCP6 2001:db8::7 192.0.2.1 1 1\r\n')],
  ['a zone', text('PROXY TCP6 fe80::1%eth0 ::1 1 1\r\n')],
  ['zeros in front of an address', text('PROXY TCP4 203.0.113.07 192.0.2.1 1 1\r\n')],
  ['zeros in front of a port', text('PROXY TCP4 203.0.113.7 192.0.2.1 01 1\r\n')],
  ['a port that is none', text('PROXY TCP4 203.0.113.7 192.0.2.1 65536 1\r\n')],
  ['a negative port', text('PROXY TCP4 203.0.113.7 192.0.2.1 -1 1\r\n')],
  ['a port too few', text('PROXY TCP4 203.0.113.7 192.0.2.1 1\r\n')],
  ['a port too many', text('PROXY TCP4 203.0.113.7 192.0.2.1 1 1 1\r\n')],
  ['a bare LF', text('PROXY TCP4 203.0.113.7 192.0.2.1 1 1\n')],
  ['a bare LF in UNKNOWN', text('PROXY UNKNOWN a\nb\r\n')],
  ['a bare CR', text('PROXY UNKNOWN a\rb\r\n')],
  ['107 octets without an end', text('PROXY UNKNOWN'.padEnd(107, ' '))],
  ['108 octets with one', text(`${'PROXY UNKNOWN'.padEnd(106, ' ')}\r\n`)],
  ['another signature', Buffer.from('\r\n\r\n\0\r\nQUIX\n', 'latin1')],
  ['version 1 in binary', binaryHeader({ command: 0x11, parts: [IPV4] })],
  ['version 3', binaryHeader({ command: 0x31, parts: [IPV4] })],
  ['another command', binaryHeader({ command: 0x22, parts: [IPV4] })],
  ['a datagram', binaryHeader({ family: 0x12, parts: [IPV4] })],
  ['a family without transport', binaryHeader({ family: 0x10, parts: [IPV4] })],
  ['a family of nobody', binaryHeader({ family: 0x41, parts: [IPV4] })],
  ['too short for its addresses', binaryHeader({ family: 0x21, parts: [IPV4] })],
  ['more than 4 KiB', binaryHeader({ parts: [IPV4, furtherPart(0x04, Buffer.alloc(4096 - 14))] })],
  ['half a part', binaryHeader({ parts: [IPV4, NOOP.subarray(0, 2)] })],
  ['a part that is longer than the header', binaryHeader({ parts: [IPV4, NOOP.subarray(0, 5)] })],
  ['a wrong checksum', binaryHeader({ parts: [IPV4, furtherPart(0x03, Buffer.alloc(4))] })],
  ['a checksum of two octets', binaryHeader({ parts: [IPV4, furtherPart(0x03, Buffer.alloc(2))] })],
  ['an octet that the checksum does not know', Buffer.from(FROM_AWS.with(20, 1))],
];

function text(line: string): Buffer {
  return Buffer.from(line, 'latin1');
}

/** How it is read when it arrives octet by octet: the first reading that is not `unfinished`, and after how many octets. */
function readSlowly(octets: Buffer): { reading: ProxyHeaderReading; after: number } {
  for (let after = 1; after <= octets.length; after++) {
    const reading = readProxyHeader(octets.subarray(0, after));
    if (reading !== 'unfinished') return { reading, after };
  }
  return { reading: 'unfinished', after: octets.length };
}

describe('a PROXY header', () => {
  it.each(GOOD)('is good with %s', (_what, header, source) => {
    expect(readProxyHeader(header)).toEqual({ lengthBytes: header.length, source });
  });

  it.each(GOOD)('leaves what follows to others: %s', (_what, header, source) => {
    const followed = Buffer.concat([header, text('GET / HTTP/1.1\r\n')]);
    expect(readProxyHeader(followed)).toEqual({ lengthBytes: header.length, source });
  });

  it.each(GOOD)('is read octet by octet, and whole only with the last one: %s', (_what, header, source) => {
    expect(readSlowly(header)).toEqual({ reading: { lengthBytes: header.length, source }, after: header.length });
  });

  it.each(BAD)('is malformed with %s', (_what, header) => {
    expect(readProxyHeader(header)).toBe('malformed');
    expect(readSlowly(header).reading).toBe('malformed');
  });

  it('is malformed with the first octet that cannot be one', () => {
    expect(readSlowly(text('GET / HTTP/1.1\r\n')).after).toBe(1);
    expect(readSlowly(text('PROPFIND /')).after).toBe(4);
    expect(readSlowly(binaryHeader({ command: 0x22 })).after).toBe(SIGNATURE.length + 1);
    expect(readSlowly(binaryHeader({ parts: [IPV4], length: 4097 })).after).toBe(16);
  });

  it('needs octets', () => {
    expect(readProxyHeader(Buffer.alloc(0))).toBe('unfinished');
  });

  it('is never taken for another one when it is cut: what was malformed stays so, what was whole stays the same', () => {
    const start = fc.constantFrom(...GOOD, ...BAD).map(([, header]) => header);
    const spoilt = fc.tuple(start, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([header, at, octet]) => {
      const copy = Buffer.from(header);
      copy[at % copy.length] = octet;
      return copy;
    });
    const property = fc.property(fc.oneof(start, spoilt), fc.uint8Array({ maxLength: 40 }), (header, further) => {
      const all = Buffer.concat([header, further]);
      const { reading, after } = readSlowly(all);
      expect(readProxyHeader(all)).toEqual(reading);
      if (typeof reading === 'object') expect(reading.lengthBytes).toBe(after);
    });
    fc.assert(property, { numRuns: 500 });
  });
});
