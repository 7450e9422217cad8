// A listener that sends its clients to https: every request but those of ACME.
import { describe, expect, it } from 'vitest';
import { ask, fieldOf, sayingName } from '../../support/named-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';

describe('a listener with redirect: https', () => {
  endAfterEach();

  async function redirecting(redirect: unknown = 'https') {
    const upstream = await upstreamThat(sayingName('service'));
    const gateway = await gatewayFor({ endpoints: [upstream.port], listener: { redirect } });
    const request = (line: string, fields = 'Host: a.example\r\n') => {
      return ask(gateway.port, `${line}\r\n${fields}Connection: close\r\n\r\n`);
    };
    return { gateway, upstream, request };
  }

  it.each([
    ['GET / HTTP/1.1', 'Host: a.example\r\n', 'https://a.example/'],
    ['POST /a/b?c=d&e HTTP/1.1', 'Host: a.example:8080\r\nContent-Length: 0\r\n', 'https://a.example/a/b?c=d&e'],
    ['DELETE /%41//x HTTP/1.1', 'Host: [::1]:80\r\n', 'https://[::1]/%41//x'],
    ['GET http://b.example:80/x HTTP/1.1', 'Host: a.example\r\n', 'https://b.example/x'],
    ['GET //evil.example HTTP/1.1', 'Host: a.example\r\n', 'https://a.example//evil.example'],
    [
      'GET /socket HTTP/1.1',
      'Host: a.example\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
      'https://a.example/socket',
    ],
    [
      'GET /.well-known/acme-challenge/../../x HTTP/1.1',
      'Host: a.example\r\n',
      'https://a.example/.well-known/acme-challenge/../../x',
    ],
  ])('answers %s with 308', async (line, fields, location) => {
    const { request, gateway, upstream } = await redirecting();
    const answer = await request(line, fields);
    expect([answer.status, fieldOf(answer, 'Location'), answer.content]).toEqual([308, location, '']);
    expect(fieldOf(answer, 'Cache-Control')).toBe('no-store');
    expect(gateway.records).toMatchObject([{ status: 308, route: null, error: null }]);
    expect(upstream.connections).toEqual([]);
  });

  it('names the port where it is another than that of https', async () => {
    const { request } = await redirecting({ to: 'https', port: 8443 });
    expect(fieldOf(await request('GET /x HTTP/1.1'), 'Location')).toBe('https://a.example:8443/x');
  });

  it('lets the challenges of ACME pass', async () => {
    const { request } = await redirecting();
    expect(await request('GET /.well-known/acme-challenge/token HTTP/1.1')).toMatchObject({
      status: 200,
      content: 'service',
    });
  });

  it('cannot send away who names no host, and answers what is for itself', async () => {
    const { request } = await redirecting();
    expect((await request('GET / HTTP/1.0', '')).status).toBe(400);
    expect((await request('OPTIONS * HTTP/1.1')).status).toBe(204);
  });
});
