import { describe, expect, it } from 'vitest';
import { gatewaySchema } from '../../../../gateway/config/gateway-schema.ts';
import { asWritten, readAsked } from '../../../../gateway/proxy/explain/asked-request.ts';

const { limits } = gatewaySchema.parse({ listen: [{ address: '127.0.0.1:1' }], limits: { requestLine: '64B' } });

interface Asked {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: readonly string[];
  readonly client?: string | null;
}

function read({ method = 'GET', url = 'http://shop.test/', headers = [], client = null }: Asked) {
  return readAsked({ method, url, headers, client }, limits, (address) => address === '10.0.0.1');
}

describe('a request in words', () => {
  it.each([
    ['http://shop.test', [], 'shop.test', '/'],
    ['http://shop.test?x=1', [], 'shop.test', '/?x=1'],
    ['HTTPS://shop.test:8443/a/../b%7e?q#part', [], 'shop.test:8443', '/a/../b%7e?q'],
    ['http://[::1]:80/x', [], '[::1]:80', '/x'],
    ['/orders#part', ['Host: shop.test'], 'shop.test', '/orders'],
    ['http://one.test/x', ['host:  two.test '], 'two.test', '/x'],
    ['http://shop.test//double', [], 'shop.test', '//double'],
    ['*', ['Host: shop.test'], 'shop.test', '*'],
  ])('reads %s with %j', (url, headers, host, target) => {
    expect(read({ url, headers })).toMatchObject({ method: 'GET', host, target });
  });

  it('has the fields as the door would read them', () => {
    const request = read({ headers: ['X-User: one', 'x-user:two', 'Cookie: a=1; b=2'] });
    if (typeof request === 'string' || 'situation' in request) throw new Error('it was refused');
    expect([request.header('x-user'), request.header('cookie'), request.header('x-other')]).toEqual([
      'one, two',
      'a=1; b=2',
      undefined,
    ]);
  });

  it('sends text beyond ASCII as UTF-8, and shows it as it was written', () => {
    const request = read({ url: 'http://shop.test/größe', headers: ['x-name: Łódź'] });
    if (typeof request === 'string' || 'situation' in request) throw new Error('it was refused');
    expect(request.target).toBe('/grÃ¶Ã\u009fe');
    expect([asWritten(request.target), asWritten(request.header('x-name') ?? '')]).toEqual(['/größe', 'Łódź']);
  });

  it('comes from the client that is named, else from this machine', () => {
    expect(read({ client: '::ffff:10.0.0.1' })).toMatchObject({ peer: { address: '10.0.0.1', isTrusted: true } });
    expect(read({})).toMatchObject({ peer: { address: '127.0.0.1', isTrusted: false } });
  });

  it.each([
    ['Content-Length: 42', 42],
    ['Transfer-Encoding: chunked', null],
    ['Accept: */*', 0],
  ])('with %s announces %s octets', (header, announcedBytes) => {
    expect(read({ method: 'POST', headers: [header] })).toMatchObject({ announcedBytes });
  });

  it.each([
    ['a malformed host', { url: 'http://shop..test/' }, 'bad_request'],
    ['an empty host', { url: 'http:///x' }, 'bad_request'],
    ['two hosts', { headers: ['Host: a', 'Host: b'] }, 'bad_request'],
    ['a space in the target', { url: 'http://shop.test/a b' }, 'bad_request'],
    ['a space before the colon', { headers: ['x-user : 1'] }, 'bad_request'],
    ['two lengths', { headers: ['Content-Length: 1', 'Content-Length: 2'] }, 'bad_request'],
    ['a long line', { url: `http://shop.test/${'x'.repeat(64)}` }, 'uri_too_long'],
    ['too many fields', { headers: Array.from({ length: 101 }, (_, at) => `x-${at}: 1`) }, 'fields_too_large'],
    ['an unknown coding', { headers: ['Transfer-Encoding: br, chunked'] }, 'not_implemented'],
    ['CONNECT', { method: 'CONNECT' }, 'method_not_allowed'],
  ])('is refused by the door for %s', (_what, asked, situation) => {
    expect(read(asked)).toMatchObject({ situation, why: expect.any(String) });
  });

  it.each([
    [{ method: 'GE T' }, '"GE T" is no method'],
    [{ method: '' }, '"" is no method'],
    [{ url: 'shop.test/x' }, 'the URL must begin with http:// or /, not "shop.test/x"'],
    [{ url: 'ftp://shop.test/' }, 'the URL must begin with http:// or /, not "ftp://shop.test/"'],
    [{ url: '/orders' }, 'a path alone does not say which host: give a whole URL, or a Host header'],
    [{ url: 'http://me:secret@shop.test/' }, 'the URL has a user in front of its host, which clients do not send'],
    [{ url: 'http://shop.test/\r\nx: y' }, 'the URL has a line break'],
    [{ headers: ['x-user'] }, 'a header is "name: value", not "x-user"'],
    [{ headers: [': x'] }, 'a header is "name: value", not ": x"'],
    [{ headers: ['x: y\r\nhost: evil'] }, 'a header is "name: value", not "x: y host: evil"'],
    [{ client: 'localhost' }, 'the client must be an IP address, not "localhost"'],
    [{ client: '10.0.0.0/8' }, 'the client must be an IP address, not "10.0.0.0/8"'],
  ])('makes no sense with %j', (asked, why) => {
    expect(read(asked)).toBe(why);
  });
});
