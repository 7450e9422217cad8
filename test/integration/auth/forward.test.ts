// Another service decides: real servers that let in, refuse, are slow, die, flap, or talk nonsense.
import type { IncomingMessage, RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { ForwardRules } from '../../../gateway/access/access-rules.ts';
import { ForwardAuthenticator } from '../../../gateway/auth/forward-authenticator.ts';
import { openDeafPort } from '../../support/deaf-port.ts';
import { startHttpServer, startTcpServer } from '../../support/local-server.ts';
import { answering, startRawUpstream } from '../../support/raw-upstream.ts';
import { createRecordedLog } from '../../support/recorded-log.ts';
import { fieldsOf, requestFacts, verdictOf } from '../../support/request-facts.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

const OUT = { kind: 'refuse', situation: 'auth_unavailable', lines: '' };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function create(port: number, changes: Partial<ForwardRules> = {}) {
  const log = createRecordedLog();
  const clock = createScriptedClock();
  const rules: ForwardRules = {
    kind: 'forward',
    url: `http://127.0.0.1:${port}/auth?app=shop`,
    timeoutMs: 5000,
    requestHeaders: ['authorization', 'cookie'],
    responseHeaders: ['x-user-id'],
  };
  const forward = new ForwardAuthenticator({ ...rules, ...changes }, { clock, log });
  closing.push(() => forward.stop());
  return { forward, clock, log };
}

async function serve(onRequest: RequestListener): Promise<number> {
  const server = await startHttpServer(onRequest);
  closing.push(() => server.stop());
  return server.port;
}

describe('the service', () => {
  it('is asked with GET about the request, and lets it in', async () => {
    const asked: IncomingMessage[] = [];
    const port = await serve((request, response) => {
      asked.push(request);
      response.setHeader('X-User-Id', 'anna').setHeader('x-other', '1').end('ignored');
    });
    const { forward } = create(port);
    const headers = { cookie: 'sid=1', accept: 'text/html', 'x-user-id': 'root' };
    const verdict = await verdictOf(forward, { method: 'POST', headers });
    expect(verdict).toEqual({ kind: 'pass', lines: 'x-user-id: anna\r\n', user: 'anna' });
    expect(asked.map(({ method, url }) => [method, url])).toEqual([['GET', '/auth?app=shop']]);
    expect(asked[0]?.headers).toEqual({
      host: `127.0.0.1:${port}`,
      connection: 'keep-alive',
      cookie: 'sid=1',
      'x-forwarded-method': 'POST',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'shop.example.com',
      'x-forwarded-uri': '/orders?page=2',
      'x-forwarded-for': '192.0.2.1',
      'x-request-id': 'request-1',
    });
    expect([...forward.ownFields].sort()).toEqual(['x-user-id', 'x-user_id', 'x_user-id', 'x_user_id']);
  });

  it('tells the client why it refuses', async () => {
    const port = await serve((_request, response) => {
      response
        .writeHead(401, { 'www-authenticate': 'Bearer', 'content-type': 'text/plain', 'x-inner': '1' })
        .end('who?');
    });
    const verdict = await verdictOf(create(port).forward);
    expect(verdict).toMatchObject({ kind: 'answer', status: 401, reason: 'Unauthorized' });
    expect(verdict.kind === 'answer' && verdict.content.toString()).toBe('who?');
    expect(fieldsOf(verdict.lines).map(([name]) => name)).toEqual([
      'WWW-Authenticate',
      'Content-Type',
      'Cache-Control',
      'Content-Length',
      'X-Request-Id',
    ]);
  });

  it('sends the client elsewhere, where the gateway does not follow', async () => {
    let asked = 0;
    const port = await serve((_request, response) => {
      asked++;
      response.writeHead(302, { location: 'https://id.example/login', 'set-cookie': ['a=b', 'c=d'] }).end();
    });
    const verdict = await verdictOf(create(port).forward);
    expect(verdict).toMatchObject({ kind: 'answer', status: 302 });
    expect(fieldsOf(verdict.lines).slice(0, 3)).toEqual([
      ['Set-Cookie', 'a=b'],
      ['Set-Cookie', 'c=d'],
      ['Location', 'https://id.example/login'],
    ]);
    expect(asked).toBe(1);
  });

  it('that says more than a client is given is answered without its content', async () => {
    const port = await serve((_request, response) => {
      response.on('error', () => undefined);
      response.writeHead(403, { 'content-type': 'text/plain' }).end('x'.repeat(200_000));
    });
    const verdict = await verdictOf(create(port).forward);
    expect(verdict).toMatchObject({ kind: 'answer', status: 403 });
    expect(fieldsOf(verdict.lines)).toContainEqual(['Content-Length', '0']);
    expect(verdict.lines).not.toContain('Content-Type');
  });

  it.each<[string, RequestListener]>([
    ['fails', (_request, response) => response.writeHead(500).end()],
    ['is not ready', (_request, response) => response.writeHead(503).end('later')],
    ['answers what is no answer', (_request, response) => response.writeHead(304).end()],
    ['cuts the connection', (request) => request.socket.destroy()],
    [
      'cuts its refusal',
      (_request, response) => {
        response.writeHead(403, { 'content-length': '100' }).write('half');
        response.socket?.destroySoon();
      },
    ],
  ])('that %s lets nobody in', async (_what, onRequest) => {
    const { forward, log } = create(await serve(onRequest));
    for (let round = 0; round < 3; round++) expect(await verdictOf(forward)).toEqual(OUT);
    expect(log.lines).toEqual(['warn: the service for authentication cannot be used: nobody comes in']);
  });

  it('that is no HTTP server lets nobody in', async () => {
    const server = await startTcpServer((socket) => void socket.end('220 mail\r\n'));
    closing.push(() => server.stop());
    expect(await verdictOf(create(server.port).forward)).toEqual(OUT);
  });

  it('that is not there lets nobody in', async () => {
    const server = await startTcpServer(() => undefined);
    await server.stop();
    expect(await verdictOf(create(server.port).forward)).toEqual(OUT);
  });

  it.each<[string, RequestListener]>([
    ['answers nothing', () => undefined],
    ['never ends its refusal', (_request, response) => void response.writeHead(401).write('wait')],
  ])('that %s lets nobody in when its time is over, and the connection is closed', async (_what, onRequest) => {
    let open = 0;
    const server = await startHttpServer(onRequest, (http) => {
      http.on('connection', (socket) => {
        open++;
        socket.once('close', () => open--);
      });
    });
    closing.push(() => server.stop());
    expect(await verdictOf(create(server.port, { timeoutMs: 200 }).forward)).toEqual(OUT);
    await waitFor(() => open === 0, { limitMs: 5000, what: 'the end of the connection' });
  });

  it('that takes no connection lets nobody in when its time is over', async () => {
    const deaf = await openDeafPort();
    closing.push(() => deaf.stop());
    expect(await verdictOf(create(deaf.port, { timeoutMs: 300 }).forward)).toEqual(OUT);
  });

  it('that comes back lets in again, and both are said once', async () => {
    let isUp = false;
    const port = await serve((_request, response) => response.writeHead(isUp ? 200 : 500).end());
    const { forward, clock, log } = create(port);
    for (const now of [false, false, true, true, false]) {
      clock.advance(30_000);
      isUp = now;
      expect((await verdictOf(forward)).kind).toBe(now ? 'pass' : 'refuse');
    }
    expect(log.lines).toEqual([
      'warn: the service for authentication cannot be used: nobody comes in',
      'info: the service for authentication answers again',
      'warn: the service for authentication cannot be used: nobody comes in',
    ]);
  });

  it('is asked once more when it closes a kept connection', async () => {
    const upstream = await startRawUpstream((connection) => {
      // The second request of a connection meets its end.
      if (connection.heads > 1) connection.socket.destroy();
      else answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-User-Id: anna\r\n\r\n')(connection);
    });
    closing.push(() => upstream.stop());
    const { forward, log } = create(upstream.port);
    for (let round = 0; round < 3; round++) expect(await verdictOf(forward)).toMatchObject({ kind: 'pass' });
    expect(upstream.connections[0]?.heads).toBe(2);
    expect(log.lines).toEqual([]);
  });

  it('is not asked again when it has never answered', async () => {
    const upstream = await startRawUpstream(({ socket }) => socket.destroy());
    closing.push(() => upstream.stop());
    expect(await verdictOf(create(upstream.port).forward)).toEqual(OUT);
    expect(upstream.connections.map(({ heads }) => heads)).toEqual([1]);
  });

  it('is not asked any longer when the client has left', async () => {
    let open = 0;
    let asked = 0;
    const port = await serve((_request, response) => {
      asked++;
      open++;
      response.once('close', () => open--);
    });
    const { forward, log } = create(port);
    const heard: string[] = [];
    const check = forward.check(requestFacts(), ({ kind }) => heard.push(kind));
    await waitFor(() => asked === 1, { limitMs: 5000, what: 'the question' });
    check?.cancel();
    await waitFor(() => open === 0, { limitMs: 5000, what: 'the end of the question' });
    expect(heard).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  it('is asked by so many at a time and no more', async () => {
    const port = await serve(() => undefined);
    const { forward } = create(port, { timeoutMs: 60_000 });
    const checks = Array.from({ length: 1024 }, () => forward.check(requestFacts(), () => undefined));
    expect(checks.includes(null)).toBe(false);
    expect(await verdictOf(forward)).toEqual(OUT);
    for (const check of checks) check?.cancel();
  });
});
