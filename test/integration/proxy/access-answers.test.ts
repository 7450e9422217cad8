// What a client is told that may not come in, and in which state its connection is then.
import { describe, expect, it } from 'vitest';
import { basicLine, KEEP_OUT, LET_IN, startJudge, USERS } from '../../support/access-scene.ts';
import { ask, fieldOf, namedUpstream, requestsOf } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { OK } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const BASIC = { basic: { users: 'users' } };
const CHALLENGE = 'Basic realm="restricted", charset="UTF-8"';
const BROKEN = 'HTTP/1.1 500 secret reason\r\nContent-Length: 6\r\n\r\nsecret';

async function scene(route: Readonly<Record<string, unknown>>) {
  const upstream = await namedUpstream('served');
  return { upstream, gateway: await gatewayFor({ endpoints: [upstream.port], users: USERS, route }) };
}

describe('a refusal', () => {
  it.each([
    ['unauthorized', '', { status: 401, title: 'Unauthorized', detail: 'This needs credentials that are valid.' }],
    ['forbidden', '', { status: 403, title: 'Forbidden', detail: 'This client may not come in here.' }],
    [
      'unavailable',
      '5',
      { status: 503, title: 'Service Unavailable', detail: 'Who may come in cannot be found out at present.' },
    ],
  ])('of a client that is %s is a problem that does not say why', async (kind, retryAfter, problem) => {
    const judge = await startJudge({ octets: BROKEN });
    const routes = {
      unauthorized: { auth: BASIC },
      forbidden: { deny: ['0.0.0.0/0'] },
      unavailable: { auth: judge.auth },
    };
    const { gateway } = await scene(Object.entries(routes).find(([name]) => name === kind)?.[1] ?? {});
    const answer = await ask(gateway.port, get('/', basicLine('nobody')));
    expect(answer.status).toBe(problem.status);
    const requestId = fieldOf(answer, 'x-request-id') ?? '';
    expect(JSON.parse(answer.content)).toEqual({ type: 'about:blank', ...problem, requestId });
    expect(requestId).not.toBe('');
    expect(fieldOf(answer, 'content-type')).toBe('application/problem+json');
    expect(fieldOf(answer, 'cache-control')).toBe('no-store');
    expect(fieldOf(answer, 'proxy-status')).toBe('weir; error=http_request_denied');
    expect(fieldOf(answer, 'retry-after') ?? '').toBe(retryAfter);
    expect(fieldOf(answer, 'www-authenticate')).toBe(problem.status === 401 ? CHALLENGE : undefined);
    expect(answer.head + answer.content).not.toMatch(/secret|users|127\.0\.0/);
  });

  it('is the same for a wrong password and for a name of nobody', async () => {
    const { gateway } = await scene({ auth: BASIC });
    const answers = [];
    for (const line of [basicLine('anna', 'wrong'), basicLine('nobody'), 'Authorization: Bearer x\r\n', '']) {
      const { head, content } = await ask(gateway.port, get('/', line));
      answers.push((head + content).replace(/^(?:Date|X-Request-Id):.*$/gim, '').replace(/"requestId":"[^"]*"/, ''));
    }
    expect(new Set(answers).size).toBe(1);
  });

  it('of a token says that the token is invalid, and no more', async () => {
    const { gateway } = await scene({ auth: { jwt: { jwks: 'keys', realm: 'shop' } } });
    const none = await ask(gateway.port, get('/'));
    const bad = await ask(gateway.port, get('/', 'Authorization: Bearer a.b.c\r\n'));
    expect(fieldOf(none, 'www-authenticate')).toBe('Bearer realm="shop"');
    expect(fieldOf(bad, 'www-authenticate')).toBe('Bearer realm="shop", error="invalid_token"');
  });

  it('of another service is the client’s, with what it says', async () => {
    const judge = await startJudge({
      octets:
        'HTTP/1.1 302 Found\r\nLocation: /login\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Inside: 1\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nlogin',
    });
    const { gateway } = await scene({ auth: judge.auth });
    const answer = await ask(gateway.port, get('/'));
    expect([answer.status, answer.content, fieldOf(answer, 'location')]).toEqual([302, 'login', '/login']);
    expect([fieldOf(answer, 'set-cookie'), fieldOf(answer, 'x-inside')]).toEqual(['a=1, b=2', undefined]);
    expect(fieldOf(answer, 'cache-control')).toBe('no-store');
  });

  it('of another service was decided on all cookies of the client', async () => {
    const judge = await startJudge({ octets: KEEP_OUT });
    const { gateway } = await scene({ auth: judge.auth });
    await ask(gateway.port, get('/', 'Cookie: a=1; b=2\r\nX-A: 1\r\ncookie: c=3\r\n'));
    expect(judge.heads[0]).toMatch(/^cookie: a=1; b=2; c=3\r$/m);
  });

  it.each([
    ['application/grpc', { auth: BASIC }, '16'],
    ['application/grpc+proto', { deny: ['0.0.0.0/0'] }, '7'],
  ])('of a client that speaks %s has a status of gRPC', async (type, route, status) => {
    const { gateway } = await scene(route);
    const fields = `Content-Type: ${type}\r\nTE: trailers\r\n`;
    const answer = await ask(gateway.port, `POST /a.B/C HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${fields}\r\n`);
    expect([answer.status, fieldOf(answer, 'content-type'), fieldOf(answer, 'grpc-status')]).toEqual([
      200,
      type,
      status,
    ]);
    expect(fieldOf(answer, 'www-authenticate')).toBe(status === '16' ? CHALLENGE : undefined);
  });

  it('of a HEAD has no content, and the connection goes on', async () => {
    const { gateway } = await scene({ auth: BASIC });
    const client = await RawClient.connect(gateway.port);
    client.send('HEAD / HTTP/1.1\r\nHost: s\r\n\r\n');
    await client.until('\r\n\r\n');
    client.send(`GET / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${basicLine()}\r\n`);
    const received = await client.untilClosed();
    expect(received.split('\r\n\r\n')[1]).toMatch(/^HTTP\/1\.1 200 /);
    expect(received).toMatch(/^HTTP\/1\.1 401 [\s\S]*Content-Length: [1-9]/);
  });

  it('of HTTP/1.0 ends the connection, unless the client wants to keep it', async () => {
    const { gateway } = await scene({ auth: BASIC });
    const client = await RawClient.connect(gateway.port);
    client.send('GET / HTTP/1.0\r\nHost: s\r\nConnection: keep-alive\r\n\r\n');
    expect(await client.until('}')).toMatch(/^HTTP\/1\.1 401 [\s\S]*Connection: keep-alive\r\n/);
    client.send('GET / HTTP/1.0\r\nHost: s\r\n\r\n');
    expect(await client.untilClosed()).toMatch(/}HTTP\/1\.1 401 [\s\S]*Connection: close\r\n/);
  });
});

