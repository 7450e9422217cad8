// Attempts and what follows from their failure: another endpoint, an ejection, the fallback, an error.
import { describe, expect, it } from 'vitest';
import { endpoint } from '../../support/endpoints.ts';
import { findFreePorts } from '../../support/free-ports.ts';
import { exchange, get, RawClient } from '../../support/raw-client.ts';
import { answering, OK, type RawConnection } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const REFUSED = async (): Promise<number> => (await findFreePorts(1))[0] ?? 0;

const FAULTS: readonly [string, (connection: RawConnection) => void, number, string][] = [
  ['closes without a byte', ({ socket }) => void socket.end(), 502, 'connection_terminated'],
  ['resets without a byte', ({ socket }) => void socket.resetAndDestroy(), 502, 'connection_terminated'],
  ['never answers', () => undefined, 504, 'http_response_timeout'],
  ['answers garbage', ({ socket }) => void socket.write('NOT HTTP\r\n\r\n'), 502, 'http_protocol_error'],
  ['answers a status of 99', ({ socket }) => void socket.write('HTTP/1.1 99 X\r\n\r\n'), 502, 'http_protocol_error'],
  [
    'answers a control byte in a field',
    ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 2\r\n\r\nok'),
    502,
    'http_protocol_error',
  ],
  [
    'answers two lengths',
    ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'),
    502,
    'http_protocol_error',
  ],
];

describe('an endpoint that', () => {
  it.each(FAULTS)('%s gives %s %d %s, whole and well-formed (cases 15 and 16)', async (_what, fault, status, error) => {
    const upstream = await upstreamThat(fault);
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { timeout: { response: '200ms' } } });
    for (const request of [
      get('/'),
      'POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi',
    ]) {
      const answer = await exchange(gateway.port, request);
      expect(answer).toContain(`HTTP/1.1 ${status} `);
      expect(answer).toContain(`Proxy-Status: weir; error=${error}\r\n`);
      expect(answer).toContain('Content-Type: application/problem+json\r\n');
      const [head = '', content = ''] = answer.split('\r\n\r\n');
      expect(head).toContain(`Content-Length: ${content.length}`);
      expect(JSON.parse(content)).toMatchObject({ status });
    }
    expect(gateway.records.map(({ error: why }) => why)).toEqual([error, error]);
  });

  it('refuses the connection gives 502 connection_refused', async () => {
    const gateway = await gatewayFor({ endpoints: [await REFUSED()] });
    expect(await exchange(gateway.port, get('/'))).toContain('Proxy-Status: weir; error=connection_refused');
  });

  it('has a name that does not resolve gives 502 dns_error, and others serve (case 67)', async () => {
    const upstream = await upstreamThat(answering(OK));
    const nameless = endpoint(80, { key: 'gone.invalid:80', host: 'gone.invalid' });
    const alone = await gatewayFor({ endpoints: [nameless] });
    expect(await exchange(alone.port, get('/'))).toMatch(/error=(dns_error|destination_ip_unroutable)/);
    const gateway = await gatewayFor({ endpoints: [upstream.port, nameless] });
    for (let at = 0; at < 20; at++) expect(await exchange(gateway.port, get('/'))).toContain('200 OK');
  });

  it.each(FAULTS)('%s is replaced by another for a GET', async (_what, fault) => {
    const [bad, good] = [await upstreamThat(fault), await upstreamThat(answering(OK))];
    const route = { timeout: { response: '200ms' }, ejection: { consecutiveFailures: 1 } };
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route });
    for (let at = 0; at < 6; at++) expect(await exchange(gateway.port, get('/'))).toContain('200 OK');
    expect(gateway.endpoints().filter(({ state }) => state === 'ejected')).toHaveLength(1);
  });
});

