// The head of a stream: the same fields and rules as those of HTTP/1.1, whatever nghttp2 lets pass.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestHead } from '../../../../gateway/http1/request-head.ts';
import { readStreamHead } from '../../../../gateway/proxy/http2/stream-head.ts';

const LIMITS = { firstLineBytes: 8192, fieldsBytes: 32_768, fieldCount: 100 };
const PSEUDO = [':method', 'GET', ':scheme', 'https', ':path', '/a?b', ':authority', 's'];
const WEBSOCKET = [':method', 'CONNECT', ...PSEUDO.slice(2), ':protocol', 'websocket'];

function read(...list: string[]) {
  const head = new RequestHead(LIMITS);
  return { refused: readStreamHead(list, head, ''), head };
}

describe('a head of a stream', () => {
  it('is read like one of HTTP/1.1, with the authority as Host', () => {
    const { refused, head } = read(...PSEUDO, 'x-b', '1', 'x-a', '', 'x-b', '2');
    expect(refused).toBeNull();
    expect([head.method, head.target, head.host, head.minor]).toEqual(['GET', '/a?b', 's', 1]);
    expect(head.fields.lines(0, head.fields.count)).toBe('host: s\r\nx-b: 1\r\nx-a: \r\nx-b: 2\r\n');
  });

  it('has one cookie field', () => {
    expect(read(...PSEUDO, 'cookie', 'a=1', 'x', 'y', 'cookie', 'b=2').head.fields.get('cookie')).toBe('a=1; b=2');
  });

  it('that asks for a WebSocket reads as the upgrade of HTTP/1.1, with a key of its own', () => {
    const { refused, head } = read(...WEBSOCKET, 'sec-websocket-key', 'theirs', 'sec-websocket-version', '13');
    expect(refused).toBe('tunnel');
    expect([head.method, head.target, head.host]).toEqual(['GET', '/a?b', 's']);
    const [connection, upgrade] = [head.fields.get('connection'), head.fields.get('upgrade')];
    expect([connection, upgrade, head.fields.get('sec-websocket-version')]).toEqual(['Upgrade', 'websocket', '13']);
    expect(Buffer.from(head.fields.get('sec-websocket-key') ?? '', 'base64')).toHaveLength(16);
    expect(read(...WEBSOCKET).head.fields.get('sec-websocket-key')).not.toBe(head.fields.get('sec-websocket-key'));
  });

  it('keeps what TE says for those who ask', () => {
    expect(read(...PSEUDO, 'te', 'trailers').head.fields.get('te')).toBe('trailers');
  });

  it.each([
    ['another host than the authority', [...PSEUDO, 'host', 't'], 'bad_request'],
    ['another scheme', [...PSEUDO.slice(0, 2), ':scheme', 'ftp', ...PSEUDO.slice(4)], 'bad_request'],
    ['CONNECT', [':method', 'CONNECT', ':authority', 's:1'], 'method_not_allowed'],
    ['a WebSocket of another method', [...PSEUDO, ':protocol', 'websocket'], 'bad_request'],
    ['a tunnel of another kind', [...WEBSOCKET.slice(0, -1), 'connect-udp'], 'not_implemented'],
    ['a WebSocket with content', [...WEBSOCKET, 'content-length', '5'], 'bad_request'],
    ['a WebSocket of no authority', [...WEBSOCKET.slice(0, 6), ':protocol', 'websocket'], 'bad_request'],
    ['no authority', PSEUDO.slice(0, 6), 'bad_request'],
    ['a malformed authority', [...PSEUDO.slice(0, 6), ':authority', 'a b'], 'bad_request'],
    ['an absolute path', [...PSEUDO.slice(0, 4), ':path', 'http://s/', ':authority', 's'], 'bad_request'],
    ['a transfer coding', [...PSEUDO, 'transfer-encoding', 'chunked'], 'bad_request'],
    ['a line end in a value', [...PSEUDO, 'a', 'x\r\nevil: y'], 'bad_request'],
    ['a line end in a name', [...PSEUDO, 'a: x\r\nevil', 'y'], 'bad_request'],
    ['a line end in a cookie', [...PSEUDO, 'cookie', 'x\r\nevil: y'], 'bad_request'],
    ['a line end in the authority', [...PSEUDO.slice(0, 6), ':authority', 's\r\nevil: y'], 'bad_request'],
    [
      'a request in the path',
      [...PSEUDO.slice(0, 4), ':path', '/ HTTP/1.1\r\nevil: y\r\n\r\n', ':authority', 's'],
      'bad_request',
    ],
    ['too long a path', [...PSEUDO.slice(0, 4), ':path', `/${'a'.repeat(9000)}`, ':authority', 's'], 'uri_too_long'],
    ['too many fields', [...PSEUDO, ...Array.from({ length: 202 }, () => 'x')], 'fields_too_large'],
    ['too large fields', [...PSEUDO, 'a', 'x'.repeat(33_000)], 'fields_too_large'],
  ])('is refused for %s', (_what, list, refused) => {
    expect(read(...list).refused).toBe(refused);
  });

  it('never has more fields than the list, whatever stands in it', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ':', ' ', '\r', '\n', '\r\n', '\0', '\xe9'), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 6 }), (fields) => {
        const { refused, head } = read(...PSEUDO, ...fields.flat());
        if (refused === null) expect(head.fields.count).toBeLessThanOrEqual(fields.length + 1);
      }),
    );
  });
});