describe('the connection of a client that is refused', () => {
  it('goes on when the content of the request was read', async () => {
    const { gateway } = await scene({ auth: BASIC });
    const client = await RawClient.connect(gateway.port);
    client.send('POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 5\r\n\r\nhello');
    expect(await client.until('}')).not.toMatch(/^Connection:/im);
    client.send('POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n');
    await client.until((text) => text.split('HTTP/1.1 401 ').length === 3 && text.endsWith('}'));
    client.send(get('/', basicLine()));
    expect(await client.untilClosed()).toMatch(/}HTTP\/1\.1 200 [\s\S]*served$/);
  });

  it('ends when content of the request is left, which is not taken for a request', async () => {
    const { gateway, upstream } = await scene({ auth: BASIC });
    const client = await RawClient.connect(gateway.port);
    client.send(`POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 5000\r\n\r\n${get('/', basicLine())}`);
    await client.until('}');
    client.send(get('/', basicLine()));
    const received = await client.untilClosed();
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
    expect(received).toContain('Connection: close\r\n');
    expect(requestsOf(upstream)).toBe(0);
  });

  it('that waits to be asked for its content is not asked, however long the check takes', async () => {
    const judge = await startJudge();
    const { gateway } = await scene({ auth: judge.auth });
    const client = await RawClient.connect(gateway.port);
    client.send('POST / HTTP/1.1\r\nHost: s\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
    await judge.asked(1);
    // A gateway that asks by itself after half a second would have asked twice by now.
    const untilMs = performance.now() + 1200;
    await waitFor(() => performance.now() > untilMs, { limitMs: 5000, what: 'the time to pass' });
    judge.answer(0, KEEP_OUT);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 401 [\s\S]*Connection: close\r\n/);
  });

  it('that waits to be asked for its content is asked when it may come in', async () => {
    const judge = await startJudge();
    const upstream = await upstreamThat(() => undefined);
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { auth: judge.auth } });
    const client = await RawClient.connect(gateway.port);
    client.send('POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
    await judge.asked(1);
    judge.answer(0, LET_IN);
    // The service does not ask: the gateway does, after a while.
    await client.until('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('hello');
    await waitFor(() => upstream.received().endsWith('hello'), { limitMs: 5000, what: 'the content' });
    upstream.connections[0]?.socket.write(OK);
    expect(await client.untilClosed()).toMatch(/Continue\r\n\r\nHTTP\/1\.1 200 [\s\S]*ok$/);
  });
});