describe('a POST', () => {
  const post = 'POST /pay HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 5\r\n\r\nmoney';

  it('whose endpoint broke off after it was sent is not sent again (case 22)', async () => {
    const bad = await upstreamThat(({ socket }) => void socket.end());
    const gateway = await gatewayFor({ endpoints: [bad.port, endpoint(bad.port, { key: `localhost:${bad.port}` })] });
    expect(await exchange(gateway.port, post)).toContain('HTTP/1.1 502');
    expect(bad.connections).toHaveLength(1);
  });

  it('whose connection was refused goes to another with its whole content', async () => {
    const good = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [await REFUSED(), good.port] });
    for (let at = 0; at < 4; at++) expect(await exchange(gateway.port, post)).toContain('200 OK');
    expect(good.received().match(/money/g)).toHaveLength(4);
  });

  it('with an Idempotency-Key is sent again, content and all', async () => {
    const bad = await upstreamThat(({ socket }) => void socket.end());
    const good = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route: { timeout: { response: '300ms' } } });
    const keyed = post.replace('Content-Length', 'Idempotency-Key: k1\r\nContent-Length');
    for (let at = 0; at < 4; at++) expect(await exchange(gateway.port, keyed)).toContain('200 OK');
  });

  it('that is larger than what is kept is not sent again, though it is idempotent by its key', async () => {
    const bad = await upstreamThat(({ socket }) => {
      socket.on('data', () => undefined);
      socket.once('end', () => undefined);
    });
    const good = await upstreamThat(answering(OK));
    const route = { timeout: { response: '300ms' }, retry: { bodyBuffer: '16B' } };
    const gateway = await gatewayFor({ endpoints: [bad.port, good.port], route });
    const content = 'x'.repeat(100);
    const request = `POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nIdempotency-Key: k\r\nContent-Length: 100\r\n\r\n${content}`;
    const statuses = [await exchange(gateway.port, request), await exchange(gateway.port, request)].map((answer) =>
      answer.slice(9, 12),
    );
    expect(statuses.sort()).toEqual(['200', '504']);
  });
});

