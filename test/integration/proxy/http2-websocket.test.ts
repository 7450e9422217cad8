// WebSockets on streams of HTTP/2 (RFC 8441): the same tunnels as over HTTP/1.1, on a connection that carries more.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { basicLine, USERS } from '../../support/access-scene.ts';
import { findFreePorts } from '../../support/free-ports.ts';
import { answerOf, ask, endHttp2AfterEach, sessionTo } from '../../support/http2-scene.ts';
import { type LocalServer, startHttpServer } from '../../support/local-server.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { BINARY, CLOSE, connectStream, StreamWebSocket, TEXT } from '../../support/stream-websocket.ts';
import type { TestGateway, TestGatewayOptions } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
const services: LocalServer[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
});
endHttp2AfterEach();

const limitMs = 5000;
const OPENED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Its: own\r\n\r\n';
const PLAIN = { ':path': '/plain', ':authority': 's' };

interface EchoService extends LocalServer {
  readonly sockets: WebSocket[];
  readonly requests: IncomingMessage[];
}

/** Echoes what comes; answers all else with `plain`. */
async function echoService(): Promise<EchoService> {
  const sockets: WebSocket[] = [];
  const requests: IncomingMessage[] = [];
  const acceptor = new WebSocketServer({ noServer: true, handleProtocols: () => 'v1.chat' });
  const server = await startHttpServer(
    (_request, response) => response.end('plain'),
    (its) =>
      its.on('upgrade', (request: IncomingMessage, socket: Duplex, early: Buffer) => {
        requests.push(request);
        acceptor.handleUpgrade(request, socket, early, (open) => {
          sockets.push(open);
          open.on('message', (content, isBinary) => open.send(content, { binary: isBinary }));
        });
      }),
  );
  services.push(server);
  return { ...server, sockets, requests };
}

function gatewayTo(endpoints: readonly number[], more: Partial<TestGatewayOptions> = {}): Promise<TestGateway> {
  return gatewayFor({ endpoints, listener: { http2: true }, ...more });
}

function inFlight(gateway: TestGateway): number | undefined {
  return gateway.endpoints()[0]?.inFlight;
}

async function recordOf(gateway: TestGateway) {
  return await waitFor(() => gateway.records.find(({ path }) => path === '/chat'), { limitMs, what: 'the record' });
}

