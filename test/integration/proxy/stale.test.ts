// The fallback `stale`: which answers are kept, for whom, and how they are given again.
import { describe, expect, it } from 'vitest';
import { ask, fieldOf, sayingName, type TextAnswer } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { answering, type RawConnection } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import type { TestGateway } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const ROUTE = { fallback: { chain: [{ stale: { maxAge: '1h' } }, { respond: { status: 503, body: 'nothing' } }] } };

interface Asked {
  readonly first?: string;
  readonly again?: string;
  readonly route?: object;
  readonly gateway?: object;
}

/** The answer to the second request, for which the pool is empty. */
async function afterwards(script: (connection: RawConnection) => void, asked: Asked = {}): Promise<TextAnswer> {
  const { first = get('/page'), again = first, route = {}, gateway: limits = {} } = asked;
  const upstream = await upstreamThat(script);
  const gateway = await gatewayFor({
    endpoints: [upstream.port],
    route: { ...ROUTE, ...route },
    gateway: { ...limits },
  });
  const answer = await ask(gateway.port, first);
  expect(answer.head).not.toContain('X-Degraded');
  gateway.update([]);
  return ask(gateway.port, again);
}

describe('a good answer', () => {
  it.each([
    ['of announced length', 'Content-Length: 5\r\n\r\nhello'],
    ['in chunks', 'Transfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nX-End: 1\r\n\r\n'],
  ])('%s is given again while the service cannot answer, and says so', async (_what, octets) => {
    const fields = 'ETag: "v1"\r\nContent-Type: text/plain\r\nAge: 7\r\nX-Request-Id: of-another\r\n';
    const answer = await afterwards(answering(`HTTP/1.1 200 Fine\r\n${fields}${octets}`));
    expect(answer.head).toMatch(/^HTTP\/1\.1 200 Fine\r\n/);
    expect(answer.content).toBe('hello');
    expect(fieldOf(answer, 'content-length')).toBe('5');
    expect(answer.head).not.toMatch(/transfer-encoding|x-end: 1/i);
    expect(fieldOf(answer, 'etag')).toBe('"v1"');
    expect(Number(fieldOf(answer, 'age'))).toBeGreaterThanOrEqual(7);
    expect(Number(fieldOf(answer, 'age'))).toBeLessThan(17);
    expect(fieldOf(answer, 'x-degraded')).toMatch(/^empty; source=stale; since=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(fieldOf(answer, 'proxy-status')).toBe('weir; error=destination_unavailable');
    // The ids are those of this request, and one each.
    expect(fieldOf(answer, 'x-request-id')).toMatch(/^(?!of-another)[\w-]+$/);
    expect(Date.parse(fieldOf(answer, 'date') ?? '')).not.toBeNaN();
  });

  it('is given to a HEAD without its content', async () => {
    const again = get('/page').replace('GET', 'HEAD');
    const answer = await afterwards(sayingName('hello'), { again });
    expect(answer).toMatchObject({ status: 200, content: '' });
    expect(fieldOf(answer, 'content-length')).toBe('5');
    expect(fieldOf(answer, 'x-degraded')).toContain('source=stale');
  });

  it('is in the access record and in the counts as a degraded one', async () => {
    const upstream = await upstreamThat(sayingName('hello'));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    await ask(gateway.port, get('/'));
    gateway.update([]);
    await ask(gateway.port, get('/'));
    expect(gateway.records).toMatchObject([
      { status: 200, degraded: null },
      { status: 200, degraded: 'empty; source=stale', bytes: 5, attempts: [], error: null },
    ]);
    expect(gateway.counts.degradedAnswers('stale', 'empty')).toBe(1);
    expect(gateway.service.degraded()).toMatchObject({ reason: 'empty' });
  });

  it('is replaced by a newer one, once it is a second old', async () => {
    let count = 0;
    const upstream = await upstreamThat((connection) => sayingName(`v${++count}`)(connection));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    for (let at = 0; at < 3; at++) await ask(gateway.port, get('/'));
    const dueMs = performance.now() + 1100;
    await waitFor(() => performance.now() > dueMs, { limitMs: 3000, what: 'a second to go by' });
    await ask(gateway.port, get('/'));
    gateway.update([]);
    expect(await ask(gateway.port, get('/'))).toMatchObject({ content: 'v4' });
  });

  it('is kept by host and target, and by what Vary names', async () => {
    const upstream = await upstreamThat(({ socket }, head) => {
      const [, target = ''] = head.split(' ');
      const host = /Host: (\S+)/i.exec(head)?.[1] ?? '';
      const language = /Accept-Language: (\S+)/i.exec(head)?.[1] ?? 'none';
      const content = `${host}${target} ${language}`;
      socket.write(`HTTP/1.1 200 OK\r\nVary: Accept-Language\r\nContent-Length: ${content.length}\r\n\r\n${content}`);
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const requests = ['a.example', 'b.example'].flatMap((host) =>
      ['/one', '/one?x', '/two'].flatMap((path) =>
        ['', 'Accept-Language: de\r\n', 'Accept-Language: fr\r\n'].map((fields) =>
          get(path, fields).replace('Host: s', `Host: ${host}`),
        ),
      ),
    );
    const fresh = [];
    for (const request of requests) fresh.push((await ask(gateway.port, request)).content);
    expect(new Set(fresh).size).toBe(requests.length);
    gateway.update([]);
    const stale = [];
    for (const request of requests) stale.push((await ask(gateway.port, request)).content);
    expect(stale).toEqual(fresh);
    const unknown = get('/one', 'Accept-Language: it\r\n').replace('Host: s', 'Host: a.example');
    expect(await ask(gateway.port, unknown)).toMatchObject({ status: 503, content: 'nothing' });
    const spelt = get('/two').replace('Host: s', 'Host: A.EXAMPLE');
    expect(await ask(gateway.port, spelt)).toMatchObject({ content: 'a.example/two none' });
  });

  it('is given by its own route alone: another one may go by fields that Vary does not name', async () => {
    const upstream = await upstreamThat(sayingName('beta'));
    const match = (headers: object) => ({ match: [{ paths: ['/*'], ...headers }] });
    const gateway = await gatewayFor({
      endpoints: [upstream.port],
      route: ROUTE,
      otherRoutes: { beta: { ...ROUTE, ...match({ headers: { 'x-beta': '1' } }) } },
    });
    await ask(gateway.port, get('/', 'X-Beta: 1\r\n'));
    gateway.update([]);
    expect(await ask(gateway.port, get('/'))).toMatchObject({ content: 'nothing' });
    expect(await ask(gateway.port, get('/', 'X-Beta: 1\r\n'))).toMatchObject({ content: 'beta' });
  });

  it('is given for the other reasons of the fallback as well', async () => {
    let isBroken = false;
    const upstream = await upstreamThat((connection) => {
      if (isBroken) sayingName('oops', '500 Oops')(connection);
      else sayingName('hello')(connection);
    });
    const route = { fallback: { on: ['status-5xx', 'unreachable'], chain: [{ stale: {} }] } };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    await ask(gateway.port, get('/'));
    isBroken = true;
    expect((await ask(gateway.port, get('/'))).head).toContain('X-Degraded: status-5xx; source=stale; since=');
    await upstream.stop();
    expect((await ask(gateway.port, get('/'))).head).toContain('X-Degraded: unreachable; source=stale; since=');
    // There is none for this one: the client is told what is wrong.
    expect((await ask(gateway.port, get('/other'))).head).toContain('HTTP/1.1 502');
  });
});

describe('an answer is not kept', () => {
  it.each([
    ['that is private', sayingName('mine', '200 OK', 'Cache-Control: max-age=60, private\r\n'), ''],
    ['that says no-store', sayingName('mine', '200 OK', 'Cache-Control: No-Store\r\n'), ''],
    ['that says no-cache', sayingName('mine', '200 OK', 'Cache-Control: no-cache="x"\r\n'), ''],
    ['that must be validated', sayingName('mine', '200 OK', 'Cache-Control: must-revalidate\r\n'), ''],
    ['that sets a cookie', sayingName('mine', '200 OK', 'Set-Cookie: id=1\r\n'), ''],
    ['that varies by anything', sayingName('mine', '200 OK', 'Vary: *\r\n'), ''],
    ['to a request with Authorization', sayingName('mine'), 'Authorization: Basic eDp5\r\n'],
    ['to a request that says no-store', sayingName('mine'), 'Cache-Control: no-store\r\n'],
    ['to a request for a range', sayingName('mine'), 'Range: bytes=0-3\r\n'],
    ['of 404', sayingName('mine', '404 Not Found'), ''],
    ['of 206', sayingName('mine', '206 Partial Content', 'Content-Range: bytes 0-3/9\r\n'), ''],
    ['that ends with its connection', answeringAndClosing('HTTP/1.1 200 OK\r\n\r\nmine'), ''],
  ])('%s', async (_what, script, fields) => {
    const answer = await afterwards(script, { first: get('/page', fields), again: get('/page') });
    expect(answer).toMatchObject({ status: 503, content: 'nothing' });
    expect(fieldOf(answer, 'x-degraded')).toContain('source=respond');
  });

  it.each(['HEAD', 'POST', 'OPTIONS'])('to a %s', async (method) => {
    const first = get('/page').replace('GET', method);
    expect(await afterwards(sayingName('mine'), { first, again: get('/page') })).toMatchObject({ content: 'nothing' });
  });

  it('to be given to a request with Authorization, or to a POST', async () => {
    for (const again of [get('/page', 'Authorization: Basic eDp5\r\n'), get('/page').replace('GET', 'POST')]) {
      expect(await afterwards(sayingName('mine'), { first: get('/page'), again })).toMatchObject({
        content: 'nothing',
      });
    }
  });

  it.each([
    ['announced', `Content-Length: 2000\r\n\r\n${'x'.repeat(2000)}`],
    [
      'not announced',
      `Transfer-Encoding: chunked\r\n\r\n${'3e8\r\n'.concat('x'.repeat(1000), '\r\n').repeat(2)}0\r\n\r\n`,
    ],
  ])('that is larger than the cache takes, its length %s', async (_what, octets) => {
    const gateway = { degradedCache: { maxBytes: '64KiB', maxEntryBytes: '1KiB' } };
    const answer = await afterwards(answering(`HTTP/1.1 200 OK\r\n${octets}`), { gateway });
    expect(answer.content).toBe('nothing');
  });

  it.each([
    ['of announced length', 'Content-Length: 10\r\n\r\nhello', (c: RawConnection) => c.socket.end()],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', (c: RawConnection) => c.socket.resetAndDestroy()],
  ])('%s that broke off', async (_what, octets, breakOff) => {
    const upstream = await upstreamThat(({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\n${octets}`));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const client = await RawClient.connect(gateway.port);
    client.send(get('/page'));
    await client.until('hello');
    for (const connection of upstream.connections) breakOff(connection);
    await client.untilClosed();
    gateway.update([]);
    expect(await ask(gateway.port, get('/page'))).toMatchObject({ content: 'nothing' });
  });

  it('whose client left in the middle', async () => {
    const upstream = await upstreamThat(
      ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello'),
    );
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const client = await RawClient.connect(gateway.port);
    client.send(get('/page'));
    await client.until('hello');
    client.reset();
    await waitFor(() => gateway.records.length === 1, { limitMs: 2000, what: 'the record' });
    gateway.update([]);
    expect(await ask(gateway.port, get('/page'))).toMatchObject({ content: 'nothing' });
  });

  it('where the fallback has no step for it', async () => {
    const route = { fallback: { chain: [{ respond: { body: 'nothing' } }] } };
    expect(await afterwards(sayingName('mine'), { route })).toMatchObject({ content: 'nothing' });
  });
});

describe('a kept answer', () => {
  it.each([
    ['the route', { fallback: { chain: [{ stale: { maxAge: '1s' } }] } }, ''],
    ['the service', {}, 'Cache-Control: s-maxage=1\r\n'],
  ])('is not given when it is older than %s allows', async (_who, route, fields) => {
    const upstream = await upstreamThat(sayingName('old', '200 OK', `${fields}Age: 100\r\n`));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { ...ROUTE, ...route } });
    await ask(gateway.port, get('/'));
    gateway.update([]);
    expect((await ask(gateway.port, get('/'))).status).toBe(503);
  });

  it('makes room for newer ones: the cache is bounded', async () => {
    const upstream = await upstreamThat(sayingName('x'.repeat(900)));
    const degradedCache = { maxBytes: '64KiB', maxEntryBytes: '1KiB' };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE, gateway: { degradedCache } });
    for (let at = 0; at < 100; at++) await ask(gateway.port, get(`/${at}`));
    gateway.update([]);
    expect(await keptOf(gateway, 90, 100)).toBe(10);
    const kept = await keptOf(gateway, 0, 100);
    expect(kept).toBeGreaterThan(20);
    expect(kept).toBeLessThan(65);
  });
});

async function keptOf(gateway: TestGateway, from: number, to: number): Promise<number> {
  let kept = 0;
  for (let at = from; at < to; at++) if ((await ask(gateway.port, get(`/${at}`))).status === 200) kept++;
  return kept;
}

function answeringAndClosing(octets: string): (connection: RawConnection) => void {
  return ({ socket }) => void socket.end(octets);
}
