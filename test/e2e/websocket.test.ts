// WebSockets through the gateway: tunnels, refused upgrades, and the load that an open tunnel is.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const REFUSAL = '{"error":"not for you"}';

describe('WebSockets', () => {
  const owned = new AsyncDisposableStack();
  let upstream: LocalServer;
  let weir: WeirProcess;

  beforeAll(async () => {
    upstream = owned.adopt(
      await startHttpServer(
        (_request, response) => response.end('plain'),
        (server) => upgradeBy(server),
      ),
      (server) => server.stop(),
    );
    const endpoints = [`127.0.0.1:${upstream.port}`];
    weir = owned.adopt(
      await startWeir({
        routes: {
          chat: { service: 'chat', endpoints, match: [{ paths: ['/chat', '/private'] }] },
          plain: { service: 'plain', endpoints, websocket: false, match: [{ paths: ['/plain'] }] },
        },
      }),
      (gateway) => gateway.close(),
    );
  });
  afterAll(() => owned.disposeAsync());

  const url = (path: string) => `ws://127.0.0.1:${weir.port}${path}`;
  const inFlight = (count: number) =>
    weir.serviceWith('chat', `${count} in flight`, ({ endpoints }) => endpoints[0]?.inFlight === count);

  it('are tunnelled byte for byte both ways, and are in flight until they end', async () => {
    const client = new WebSocket(url('/chat'), ['v2.chat', 'v1.chat']);
    await once(client, 'open');
    expect(client.protocol).toBe('v1.chat');
    await inFlight(1);
    for (const message of [Buffer.from('grüße'), Buffer.alloc(0), randomBytes(70_000), randomBytes(1_000_000)]) {
      const echoed = once(client, 'message');
      client.send(message);
      const [echo] = await echoed;
      expect(message.equals(echo)).toBe(true);
    }
    client.close(1000, 'done');
    const [code, reason] = await once(client, 'close');
    expect([code, String(reason)]).toEqual([1000, 'done']);
    const service = await inFlight(0);
    expect(service.endpoints).toMatchObject([{ requests: 1, failures: 0 }]);
  });

  it('end with the code of the service when the service ends them', async () => {
    const client = new WebSocket(url('/chat'), 'v1.chat');
    await once(client, 'open');
    client.send('bye');
    const [code] = await once(client, 'close');
    expect(code).toBe(4001);
    await inFlight(0);
  });

  it('of many clients at once do not mix', async () => {
    const clients = Array.from({ length: 40 }, () => new WebSocket(url('/chat'), 'v1.chat'));
    await Promise.all(clients.map((client) => once(client, 'open')));
    await inFlight(clients.length);
    const echoes = await Promise.all(
      clients.map(async (client, at) => {
        const echoed = once(client, 'message');
        client.send(`client ${at}`);
        const [echo] = await echoed;
        return String(echo);
      }),
    );
    expect(echoes).toEqual(clients.map((_client, at) => `client ${at}`));
    for (const client of clients) client.close();
    await Promise.all(clients.map((client) => once(client, 'close')));
    await inFlight(0);
  });

  it('are released on both sides when the client breaks off', async () => {
    const client = new WebSocket(url('/chat'), 'v1.chat');
    await once(client, 'open');
    await inFlight(1);
    client.terminate();
    await inFlight(0);
  });

  it('that the service refuses are refused with its status, fields and body', async () => {
    const client = new WebSocket(url('/private'));
    const [, response]: [unknown, IncomingMessage] = await new Promise((resolve, reject) => {
      client.on('unexpected-response', (...answer) => resolve(answer));
      client.on('error', reject);
      client.on('open', () => reject(new Error('the upgrade was not refused')));
    });
    let body = '';
    for await (const chunk of response) body += String(chunk);
    expect([response.statusCode, response.headers['content-type'], body]).toEqual([403, 'application/json', REFUSAL]);
    await inFlight(0);
  });

  it('are answered as if they had not asked on a route that has none', async () => {
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
    const answer = await weir.get('/plain', {
      headers: { ...headers, 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==' },
    });
    expect(answer).toMatchObject({ status: 200, body: 'plain' });
  });

  it('have one line each in the access log, when they end', async () => {
    const client = new WebSocket(url('/chat'), 'v1.chat', { headers: { 'User-Agent': 'one line' } });
    await once(client, 'open');
    client.close();
    await once(client, 'close');
    const lines = () => weir.accessLog().filter(({ userAgent }) => userAgent === 'one line');
    const line = await waitFor(() => lines()[0], { limitMs: 5000, what: 'its line' });
    expect(line).toMatchObject({ method: 'GET', path: '/chat', status: 101, route: 'chat', error: null });
    expect(line.attempts).toMatchObject([{ endpoint: `127.0.0.1:${upstream.port}`, outcome: 'success' }]);
    expect(lines()).toHaveLength(1);
  });
});

/** Echoes on /chat, ends with 4001 on `bye`; refuses /private. */
function upgradeBy(server: Server): void {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v1.chat' });
  sockets.on('connection', (socket) => {
    socket.on('message', (content, isBinary) => {
      if (String(content) === 'bye') socket.close(4001);
      else socket.send(content, { binary: isBinary });
    });
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, early: Buffer) => {
    if (request.url === '/chat') {
      sockets.handleUpgrade(request, socket, early, (open) => sockets.emit('connection', open));
      return;
    }
    const head = `HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: ${REFUSAL.length}\r\n\r\n`;
    socket.end(`${head}${REFUSAL}`);
  });
}
