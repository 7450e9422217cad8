// Which fields cross the gateway, seen from both raw ends.
import { describe, expect, it } from 'vitest';
import { exchange, get, RawClient } from '../../support/raw-client.ts';
import { answering, OK } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';

endAfterEach();

async function seenBy(request: string, route = {}, gatewayConfig = {}) {
  const upstream = await upstreamThat(answering(OK));
  const gateway = await gatewayFor({ endpoints: [upstream.port], route, gateway: gatewayConfig });
  const answer = await exchange(gateway.port, request);
  return { received: upstream.received(), answer, upstream };
}

async function answeredWith(octets: string, route = {}) {
  const upstream = await upstreamThat(answering(octets));
  const gateway = await gatewayFor({ endpoints: [upstream.port], route });
  return exchange(gateway.port, get('/'));
}

describe('a request', () => {
  it('loses the fields of its connection (case 1)', async () => {
    const { received } = await seenBy(
      'GET /h HTTP/1.1\r\nHost: s\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nProxy-Connection: keep-alive\r\n' +
        'Connection: close, TE, X-Hop\r\nX-Hop: 1\r\nX-End: 1\r\n\r\n',
    );
    expect(received).toContain('X-End: 1\r\n');
    expect(received).not.toMatch(/^(te|x-hop|proxy-connection|keep-alive):/im);
    expect(received).not.toMatch(/^connection:.*(te|x-hop|close)/im);
  });

  it('keeps order, case, repetition and Latin-1 octets of all others', async () => {
    const { received } = await seenBy(get('/', 'X-b: 1\r\nx-A: caf\xe9\r\nX-b: 2\r\nCookie: a=1\r\ncookie: b=2\r\n'));
    expect(received).toContain('X-b: 1\r\nx-A: caf\xe9\r\nX-b: 2\r\nCookie: a=1\r\ncookie: b=2\r\n');
  });

  it.each([
    ['/a%20b/%2e%2e/%2F/%C3%A9?q=%26&r=%zz'],
    ['//double//slash?x=/../y'],
    ['/a/./b/../c'],
    ['/?'],
    ['/a;b=c,d|e{f}'],
  ])('keeps its target %s byte for byte (case 34)', async (target) => {
    const { received } = await seenBy(get(target));
    expect(received).toContain(`GET ${target} HTTP/1.1\r\n`);
  });

  it('in absolute form goes upstream in origin form, with the host of its target', async () => {
    const { received } = await seenBy('GET http://other.example/x?y HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n');
    expect(received).toContain('GET /x?y HTTP/1.1\r\n');
    expect(received).toContain('Host: other.example\r\n');
  });

  it('tells where it came from, whatever an untrusted client claims', async () => {
    const { received } = await seenBy(
      get(
        '/',
        'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\nForwarded: for=6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\nX-Request-Id: evil\r\n',
      ),
    );
    expect(received).toContain('X-Forwarded-For: 127.0.0.1\r\n');
    expect(received).toContain('X-Forwarded-Proto: http\r\n');
    expect(received).toContain('X-Forwarded-Host: s\r\n');
    expect(received).toMatch(/X-Forwarded-Port: \d+\r\n/);
    expect(received).toMatch(/X-Request-Id: [0-9a-f-]{36}\r\n/);
    expect(received).toContain('Via: 1.1 weir\r\n');
    expect(received).not.toContain('6.6.6.6');
    expect(received).not.toContain('evil');
  });

  it('from a trusted proxy is appended to, all its lines in order (case 156)', async () => {
    const { received } = await seenBy(
      get(
        '/',
        'X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\nX-Forwarded-Proto: https\r\nX-Request-Id: id-7\r\n',
      ),
      {},
      { trustedProxies: ['127.0.0.0/8'] },
    );
    expect(received).toContain('X-Forwarded-For: 1.1.1.1, 2.2.2.2, 127.0.0.1\r\n');
    expect(received).toContain('X-Forwarded-Proto: https\r\n');
    expect(received).toContain('X-Request-Id: id-7\r\n');
  });

  it('cannot take out what the gateway adds by naming it in Connection (case 154)', async () => {
    const { received } = await seenBy(
      'POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 3\r\nAuthorization: x\r\n' +
        'Connection: close, X-Forwarded-For, X-Forwarded-Proto, X-Request-Id, Host, Content-Length, Authorization\r\n\r\nabc',
    );
    expect(received).toContain('X-Forwarded-For: 127.0.0.1\r\n');
    expect(received).toMatch(/^host: s\r$/im);
    expect(received).toMatch(/content-length: 3\r\n/i);
    expect(received).toMatch(/\r\n\r\nabc$/);
  });

  it('is changed as the route says, and only so', async () => {
    const { received } = await seenBy(get('/api/x?y', 'X-Old: 1\r\nx-gone: 2\r\n'), {
      rewrite: {
        stripPrefix: '/api',
        addPrefix: '/v2',
        host: 'upstream',
        requestHeaders: { set: { 'X-Old': 'new' }, remove: ['X-Gone'] },
      },
    });
    expect(received).toContain('GET /v2/x?y HTTP/1.1\r\n');
    expect(received).toMatch(/^host: 127\.0\.0\.1:\d+\r$/im);
    expect(received).toContain('X-Old: new\r\n');
    expect(received).not.toMatch(/x-gone|x-old: 1/i);
  });
});

describe('a response', () => {
  it('loses the fields of its connection (case 3)', async () => {
    const answer = await answeredWith(
      'HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/ok$/);
    expect(answer).not.toMatch(/x-hop|timeout=1/i);
  });

  it('keeps every Set-Cookie line as it is (case 28)', async () => {
    const cookies = 'Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT\r\nset-cookie: b=2\r\nSET-COOKIE: a=3\r\n';
    expect(await answeredWith(`HTTP/1.1 200 OK\r\n${cookies}Content-Length: 2\r\n\r\nok`)).toContain(cookies);
  });

  it('keeps octets above ASCII and its reason phrase (case 30)', async () => {
    const fields = 'Content-Disposition: attachment; filename="\xe4\xb8\xad.pdf"\r\nX-L: caf\xe9\r\n';
    const answer = await answeredWith(`HTTP/1.1 299 Quite Fine\r\n${fields}Content-Length: 2\r\n\r\nok`);
    expect(answer).toContain('HTTP/1.1 299 Quite Fine\r\n');
    expect(answer).toContain(fields);
  });

  it('is changed as the route says', async () => {
    const answer = await answeredWith('HTTP/1.1 200 OK\r\nServer: x\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok', {
      rewrite: { responseHeaders: { set: { 'X-A': '2' }, remove: ['Server'] } },
    });
    expect(answer).toContain('X-A: 2\r\n');
    expect(answer).not.toMatch(/server: x|x-a: 1/i);
  });

  it('that ends its own connection leaves the client its (case 4)', async () => {
    const upstream = await upstreamThat(({ socket }) =>
      socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'),
    );
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    for (const path of ['/1', '/2']) {
      client.received = '';
      client.send(`GET ${path} HTTP/1.1\r\nHost: s\r\n\r\n`);
      expect(await client.until('\r\n\r\nok')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    }
    client.close();
  });
});
