// WebSockets of a browser over HTTPS: on a stream of the HTTP/2 connection that its page came on, or over HTTP/1.1.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { hasChromium, startBrowser, type TestBrowser } from '../support/browser.ts';
import { hasOpenssl } from '../support/certificates.ts';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { startTlsWeir, type TlsWeir } from '../support/tls-weir.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 20_000;
const MESSAGE_BYTES = 1_048_576;

/** What a page has seen of its socket. */
interface Talk {
  readonly protocol: string;
  readonly text: string;
  readonly bytes: number;
  readonly isSame: boolean;
  readonly code: number;
}

describe.skipIf(!hasOpenssl() || !hasChromium())('a WebSocket of a browser', () => {
  const owned = new AsyncDisposableStack();
  let upstream: LocalServer;
  let browser: TestBrowser;

  beforeAll(async () => {
    upstream = owned.adopt(await startHttpServer(servePage, echoBy), (server) => server.stop());
    browser = owned.adopt(await startBrowser(), (each) => each.close());
  });
  afterAll(() => owned.disposeAsync());

  async function frontWith(stack: AsyncDisposableStack, listener: Readonly<Record<string, unknown>>): Promise<TlsWeir> {
    const endpoints = [`127.0.0.1:${upstream.port}`];
    const routes = { chat: { service: 'chat', endpoints, match: [{ paths: ['/*'] }] } };
    return startTlsWeir(stack, { routes, listener, gateway: { shutdown: { drain: '2s' } } });
  }

  it.each([
    ['shares the HTTP/2 connection of its page', {}, '2'],
    ['comes over HTTP/1.1 where the listener has no HTTP/2', { http2: false }, '1.1'],
  ])('%s', async (_how, listener, version) => {
    await using stack = new AsyncDisposableStack();
    const { weir, port } = await frontWith(stack, listener);
    const { page, complaints } = await browser.open({ ignoreHTTPSErrors: true });
    await page.goto(`https://localhost:${port}/page`);
    const talk: Talk = await page.evaluate(talkBy, [`wss://localhost:${port}/chat`, MESSAGE_BYTES] as const);
    expect(talk).toEqual({ protocol: 'v1.chat', text: 'grüße', bytes: MESSAGE_BYTES, isSame: true, code: 4001 });
    expect(complaints).toEqual([]);
    await page.context().close();
    const line = await waitFor(() => weir.accessLog().find(({ path }) => path === '/chat'), {
      limitMs: LIMIT_MS,
      what: 'its line in the access log',
    });
    expect(line).toMatchObject({ version, method: 'GET', status: 101, route: 'chat', error: null });
  });

  it('ends in the drain of a gateway that stops', async () => {
    await using stack = new AsyncDisposableStack();
    const { weir, port } = await frontWith(stack, {});
    const { page } = await browser.open({ ignoreHTTPSErrors: true });
    await page.goto(`https://localhost:${port}/page`);
    await page.evaluate(openSocket, `wss://localhost:${port}/chat`);
    const code = page.evaluate('closeCode');
    await weir.stop();
    expect(await code).toBe(1006);
    expect(weir.accessLog().find(({ path }) => path === '/chat')).toMatchObject({ version: '2', status: 101 });
    await page.context().close();
  });
});

/** Runs in the page: opens a socket; `closeCode` promises the code that it ends with. */
async function openSocket(url: string): Promise<void> {
  const socket = new WebSocket(url, 'v1.chat');
  const closeCode = new Promise<number>((resolve) => {
    socket.onclose = ({ code }) => resolve(code);
  });
  Object.assign(globalThis, { closeCode });
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
}

/** Runs in the page: says a text and a large message, then `bye`, and tells what came back. */
function talkBy([url, bytes]: readonly [string, number]): Promise<Talk> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, 'v1.chat');
    socket.binaryType = 'arraybuffer';
    const octets = Uint8Array.from({ length: bytes }, (_, at) => (at * 31 + (at >> 8)) & 0xff);
    let text = '';
    let echo = new Uint8Array();
    socket.onopen = () => socket.send('grüße');
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') {
        text = data;
        socket.send(octets);
      } else {
        echo = new Uint8Array(data);
        socket.send('bye');
      }
    };
    socket.onclose = ({ code }) => {
      const isSame = echo.every((octet, at) => octet === octets[at]);
      resolve({ protocol: socket.protocol, text, bytes: echo.length, isSame, code });
    };
  });
}

function servePage(
  _request: unknown,
  response: { end(content: string): void; setHeader(name: string, value: string): void },
): void {
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><link rel="icon" href="data:,"><title>page</title>');
}

/** Echoes, and ends with 4001 on `bye`. */
function echoBy(server: Server): void {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v1.chat' });
  sockets.on('connection', (socket) => {
    socket.on('message', (content, isBinary) => {
      if (String(content) === 'bye') socket.close(4001);
      else socket.send(content, { binary: isBinary });
    });
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, early: Buffer) => {
    sockets.handleUpgrade(request, socket, early, (open) => sockets.emit('connection', open));
  });
}
