// What clients may do to a gateway, its endpoints and each other: nothing of it may cost anybody else.
import { describe, expect, it } from 'vitest';
import { endpoint } from '../../support/endpoints.ts';
import { exchange, get, RawClient } from '../../support/raw-client.ts';
import { answering, OK } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const UPGRADE =
  'GET /ws HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';

describe('a client', () => {
  it('that expects 100-continue for a WebSocket gets its tunnel, and the worker lives', async () => {
    const upstream = await upstreamThat(answering(SWITCHED));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send(`${UPGRADE}Expect: 100-continue\r\n\r\n`);
    expect(await client.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 101 /);
    expect(upstream.received()).not.toMatch(/expect/i);
    client.close();
  });

  it('that pipelines and does not read is answered no further, and cut after its time', async () => {
    const answer = `HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n${'x'.repeat(50_000)}`;
    const upstream = await upstreamThat(answering(answer));
    const gateway = await gatewayFor({ endpoints: [upstream.port], gateway: { timeouts: { write: '1s' } } });
    const client = await RawClient.connect(gateway.port);
    client.socket.pause();
    const request = 'GET /big HTTP/1.1\r\nHost: s\r\n\r\n'.repeat(2000);
    const push = setInterval(() => client.send(request), 20);
    await waitFor(() => gateway.connections().downstream === 0, { limitMs: 8000, what: 'the connection to be cut' });
    clearInterval(push);
    // What the kernel holds for one connection, and no more.
    expect(gateway.records.length * 50_000).toBeLessThan(32 * 1024 * 1024);
    client.close();
  });

  it('that does not read a stream of small pieces holds its endpoint up', async () => {
    const piece = `2710\r\n${'x'.repeat(10_000)}\r\n`;
    let sent = 0;
    const upstream = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const timer = setInterval(() => {
        if (socket.writableNeedDrain) return;
        sent += piece.length;
        socket.write(piece);
      }, 1);
      socket.on('close', () => clearInterval(timer));
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.socket.pause();
    client.send('GET / HTTP/1.1\r\nHost: s\r\n\r\n');
    let [last, since] = [-1, 0];
    await waitFor(
      () => {
        if (sent !== last) [last, since] = [sent, performance.now()];
        return sent > 0 && performance.now() - since > 500;
      },
      { limitMs: 20_000, what: 'the endpoint to be held up' },
    );
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    client.close();
  });

  it('that stalls in its upload says nothing against the endpoint', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await gatewayFor({
      endpoints: [upstream.port, endpoint(upstream.port, { key: `localhost:${upstream.port}`, host: 'localhost' })],
      route: { timeout: { response: '300ms' }, ejection: { consecutiveFailures: 1 } },
      gateway: { timeouts: { requestBody: '1s' } },
    });
    for (let at = 0; at < 3; at++) {
      await exchange(gateway.port, 'POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 10\r\n\r\nabc');
    }
    await waitFor(() => gateway.records.length === 3, { limitMs: 1000, what: 'the records' });
    expect(gateway.endpoints().map(({ failures, state }) => ({ failures, state }))).toEqual([
      { failures: 0, state: 'active' },
      { failures: 0, state: 'active' },
    ]);
  });

  it('cannot say who it is by any spelling of a forwarding field', async () => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const claims = ['X-Forwarded-User', 'X-Forwarded-Client-Cert', 'X_Forwarded_For', 'x-forwarded_proto', 'X_Real_IP'];
    await exchange(gateway.port, get('/', claims.map((name) => `${name}: evil\r\n`).join('')));
    expect(upstream.received()).not.toContain('evil');
  });

  it('that asks for a tunnel to an empty pool is refused, counted and let go', async () => {
    const gateway = await gatewayFor({ endpoints: [] });
    const client = await RawClient.connect(gateway.port);
    client.send(`${UPGRADE}\r\n`);
    expect(await client.untilClosed(2000)).toMatch(/^HTTP\/1\.1 503 /);
    await waitFor(() => gateway.connections().downstream === 0, { limitMs: 2000, what: 'the connection to be gone' });
    expect(gateway.records).toMatchObject([{ status: 503, error: 'empty_pool', route: 'r' }]);
  });

  it('that is refused for its head is in the access log', async () => {
    const gateway = await gatewayFor({ endpoints: [] });
    await exchange(gateway.port, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
    expect(gateway.records).toMatchObject([{ status: 400, error: 'bad_request', client: '127.0.0.1', route: null }]);
  });

  it('may send a WebSocket request as large as any other', async () => {
    const upstream = await upstreamThat(answering(SWITCHED));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const client = await RawClient.connect(gateway.port);
    client.send(`${UPGRADE}Cookie: ${'c'.repeat(25_000)}\r\n\r\n`);
    expect(await client.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 101 /);
    expect(upstream.received()).toContain('c'.repeat(25_000));
    client.close();
  });

  it('cannot smuggle in a trailer what the route takes out of the head', async () => {
    const upstream = await upstreamThat(answering(OK));
    const route = { rewrite: { requestHeaders: { remove: ['X-User-Id'] } } };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    await exchange(
      gateway.port,
      'POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-User-Id: evil\r\nCookie: evil\r\nX-Sum: 1\r\n\r\n',
    );
    expect(upstream.received()).toContain('\r\n0\r\nX-Sum: 1\r\n\r\n');
    expect(upstream.received()).not.toContain('evil');
  });

  it('has its whole time for a head also as the first after a long silence', async () => {
    const gateway = await gatewayFor({ endpoints: [], gateway: { timeouts: { requestHead: '400ms' } } });
    await exchange(gateway.port, get('/'));
    const silentSince = performance.now();
    await waitFor(() => performance.now() - silentSince > 700, { limitMs: 2000, what: 'a silence' });
    const client = await RawClient.connect(gateway.port);
    const begun = performance.now();
    await client.untilClosed(2000);
    expect(performance.now() - begun).toBeGreaterThan(350);
  });
});

describe('an endpoint', () => {
  it('that says when to come back is loaded, not broken', async () => {
    const busy = await upstreamThat(answering('HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 4\r\n\r\nbusy'));
    const gateway = await gatewayFor({ endpoints: [busy.port], route: { ejection: { consecutiveFailures: 1 } } });
    for (let at = 0; at < 3; at++) expect(await exchange(gateway.port, get('/'))).toContain('Retry-After: 3\r\n');
    expect(gateway.endpoints()[0]).toMatchObject({ failures: 0, state: 'active' });
  });

  it('that refuses a WebSocket answers as it would any request', async () => {
    const octets = 'HTTP/1.1 403 No\r\nServer: x\r\nKeep-Alive: timeout=5\r\nContent-Length: 4\r\n\r\nnope';
    const upstream = await upstreamThat(answering(octets));
    const route = { rewrite: { responseHeaders: { remove: ['Server'] } } };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    const client = await RawClient.connect(gateway.port);
    client.send(`${UPGRADE}\r\n`);
    const answer = await client.untilClosed(2000);
    expect(answer).toMatch(/connection: close\r\n/i);
    expect(answer).not.toMatch(/server: x|timeout=5|upgrade/i);
  });
});
