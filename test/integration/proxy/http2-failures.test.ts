// HTTP/2 endpoints that go away, are none, or do not read, and what becomes of the requests sent to them.
import { createServer, type Server } from 'node:net';
import { describe, expect, it } from 'vitest';
import { endHttp2EndpointsAfterEach, http2Endpoint } from '../../support/http2-endpoint.ts';
import { CODE, content, FLAG, FRAME, frame, headers, reset, word } from '../../support/http2-frames.ts';
import { endRawHttp2EndpointsAfterEach, onRequest, rawHttp2Endpoint } from '../../support/raw-http2-endpoint.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { type Answer, send } from '../../support/send.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2EndpointsAfterEach();
endRawHttp2EndpointsAfterEach();

const H2C = { protocol: 'h2c' };
const OK = [[':status', '204']] as const;

function goaway(lastStream: number, code: number = CODE.none): Buffer {
  return frame(FRAME.goaway, 0, 0, Buffer.concat([word(lastStream), word(code)]));
}

function sendMany(port: number, count: number, options: Parameters<typeof send>[1] = {}): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, () => send(`http://127.0.0.1:${port}/`, options)));
}

describe('an endpoint that goes away', () => {
  it('in order (GOAWAY) finishes what it took; what it did not take goes to a fresh connection, a POST too', async () => {
    const endpoint = await rawHttp2Endpoint((connection, { type, streamId }) => {
      if (type !== FRAME.headers) return;
      if (connection !== endpoint.connections[0]) connection.send(headers(streamId, OK));
      else if (streamId === 5) connection.send(goaway(1), headers(1, OK));
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const answers = await sendMany(gateway.port, 3, { method: 'POST', body: 'x' });
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(endpoint.connections).toHaveLength(2);
    expect(endpoint.frames(FRAME.headers)).toHaveLength(5);
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0 });
  });

  it('with an error fails what it took, and nothing of that is sent twice unless it may be', async () => {
    const endpoint = await rawHttp2Endpoint(onRequest((id) => [goaway(id, CODE.internal)]));
    const other = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }));
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: { ...H2C, retry: { attempts: 2 } } });
    const answer = await send(`http://127.0.0.1:${gateway.port}/`, { method: 'POST', body: 'x' });
    expect(answer.status).toBe(502);
    expect(answer.headers['proxy-status']).toContain('connection_terminated');
    gateway.update([endpoint.port, other.port]);
    expect(await sendMany(gateway.port, 4)).toMatchObject(Array.from({ length: 4 }, () => ({ status: 204 })));
  });

  it('by refusing the stream has not processed it: a POST goes to another endpoint', async () => {
    const endpoint = await rawHttp2Endpoint(onRequest((id) => [reset(id, CODE.refused)]));
    const other = await http2Endpoint((stream) => stream.respond({ ':status': 204 }, { endStream: true }));
    const gateway = await gatewayFor({ endpoints: [endpoint.port, other.port], route: H2C });
    const answers = await sendMany(gateway.port, 4, { method: 'POST', body: 'x' });
    expect(answers.every(({ status }) => status === 204)).toBe(true);
    expect(endpoint.frames(FRAME.headers).length).toBeGreaterThan(0);
    expect(endpoint.connections).toHaveLength(1);
  });

  it('by closing a kept connection is asked again on a fresh one, once, if that is safe', async () => {
    const endpoint = await rawHttp2Endpoint((connection, { type, streamId }) => {
      if (type !== FRAME.headers) return;
      if (connection === endpoint.connections[0] && streamId === 3) connection.socket.destroy();
      else connection.send(headers(streamId, OK));
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    await send(`http://127.0.0.1:${gateway.port}/`);
    expect((await send(`http://127.0.0.1:${gateway.port}/`)).status).toBe(204);
    expect(endpoint.connections).toHaveLength(2);
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0 });
  });

  it('without a word is left when an answer is overdue and a ping is not answered', async () => {
    const endpoint = await rawHttp2Endpoint(() => undefined);
    const gateway = await gatewayFor({
      endpoints: [endpoint.port],
      route: { ...H2C, timeout: { response: '100ms' }, retry: { attempts: 1 } },
    });
    const answer = await send(`http://127.0.0.1:${gateway.port}/`);
    expect(answer.status).toBe(504);
    await waitFor(() => endpoint.frames(FRAME.ping).length === 1, { limitMs: 2000, what: 'the ping' });
    await waitFor(() => endpoint.frames(FRAME.reset).length === 1, { limitMs: 2000, what: 'the reset' });
    expect(endpoint.frames(FRAME.reset)[0]?.payload.readUInt32BE()).toBe(CODE.cancel);
    await waitFor(() => gateway.connections().upstream === 0, { limitMs: 10_000, what: 'the end of the connection' });
  });

  it('that answers the ping keeps its connection', async () => {
    let isSlow = true;
    const endpoint = await rawHttp2Endpoint((connection, { type, flags, streamId, payload }) => {
      if (type === FRAME.ping && flags === 0) connection.send(frame(FRAME.ping, FLAG.ack, 0, payload));
      if (type === FRAME.headers && !isSlow) connection.send(headers(streamId, OK));
    });
    const gateway = await gatewayFor({
      endpoints: [endpoint.port],
      route: { ...H2C, timeout: { response: '100ms' }, retry: { attempts: 1 } },
    });
    expect((await send(`http://127.0.0.1:${gateway.port}/`)).status).toBe(504);
    isSlow = false;
    await waitFor(() => endpoint.frames(FRAME.ping).length === 1, { limitMs: 2000, what: 'the ping' });
    await waitFor(async () => (await send(`http://127.0.0.1:${gateway.port}/`)).status === 204, {
      limitMs: 2000,
      what: 'an answer',
    });
    expect(gateway.connections().upstream).toBe(1);
  });
});