describe('a WebSocket on a stream', () => {
  it('carries messages of any kind and size both ways, beside other requests of its session', async () => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port]);
    const session = sessionTo(gateway.port);
    const client = await StreamWebSocket.open(session, '/chat?a=1', {
      'sec-websocket-protocol': 'v1.chat',
      'sec-websocket-key': 'not one',
      cookie: ['a=1', 'b=2'],
    });
    expect(client.headers).toMatchObject({ ':status': 200, 'sec-websocket-protocol': 'v1.chat' });
    for (const gone of ['connection', 'upgrade', 'sec-websocket-accept'])
      expect(client.headers).not.toHaveProperty(gone);
    expect(service.requests[0]?.headers).toMatchObject({
      cookie: 'a=1; b=2',
      connection: 'Upgrade',
      upgrade: 'websocket',
      via: '2.0 weir',
      'x-forwarded-proto': 'http',
    });
    expect(service.requests[0]?.url).toBe('/chat?a=1');
    const messages = [Buffer.from('grüße'), Buffer.alloc(0), randomBytes(70_000), randomBytes(1_048_576)];
    for (const [at, content] of messages.entries()) {
      client.send(at === 0 ? TEXT : BINARY, content);
      const { opcode, content: echo } = await client.nth(at + 1);
      expect([opcode, echo.equals(content)]).toEqual([at === 0 ? TEXT : BINARY, true]);
      expect(await ask(session, PLAIN)).toMatchObject({ status: 200, content: 'plain' });
    }
    expect(inFlight(gateway)).toBe(1);
    client.stream.close();
  });

  it('does not lose or keep anything when either side reads slowly', async () => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port]);
    const client = await StreamWebSocket.open(sessionTo(gateway.port), '/chat');
    const message = randomBytes(1_048_576);
    await waitFor(() => service.sockets.length === 1, { limitMs, what: 'the socket' });
    service.sockets[0]?.pause();
    client.stream.pause();
    for (let at = 0; at < 24; at++) client.send(BINARY, message);
    await waitFor(() => client.stream.writableLength > 0 && client.stream.writableNeedDrain, {
      limitMs,
      what: 'a jam',
    });
    service.sockets[0]?.resume();
    await waitFor(() => (service.sockets[0]?.bufferedAmount ?? 0) > 0, { limitMs, what: 'a jam of the echoes' });
    client.stream.resume();
    await client.nth(24);
    expect(client.frames.every(({ content }) => content.equals(message))).toBe(true);
    client.stream.close();
  });

  it('ends for both sides when the client has closed it, with one record', async () => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port]);
    const session = sessionTo(gateway.port);
    const client = await StreamWebSocket.open(session, '/chat', { 'user-agent': 'it' });
    client.send(TEXT, 'hello');
    await client.nth(1);
    client.send(CLOSE, Buffer.from([3, 232]));
    expect((await client.nth(2)).opcode).toBe(CLOSE);
    client.stream.end();
    expect(await client.closed()).toBe(0);
    expect(client.hasEnded).toBe(true);
    const record = await recordOf(gateway);
    expect(record).toMatchObject({ method: 'GET', version: '2', status: 101, host: 's', userAgent: 'it', error: null });
    expect(record.attempts).toMatchObject([{ outcome: 'success' }]);
    expect(record.bytes).toBe(2 + 5 + 2 + 2);
    expect(inFlight(gateway)).toBe(0);
    expect(await ask(session, PLAIN)).toMatchObject({ status: 200 });
  });

  it('ends for the client when the service has closed it, whether the client ends its side or not', async () => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port]);
    const client = await StreamWebSocket.open(sessionTo(gateway.port), '/chat');
    await waitFor(() => service.sockets.length === 1, { limitMs, what: 'the socket' });
    service.sockets[0]?.close(4001);
    expect((await client.nth(1)).content.readUInt16BE(0)).toBe(4001);
    client.send(CLOSE, Buffer.from([15, 161]));
    expect(await client.closed()).toBe(0);
    expect(client.hasEnded).toBe(true);
    await waitFor(() => inFlight(gateway) === 0, { limitMs, what: 'its release' });
  });

  it('is broken off when the service is, after what that had said', async () => {
    const upstream = await upstreamThat(({ socket }) => socket.write(`${OPENED}${'x'.repeat(100_000)}`));
    const gateway = await gatewayTo([upstream.port]);
    const stream = await connectStream(sessionTo(gateway.port), '/chat');
    let received = 0;
    stream.on('data', (piece: Buffer) => {
      received += piece.length;
    });
    const answer = answerOf(stream);
    await waitFor(() => received === 100_000, { limitMs, what: 'all of it' });
    upstream.connections[0]?.socket.resetAndDestroy();
    const { status, headers, resetCode } = await answer;
    expect([status, headers['x-its']]).toEqual([200, 'own']);
    expect(resetCode).not.toBe(0);
    await waitFor(() => inFlight(gateway) === 0, { limitMs, what: 'its release' });
  });

  it('is released when its client resets it, although nobody reads what it had sent', async () => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port]);
    const session = sessionTo(gateway.port);
    const client = await StreamWebSocket.open(session, '/chat');
    await waitFor(() => service.sockets.length === 1, { limitMs, what: 'the socket' });
    service.sockets[0]?.pause();
    for (let at = 0; at < 16; at++) client.send(BINARY, randomBytes(1_048_576));
    await waitFor(() => client.stream.writableNeedDrain, { limitMs, what: 'a jam' });
    client.stream.close(8);
    await waitFor(() => inFlight(gateway) === 0, { limitMs, what: 'its release' });
    expect(await ask(session, PLAIN)).toMatchObject({ status: 200 });
    // A socket that is paused does not see its end.
    service.sockets[0]?.terminate();
  });

  it('is released when the connection of its client is gone', async () => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port]);
    const session = sessionTo(gateway.port);
    await StreamWebSocket.open(session, '/chat');
    session.destroy();
    await waitFor(() => inFlight(gateway) === 0, { limitMs, what: 'its release' });
    expect(await recordOf(gateway)).toMatchObject({ status: 101, version: '2' });
  });

  it('lives longer than an idle connection may, and than a client may read nothing', async () => {
    const service = await echoService();
    const timeouts = { keepAlive: '300ms', write: '300ms', requestHead: '300ms', requestBody: '300ms' };
    const gateway = await gatewayTo([service.port], { gateway: { timeouts } });
    const [waiting, other] = [sessionTo(gateway.port), sessionTo(gateway.port)];
    const client = await StreamWebSocket.open(waiting, '/chat');
    await waitFor(() => service.sockets.length === 1, { limitMs, what: 'the socket' });
    client.stream.pause();
    const message = randomBytes(8_388_608);
    service.sockets[0]?.send(message);
    // A session without a tunnel that came later is closed for its idleness.
    await ask(other, PLAIN);
    await waitFor(() => other.closed, { limitMs, what: 'the end of the idle session' });
    expect([waiting.closed, client.stream.closed]).toEqual([false, false]);
    client.stream.resume();
    expect((await client.nth(1)).content.equals(message)).toBe(true);
    client.stream.close();
  });
});

