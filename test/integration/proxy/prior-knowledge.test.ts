// HTTP/2 without TLS: clients that begin with it are served so where the listener allows it, all others as ever.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { describe, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { EchoClient, startEcho } from '../../support/grpc-echo.ts';
import { content, GET, headers, POST, PREFACE, settings } from '../../support/http2-frames.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { RawHttp2Client } from '../../support/raw-http2-client.ts';
import { endAfterEach, gatewayFor, nodeUpstream } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const H2C = { http2: true };
const REQUEST = [settings(), headers(1, GET)];

type Options = Partial<Parameters<typeof gatewayFor>[0]>;

async function scene(options: Options = {}) {
  const service = await nodeUpstream();
  return { service, gateway: await gatewayFor({ endpoints: [service.port], listener: H2C, ...options }) };
}

async function ask(port: number, octets: string): Promise<string> {
  const client = await RawClient.connect(port);
  client.send(octets);
  return client.untilClosed();
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a plain listener with http2', () => {
  it('serves a client that begins with HTTP/2, many streams at once', async () => {
    const { gateway, service } = await scene();
    const session = connect(`http://127.0.0.1:${gateway.port}`);
    const answers = Array.from({ length: 20 }, async (_, at) => {
      const stream = session.request({ ':path': `/${at}`, ':method': 'POST', 'x-at': String(at) });
      stream.end('x'.repeat(100_000));
      const [fields] = await once(stream, 'response');
      let text = '';
      for await (const piece of stream) text += String(piece);
      return `${fields[':status']} ${text}`;
    });
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['200 ok']));
    session.close();
    expect(service.requests).toHaveLength(20);
    expect(service.requests.every(({ content: its }) => its.length === 100_000)).toBe(true);
    expect(service.requests[0]?.fields.join(' ')).toContain('X-Forwarded-Proto http ');
    expect(gateway.connections().downstream).toBe(1);
  });

  it('serves gRPC', async () => {
    const echo = await startEcho({
      unary: (call, answer) => answer(null, { text: call.request.text.toUpperCase() }),
      chat: (call) => {
        call.on('data', ({ text }) => call.write({ text: `${text}!` }));
        call.on('end', () => call.end());
      },
    });
    const { port } = await gatewayFor({
      endpoints: [echo.port],
      route: { protocol: 'h2c', body: 'off' },
      listener: H2C,
    });
    const client = new EchoClient(port);
    expect(await client.unary('hello')).toMatchObject({ code: 0, messages: ['HELLO'] });
    const { call, end } = client.chat();
    call.write({ text: 'a' });
    await once(call, 'data');
    call.write({ text: 'b' });
    call.end();
    expect(await end).toMatchObject({ code: 0, messages: ['a!', 'b!'] });
    client.close();
    echo.stop();
  });

  it('serves curl, with and without prior knowledge', async (test) => {
    const curl = async (...args: string[]) => {
      const child = spawn('curl', ['-s', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
      let text = '';
      child.stdout.on('data', (piece) => {
        text += String(piece);
      });
      await Promise.race([once(child, 'close'), once(child, 'error')]);
      return text;
    };
    if (!(await curl('--version')).includes('HTTP2')) return test.skip('curl with HTTP/2 is missing');
    const { gateway } = await scene();
    const written = ['-w', ' %{http_version}', `http://127.0.0.1:${gateway.port}/`];
    expect(await curl('--http2-prior-knowledge', ...written)).toBe('ok 2');
    // Asks for `Upgrade: h2c`.
    expect(await curl('--http2', ...written)).toBe('ok 1.1');
    expect(await curl('--http1.1', ...written)).toBe('ok 1.1');
  });

  it.each(Array.from({ length: PREFACE.length - 1 }, (_, at) => at + 1))(
    'knows the preface that is cut after %d octets',
    async (at) => {
      const { gateway } = await scene();
      const client = await RawHttp2Client.silent(gateway.port);
      client.send(PREFACE.subarray(0, at));
      await turn();
      client.send(PREFACE.subarray(at), ...REQUEST);
      expect(await client.fateOf(1)).toBe('status 200');
      client.close();
    },
  );

  it('knows it octet by octet, and in one segment with much content', async () => {
    const { gateway, service } = await scene();
    const slow = await RawHttp2Client.silent(gateway.port);
    for (const octet of PREFACE) {
      slow.send(Buffer.of(octet));
      await turn();
    }
    slow.send(...REQUEST);
    expect(await slow.fateOf(1)).toBe('status 200');
    slow.close();
    const fast = await RawHttp2Client.silent(gateway.port);
    const pieces = Array.from({ length: 4 }, (_, at) => content(1, 'x'.repeat(16_000), at === 3 ? 1 : 0));
    fast.send(PREFACE, settings(), headers(1, POST, 0), ...pieces);
    expect(await fast.fateOf(1)).toBe('status 200');
    expect(service.requests[1]?.content).toHaveLength(64_000);
    fast.close();
  });

  it.each([
    ['GET', get('/')],
    ['a method that begins alike', 'PROPFIND / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['an empty line first', `\r\n${get('/')}`],
    [
      'an upgrade to h2c, which is ignored',
      get('/', 'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n').replace(
        'close',
        'close, Upgrade, HTTP2-Settings',
      ),
    ],
  ])('serves HTTP/1 to others: %s', async (_what, request) => {
    const { gateway } = await scene();
    expect(await ask(gateway.port, request)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const slow = await RawClient.connect(gateway.port);
    for (const octet of request) {
      slow.send(octet);
      await turn();
    }
    expect(await slow.untilClosed()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('keeps an HTTP/1 connection, and tunnels a WebSocket on it', async () => {
    const { gateway } = await scene();
    const client = await RawClient.connect(gateway.port);
    client.send('GET /1 HTTP/1.1\r\nHost: s\r\n\r\nGET /2 HTTP/1.1\r\nHost: s\r\n\r\n');
    await client.until((received) => received.split('200 OK').length === 3);
    client.close();
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('connection', (socket) => socket.send('hello'));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const tunnelling = await gatewayFor({ endpoints: [port], listener: H2C });
    const socket = new WebSocket(`ws://127.0.0.1:${tunnelling.port}/`);
    const [message] = await once(socket, 'message');
    expect(String(message)).toBe('hello');
    socket.close();
    await once(socket, 'close');
    server.close();
  });

  it('refuses what only begins like the preface, as it would without http2', async () => {
    const broken = `${PREFACE.toString('latin1').slice(0, -3)}X\r\n`;
    const { gateway } = await scene();
    const plain = await scene({ listener: {} });
    const [with2, without] = [await ask(gateway.port, broken), await ask(plain.gateway.port, broken)];
    expect(with2).toMatch(/^HTTP\/1\.1 400 /);
    expect(without.slice(0, 30)).toBe(with2.slice(0, 30));
  });

  it.each([
    ['nothing', '', ''],
    ['the beginning of a method', 'P', 'HTTP/1.1 408 Request Timeout'],
    ['half the preface', 'PRI * HTTP/2.0\r\n\r\n', 'HTTP/1.1 408 Request Timeout'],
  ])('waits for no more than the time of a head when a client sends %s', async (_what, octets, answer) => {
    const { gateway } = await scene({ gateway: { timeouts: { requestHead: '300ms' } } });
    expect((await ask(gateway.port, octets)).split('\r\n')[0]).toBe(answer);
    expect(gateway.records.map(({ status }) => status)).toEqual(answer === '' ? [] : [408]);
    await waitFor(() => gateway.connections().downstream === 0, { limitMs: 4000, what: 'no connection to be counted' });
  });

  it('drops a client that leaves before it is clear what it speaks', async () => {
    const { gateway } = await scene();
    const client = await RawClient.connect(gateway.port);
    client.socket.end('PRI * ');
    await client.untilClosed();
    await waitFor(() => gateway.connections().downstream === 0, { limitMs: 2000, what: 'no connection to be counted' });
    expect(gateway.records).toEqual([]);
  });

  it('is held up by silent clients neither in a drain nor in a stop', async () => {
    const { gateway } = await scene();
    const [silent, halfway] = [await RawClient.connect(gateway.port), await RawClient.connect(gateway.port)];
    halfway.send('PRI');
    await waitFor(() => gateway.connections().downstream === 2, { limitMs: 2000, what: 'the connections' });
    await gateway.drain();
    await Promise.all([silent.untilClosed(), halfway.untilClosed()]);
    const other = await scene();
    const client = await RawClient.connect(other.gateway.port);
    await waitFor(() => other.gateway.connections().downstream === 1, { limitMs: 2000, what: 'the connection' });
    await other.gateway.stop();
    await client.untilClosed();
  });

  it('tells its sessions that it drains, and answers what is under way', async () => {
    const { gateway } = await scene();
    const client = await RawHttp2Client.open(gateway.port);
    client.send(headers(1, POST, 0));
    await waitFor(() => gateway.endpoints()[0]?.inFlight === 1, { limitMs: 3000, what: 'the request' });
    const drained = gateway.drain();
    await client.until(({ type }) => type === 7, 'a GOAWAY');
    client.send(content(1, 'x'));
    expect(await client.fateOf(1)).toBe('status 200');
    await drained;
    client.close();
  });
});

describe('a plain listener without http2', () => {
  it('refuses the preface', async () => {
    const { gateway } = await scene({ listener: {} });
    const octets = Buffer.concat([PREFACE, ...REQUEST]).toString('latin1');
    expect(await ask(gateway.port, octets)).toMatch(/^HTTP\/1\.1 400 /);
  });
});