describe('an answer', () => {
  it('with a status of retry.statuses is asked for again elsewhere, and passed on when there is nobody else', async () => {
    const busy = await upstreamThat(answering('HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy'));
    const good = await upstreamThat(answering(OK));
    const both = await gatewayFor({ endpoints: [busy.port, good.port] });
    for (let at = 0; at < 4; at++) expect(await exchange(both.port, get('/'))).toContain('200 OK');
    const alone = await gatewayFor({ endpoints: [busy.port] });
    const answer = await exchange(alone.port, get('/'));
    expect(answer).toContain('HTTP/1.1 503 Busy\r\n');
    expect(answer).toMatch(/busy$/);
  });

  it('of 500 or 404 is the application’s word, and 404 is no failure (case 115)', async () => {
    const upstream = await upstreamThat(({ socket }, head) => {
      const status = head.startsWith('GET /bug') ? '500 Bug' : '404 Missing';
      socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 3\r\n\r\napp`);
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    expect(await exchange(gateway.port, get('/bug'))).toMatch(/^HTTP\/1\.1 500 Bug[\s\S]*app$/);
    expect(await exchange(gateway.port, get('/missing'))).toMatch(/^HTTP\/1\.1 404 Missing[\s\S]*app$/);
    expect(gateway.endpoints()[0]).toMatchObject({ requests: 2, failures: 1 });
  });
});

describe('the fallback', () => {
  const respond = { respond: { status: 503, contentType: 'application/json', body: '{"error":"soon"}' } };

  it('answers for an empty pool, marked as degraded, and the pool takes over again', async () => {
    const upstream = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({ endpoints: [], route: { fallback: { chain: [respond] } } });
    const answer = await exchange(gateway.port, get('/'));
    expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*\{"error":"soon"\}$/);
    expect(answer).toMatch(/X-Degraded: empty; source=respond; since=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\r\n/);
    expect(answer).toContain('Proxy-Status: weir; error=destination_unavailable\r\n');
    await exchange(gateway.port, get('/'));
    gateway.update([upstream.port]);
    expect(await exchange(gateway.port, get('/'))).not.toContain('X-Degraded');
    expect(gateway.logLines.filter((line) => line.includes('degraded'))).toHaveLength(1);
    expect(gateway.logLines.filter((line) => line.includes('from its pool again'))).toHaveLength(1);
    expect(gateway.records.map(({ degraded }) => degraded)).toEqual([
      'empty; source=respond',
      'empty; source=respond',
      null,
    ]);
  });

  it('asks its upstream first, and answers itself when that fails', async () => {
    const other = await upstreamThat(answering('HTTP/1.1 200 OK\r\nETag: "o"\r\nContent-Length: 5\r\n\r\nother'));
    const [dead] = await findFreePorts(1);
    const chain = [{ upstream: [`http://127.0.0.1:${other.port}`] }, respond];
    const gateway = await gatewayFor({ endpoints: [dead ?? 0], route: { fallback: { chain } } });
    const answer = await exchange(gateway.port, get('/x?y'));
    expect(answer).toMatch(/X-Degraded: unreachable; source=upstream; since=/);
    expect(answer).toMatch(/ETag: "o"[\s\S]*other$/);
    expect(other.received()).toContain('GET /x?y HTTP/1.1');
    await other.stop();
    expect(await exchange(gateway.port, get('/'))).toMatch(/source=respond[\s\S]*\{"error":"soon"\}$/);
  });

  it('gives a HEAD the head alone', async () => {
    const gateway = await gatewayFor({ endpoints: [], route: { fallback: { chain: [respond] } } });
    const answer = await exchange(gateway.port, get('/').replace('GET', 'HEAD'));
    expect(answer).toContain('Content-Length: 16\r\n');
    expect(answer).toMatch(/\r\n\r\n$/);
  });

  it('inherits nothing from the attempt that failed (case 7)', async () => {
    const bad = await upstreamThat(
      answering(
        'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nETag: "x"\r\nContent-Length: 9\r\nContent-Length: 8\r\n\r\n',
      ),
    );
    const gateway = await gatewayFor({ endpoints: [bad.port], route: { fallback: { chain: [respond] } } });
    const answer = await exchange(gateway.port, get('/'));
    expect(answer).toContain('Content-Length: 16\r\n');
    expect(answer).not.toMatch(/gzip|etag/i);
  });

  it('is left alone for a reason that it does not name', async () => {
    const [dead] = await findFreePorts(1);
    const route = { fallback: { on: ['empty'], chain: [respond] } };
    const gateway = await gatewayFor({ endpoints: [dead ?? 0], route });
    expect(await exchange(gateway.port, get('/'))).toContain('error=connection_refused');
  });
});

describe('an endpoint that leaves', () => {
  it('gets nothing more, and its idle connections close (case 96)', async () => {
    const [one, two] = [await upstreamThat(answering(OK)), await upstreamThat(answering(OK))];
    const gateway = await gatewayFor({ endpoints: [one.port, two.port] });
    for (let at = 0; at < 4; at++) await exchange(gateway.port, get('/'));
    expect([one.open(), two.open()]).toEqual([1, 1]);
    gateway.update([two.port]);
    await waitFor(() => one.open() === 0, { limitMs: 1000, what: 'the idle connection to close' });
    const before = one.received();
    for (let at = 0; at < 10; at++) await exchange(gateway.port, get('/'));
    expect(one.received()).toBe(before);
  });

  it('finishes what it has under way', async () => {
    const slow = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
    });
    const gateway = await gatewayFor({ endpoints: [slow.port] });
    const client = await RawClient.connect(gateway.port);
    client.send(get('/'));
    await client.until('hello');
    gateway.update([]);
    slow.connections[0]?.socket.write('world');
    expect(await client.untilClosed()).toMatch(/helloworld$/);
  });
});