describe('a WebSocket on a stream that cannot be had', () => {
  async function refusal(gateway: TestGateway, more = {}, path = '/chat') {
    const stream = await connectStream(sessionTo(gateway.port), path, more);
    return answerOf(stream);
  }

  it('because the service is down is answered 502', async () => {
    const [dead = 0] = await findFreePorts(1);
    const gateway = await gatewayTo([dead], { listener: { http2: true } });
    const { status, headers, content, resetCode } = await refusal(gateway);
    expect([status, headers['proxy-status'], resetCode]).toEqual([502, 'weir; error=connection_refused', 0]);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(content)).toMatchObject({ status: 502 });
    expect(await recordOf(gateway)).toMatchObject({ status: 502, version: '2', error: 'connection_refused' });
  });

  it('because its service refuses it has the answer of that', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 403 No\r\nX-Its: own\r\nTransfer-Encoding: chunked\r\n\r\n');
      socket.write('14\r\nyou do not come in, \r\n4\r\nsay \r\n2\r\nwe\r\n0\r\n\r\n');
    });
    const gateway = await gatewayTo([upstream.port]);
    const { status, headers, content, resetCode } = await refusal(gateway);
    expect([status, headers['x-its'], content, resetCode]).toEqual([403, 'own', 'you do not come in, say we', 0]);
    expect(await recordOf(gateway)).toMatchObject({ status: 403, version: '2' });
  });

  it('because its service breaks off its answer has no answer that looks whole', async () => {
    const upstream = await upstreamThat(({ socket }) =>
      socket.end('HTTP/1.1 403 No\r\nContent-Length: 100\r\n\r\nyou do not'),
    );
    const gateway = await gatewayTo([upstream.port]);
    expect((await refusal(gateway)).resetCode).not.toBe(0);
  });

  it('because its service answers as if it had not asked is no tunnel', async () => {
    const upstream = await upstreamThat(({ socket }) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'));
    const gateway = await gatewayTo([upstream.port]);
    expect(await refusal(gateway)).toMatchObject({ status: 501, content: 'hi', resetCode: 0 });
    expect(await recordOf(gateway)).toMatchObject({ status: 501, attempts: [{ outcome: 'success' }] });
    expect(gateway.endpoints()).toMatchObject([{ failures: 0 }]);
  });

  it('because it may not come in is answered 401, and its session can be used', async () => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port], { users: USERS, route: { auth: { basic: { users: 'users' } } } });
    expect(await refusal(gateway)).toMatchObject({ status: 401, resetCode: 0 });
    expect(service.requests).toEqual([]);
    expect(await recordOf(gateway)).toMatchObject({ status: 401, version: '2', method: 'GET' });
    const authorization = basicLine().slice('Authorization: '.length).trim();
    const client = await StreamWebSocket.open(sessionTo(gateway.port), '/chat', { authorization });
    expect(client.headers).toMatchObject({ ':status': 200 });
    client.stream.close();
  });

  it('beyond a limit of its route is answered 429 or 503', async () => {
    const service = await echoService();
    const route = { rateLimit: [{ rate: '2/h', burst: 2 }], concurrency: { max: 1 } };
    const gateway = await gatewayTo([service.port], { route });
    const client = await StreamWebSocket.open(sessionTo(gateway.port), '/first');
    expect(await refusal(gateway)).toMatchObject({ status: 503, resetCode: 0 });
    expect(await refusal(gateway)).toMatchObject({ status: 429, resetCode: 0 });
    client.stream.close();
    await waitFor(() => gateway.counts.concurrency().running === 0, { limitMs, what: 'the place' });
  });

  it.each([
    ['on a route that has none', { websocket: false }],
    ['on a route to a service of HTTP/2', { protocol: 'h2c' }],
  ])('%s is answered 501', async (_where, route) => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port], { route });
    expect(await refusal(gateway)).toMatchObject({ status: 501, resetCode: 0 });
    expect(service.requests).toEqual([]);
  });

  it('because it is none is answered 501, or 400 where it could never be one', async () => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port]);
    expect(await refusal(gateway, { ':protocol': 'connect-udp' })).toMatchObject({ status: 501 });
    expect(await refusal(gateway, { ':scheme': 'ftp' })).toMatchObject({ status: 400 });
    expect(service.requests).toEqual([]);
  });

  it('because its client has left costs that client its connection when it does so without end', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await gatewayTo([upstream.port]);
    const session = sessionTo(gateway.port);
    const streams = [await connectStream(session, '/chat')];
    while (!session.destroyed && streams.length < 1000) {
      const stream = await connectStream(session, '/chat').catch(() => null);
      if (stream === null) break;
      streams.push(stream);
      const closed = new Promise((resolve) => stream.once('close', resolve));
      stream.end();
      await closed;
    }
    expect(streams.length).toBeGreaterThan(190);
    expect(streams.length).toBeLessThan(1000);
    await waitFor(() => inFlight(gateway) === 0, { limitMs, what: 'their release' });
  });
});

describe('a drain', () => {
  it('ends tunnels on streams so that it shows, then their sessions', async () => {
    const service = await echoService();
    const gateway = await gatewayTo([service.port]);
    const session = sessionTo(gateway.port);
    const client = await StreamWebSocket.open(session, '/chat');
    const drained = gateway.drain();
    expect(await client.closed()).toBe(0);
    await drained;
    await waitFor(() => session.destroyed, { limitMs, what: 'the end of the session' });
    expect(inFlight(gateway)).toBe(0);
  });
});
