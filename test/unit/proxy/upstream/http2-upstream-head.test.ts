// Heads to and from an HTTP/2 endpoint: what is said in its lists, and what of HTTP/1.1 is not.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReceivedHead, requestList } from '../../../../gateway/proxy/upstream/http2-upstream-head.ts';
import type { UpstreamRequest } from '../../../../gateway/proxy/upstream/upstream.ts';

function listOf(parts: Partial<UpstreamRequest>): string[] {
  return requestList({
    method: 'GET',
    target: '/',
    host: 's',
    lines: '',
    content: null,
    timeouts: { connectMs: 1, responseMs: 1, idleMs: 1 },
    tls: null,
    http2: { takesTrailers: false, grpcTimeoutMs: null },
    dropTrailers: null,
    needsFresh: false,
    ...parts,
  });
}

describe('the list of a request', () => {
  it('begins with the four fields of HTTP/2', () => {
    const parts = { method: 'POST', target: '/a?b', host: 'h:1', tls: { servername: '' } };
    expect(listOf(parts)).toEqual([...[':method', 'POST', ':scheme', 'https', ':path', '/a?b', ':authority', 'h:1']]);
    expect(listOf({})).toContain('http');
    expect(listOf({ host: '' })).not.toContain(':authority');
  });

  it('has the names in lower case, the values as they are, in their order', () => {
    const lines = 'X-A: 1\r\nx-b:  caf\xe9 \r\nX-A:\r\n';
    expect(listOf({ lines }).slice(8)).toEqual(['x-a', '1', 'x-b', 'caf\xe9', 'x-a', '']);
  });

  it('has no field of a connection, whoever set it', () => {
    const names = ['Connection', 'Keep-Alive', 'Proxy-Connection', 'Transfer-Encoding', 'Upgrade', 'HTTP2-Settings'];
    const lines = [...names, 'TE', 'Host'].map((name) => `${name}: x\r\n`).join('');
    expect(listOf({ lines })).toHaveLength(8);
  });

  it('says that trailers are taken, and what is left of the time', () => {
    const lines = 'grpc-timeout: 5S\r\nX-A: 1\r\n';
    expect(listOf({ lines, http2: { takesTrailers: true, grpcTimeoutMs: 1500 } }).slice(8)).toEqual([
      ...['grpc-timeout', '1500000u', 'x-a', '1', 'te', 'trailers'],
    ]);
    expect(listOf({ lines }).slice(8)).toEqual(['grpc-timeout', '5S', 'x-a', '1']);
  });
});

describe('the head of a response', () => {
  const status = [':status', '200'];

  it('is a table with a reason, whose content has chunks where no length is told', () => {
    const received = new ReceivedHead();
    expect(received.readHead([...status, 'x-a', '1', 'x-a', '2'], 'GET', false)).toBeNull();
    const { head } = received;
    expect([head.status, head.reason, head.framing.kind]).toEqual([200, 'OK', 'chunked']);
    expect(head.fields.get('x-a')).toBe('1, 2');
  });

  it('that is all there is says so', () => {
    const received = new ReceivedHead();
    expect(received.readHead([...status, 'grpc-status', '14'], 'POST', true)).toBeNull();
    expect(received.head.framing).toEqual({ kind: 'length', length: 0 });
    expect(received.head.fields.get('content-length')).toBe('0');
    expect(received.head.fields.get('grpc-status')).toBe('14');
  });

  it.each([
    ['HEAD', '200'],
    ['GET', '204'],
    ['GET', '304'],
  ])('to %s of %s has no content and is told of none', (method, code) => {
    const received = new ReceivedHead();
    expect(received.readHead([':status', code], method, true)).toBeNull();
    expect(received.head.framing.kind).toBe('none');
    expect(received.head.fields.get('content-length')).toBeUndefined();
  });

  it.each([
    ['no status', []],
    ['a status of letters', [':status', 'abc']],
    ['a value with a line end', [':status', '200', 'x-a', '1\r\nx-b: 2']],
    ['a name with a line end', [':status', '200', 'x-a: 1\r\nx-b', '2']],
    ['two lengths', [':status', '200', 'content-length', '1', 'content-length', '2']],
  ])('with %s is refused', (_what, list) => {
    expect(new ReceivedHead().readHead(list, 'GET', false)).not.toBeNull();
  });

  it('never has more fields than the list, nor others', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 8 }), (fields) => {
        const received = new ReceivedHead();
        if (received.readHead([':status', '200', ...fields.flat()], 'GET', false) !== null) return true;
        return fields.every(([name, value], at) => {
          const isSame = received.head.fields.name(at) === name;
          return isSame && received.head.fields.value(at) === value.replace(/^[ \t]+|[ \t]+$/g, '');
        });
      }),
    );
  });
});

describe('trailers', () => {
  it('are a table too', () => {
    const received = new ReceivedHead();
    expect(received.readTrailers(['grpc-status', '0', 'grpc-message', ''])).toBeNull();
    expect(received.trailers.get('grpc-status')).toBe('0');
    expect(received.readTrailers(['x-a', '1\r\nx-b: 2'])).not.toBeNull();
  });
});