describe('an endpoint that is none', () => {
  it('of HTTP/2 but of HTTP/1.1 is a bad gateway, and got no request', async () => {
    const got: string[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (piece) => {
        got.push(piece.toString('latin1'));
        socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      });
    });
    const port = await listen(server);
    const gateway = await gatewayFor({ endpoints: [port], route: { ...H2C, retry: { attempts: 1 } } });
    const answer = await send(`http://127.0.0.1:${gateway.port}/secret`);
    expect(answer.status).toBe(502);
    expect(answer.headers['proxy-status']).toContain('http_protocol_error');
    expect(got.join('')).not.toContain('secret');
    server.close();
  });

  it('that listens is connection_refused', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    const gateway = await gatewayFor({ endpoints: [port], route: H2C });
    const answer = await send(`http://127.0.0.1:${gateway.port}/`);
    expect(answer.headers['proxy-status']).toContain('connection_refused');
    expect(gateway.connections().upstream).toBe(0);
  });

  it('that says a word is connection_timeout', async () => {
    const endpoint = await rawHttp2Endpoint(() => undefined, { greeting: null });
    const route = { ...H2C, timeout: { connect: '200ms' }, retry: { attempts: 1 } };
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route });
    const answer = await send(`http://127.0.0.1:${gateway.port}/`);
    expect(answer.status).toBe(504);
    expect(answer.headers['proxy-status']).toContain('connection_timeout');
    expect(gateway.connections().upstream).toBe(0);
  });
});

describe('a request whose endpoint does not read it', () => {
  it('is not read either, and is given up after the response timeout', async () => {
    const endpoint = await rawHttp2Endpoint(() => undefined);
    const route = { ...H2C, timeout: { response: '300ms' }, retry: { attempts: 1 } };
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route });
    const answer = await send(`http://127.0.0.1:${gateway.port}/`, { method: 'POST', body: 'x'.repeat(5_000_000) });
    expect(answer.status).toBe(504);
    const read = endpoint.frames(FRAME.data).reduce((sum, { payload }) => sum + payload.length, 0);
    expect(read).toBe(65_535);
  });

  it('goes on when it reads again', async () => {
    const endpoint = await rawHttp2Endpoint((connection, { type, streamId, payload, flags }) => {
      if (type !== FRAME.data) return;
      if (payload.length > 0) {
        const more = word(payload.length);
        connection.send(frame(FRAME.windowUpdate, 0, 0, more), frame(FRAME.windowUpdate, 0, streamId, more));
      }
      if ((flags & FLAG.endStream) !== 0)
        connection.send(headers(streamId, [[':status', '200']], 0), content(streamId, 'ok'));
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: H2C });
    const body = 'x'.repeat(1_000_000);
    expect((await send(`http://127.0.0.1:${gateway.port}/`, { method: 'POST', body })).body).toBe('ok');
    const read = endpoint.frames(FRAME.data).reduce((sum, { payload }) => sum + payload.length, 0);
    expect(read).toBe(body.length);
  });
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
