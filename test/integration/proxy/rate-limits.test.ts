// Rate limits as clients meet them: who is counted together, what answers say, and who has to wait.
import { describe, expect, it } from 'vitest';
import { ask, fieldOf, namedUpstream, requestsOf, sayingName, type TextAnswer } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { OK } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import type { TestGateway } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

/** So slow that a test sees no request come free by itself. */
const THREE = { rate: '3/h', burst: 3 };

async function statusesOf(gateway: TestGateway, requests: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await ask(gateway.port, request)).status);
  return statuses;
}

function limitedBy(...rateLimit: readonly object[]): { readonly rateLimit: readonly object[] } {
  return { rateLimit };
}

describe('a rate limit', () => {
  it('says what is left with every answer, and when to come back with a refusal', async () => {
    const upstream = await upstreamThat(sayingName('ok', '404 Missing'));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: limitedBy(THREE) });
    const answers: TextAnswer[] = [];
    for (let at = 0; at < 4; at++) answers.push(await ask(gateway.port, get('/')));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 429]);
    for (const answer of answers) expect(fieldOf(answer, 'ratelimit-policy')).toBe('"client_ip";q=3;w=3600');
    const left = answers.map((answer) => /^"client_ip";r=(\d+);t=(\d+)$/.exec(fieldOf(answer, 'ratelimit') ?? ''));
    expect(left.map((found) => found?.[1])).toEqual(['2', '1', '0', '0']);
    expect(answers.slice(0, 3).map((answer) => fieldOf(answer, 'retry-after'))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const [refused] = answers.slice(3);
    if (refused === undefined) throw new Error('no refusal');
    expect(fieldOf(refused, 'retry-after')).toBe(left[3]?.[2]);
    // The third of an hour, or what is left of it.
    expect(Number(fieldOf(refused, 'retry-after'))).toBeGreaterThan(1100);
    expect(Number(fieldOf(refused, 'retry-after'))).toBeLessThanOrEqual(1200);
    expect(fieldOf(refused, 'proxy-status')).toBe('weir; error=http_request_denied');
    expect(fieldOf(refused, 'cache-control')).toBe('no-store');
    expect(JSON.parse(refused.content)).toMatchObject({ status: 429 });
    expect(requestsOf(upstream)).toBe(3);
    expect(gateway.counts.rateLimited()).toBe(1);
    expect(gateway.records.at(-1)).toMatchObject({ status: 429, error: 'rate_limited', attempts: [], branch: null });
    expect(gateway.endpoints()).toMatchObject([{ requests: 3, failures: 0 }]);
  });

  it('is told of by degraded answers and errors as well', async () => {
    const fallback = { chain: [{ respond: { status: 503, body: 'soon' } }] };
    for (const route of [limitedBy(THREE), { ...limitedBy(THREE), fallback }]) {
      const gateway = await gatewayFor({ endpoints: [], route });
      const answer = await ask(gateway.port, get('/'));
      expect(fieldOf(answer, 'ratelimit')).toMatch(/^"client_ip";r=2;t=\d+$/);
      expect(fieldOf(answer, 'ratelimit-policy')).toBe('"client_ip";q=3;w=3600');
    }
  });

  it('lets the client go on when its time has come', async () => {
    const upstream = await namedUpstream('ok');
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: limitedBy({ rate: '2/s', burst: 1 }) });
    const begunMs = performance.now();
    let admitted = 0;
    const isThird = async () => {
      if ((await ask(gateway.port, get('/'))).status === 200) admitted++;
      return admitted === 3;
    };
    await waitFor(isThird, { limitMs: 10_000, what: 'the third request to be admitted' });
    // One at once, then one each half second.
    expect(performance.now() - begunMs).toBeGreaterThan(990);
  });

  it.each(['token_bucket', 'leaky_bucket', 'sliding_window'])('may be a %s', async (algorithm) => {
    const upstream = await namedUpstream('ok');
    // A leaky bucket without a queue admits one request in the time that the rate gives to one.
    const burst = algorithm === 'sliding_window' ? {} : { burst: algorithm === 'leaky_bucket' ? 0 : 3 };
    const route = limitedBy({ algorithm, rate: '3/h', ...burst });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    const statuses = await statusesOf(
      gateway,
      Array.from({ length: 5 }, () => get('/')),
    );
    expect(statuses).toEqual(algorithm === 'leaky_bucket' ? [200, 429, 429, 429, 429] : [200, 200, 200, 429, 429]);
  });
});

describe('requests are counted together', () => {
  it('by the address of the client, behind trusted proxies by what they say of it', async () => {
    const upstream = await namedUpstream('ok');
    const from = (address: string) => get('/', `X-Forwarded-For: ${address}\r\n`);
    const route = limitedBy(THREE);
    const trusting = await gatewayFor({
      endpoints: [upstream.port],
      route,
      gateway: { trustedProxies: ['127.0.0.0/8'] },
    });
    const addresses = ['192.0.2.1', '192.0.2.1', 'a, 192.0.2.1', '192.0.2.1', '192.0.2.2', '::ffff:192.0.2.2'];
    expect(await statusesOf(trusting, addresses.map(from))).toEqual([200, 200, 200, 429, 200, 200]);
    const network = ['2001:db8::1', '2001:db8::ffff:2', '2001:db8:0:0:3::', '2001:db8::4', '2001:db8:0:1::1'];
    expect(await statusesOf(trusting, network.map(from))).toEqual([200, 200, 200, 429, 200]);
    // From anybody else these fields are not believed.
    const other = await gatewayFor({ endpoints: [upstream.port], route });
    const claims = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
    expect(await statusesOf(other, claims.map(from))).toEqual([200, 200, 200, 429]);
  });

  it.each([
    ['header', 'x-key', (key: string) => `X-Key: ${key}\r\n`],
    ['cookie', 'key', (key: string) => `Cookie: a=b; key=${key}; c=d\r\n`],
  ])('by a %s, those without one as one', async (key, name, fields) => {
    const upstream = await namedUpstream('ok');
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: limitedBy({ ...THREE, key, name }) });
    for (const each of [fields('one'), fields('two'), '']) {
      const statuses = await statusesOf(
        gateway,
        Array.from({ length: 4 }, () => get('/', each)),
      );
      expect(statuses).toEqual([200, 200, 200, 429]);
    }
    expect((await ask(gateway.port, get('/', fields('three')))).status).toBe(200);
    expect(fieldOf(await ask(gateway.port, get('/')), 'ratelimit')).toMatch(`"${key}:${name}";r=0;t=`);
  });

  it('for the whole route', async () => {
    const upstream = await namedUpstream('ok');
    const gateway = await gatewayFor({
      endpoints: [upstream.port],
      route: limitedBy({ ...THREE, key: 'route' }),
      otherRoutes: {
        free: { match: [{ paths: ['/free'] }] },
        own: { match: [{ paths: ['/own'] }], ...limitedBy(THREE) },
      },
      gateway: { trustedProxies: ['127.0.0.0/8'] },
    });
    const requests = [1, 2, 3, 4].map((at) => get('/', `X-Forwarded-For: 192.0.2.${at}\r\n`));
    expect(await statusesOf(gateway, requests)).toEqual([200, 200, 200, 429]);
    // Other routes have limits of their own, or none.
    expect(await statusesOf(gateway, [get('/free'), get('/own')])).toEqual([200, 200]);
  });
});

describe('several limits', () => {
  it('must all admit a request, and none counts one that another refuses', async () => {
    const upstream = await namedUpstream('ok');
    const route = limitedBy({ ...THREE, key: 'header', name: 'x-key' }, { rate: '5/h', burst: 5, key: 'route' });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    const requests = ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b'].map((key) => get('/', `X-Key: ${key}\r\n`));
    expect(await statusesOf(gateway, requests)).toEqual([200, 200, 200, 429, 429, 200, 200, 429]);
    const answer = await ask(gateway.port, get('/', 'X-Key: b\r\n'));
    expect(fieldOf(answer, 'ratelimit')).toMatch(/^"1:header:x-key";r=1;t=\d+, "2:route";r=0;t=\d+$/);
    expect(fieldOf(answer, 'ratelimit-policy')).toBe('"1:header:x-key";q=3;w=3600, "2:route";q=5;w=3600');
  });
});

describe('a leaky bucket', () => {
  it('spaces requests evenly, lets some wait, and refuses the rest at once', async () => {
    const arrivals: number[] = [];
    const upstream = await upstreamThat((connection) => {
      arrivals.push(performance.now());
      sayingName('ok')(connection);
    });
    const route = limitedBy({ algorithm: 'leaky_bucket', rate: '10/s', burst: 3, key: 'route' });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    const clients = await Promise.all(Array.from({ length: 8 }, () => RawClient.connect(gateway.port)));
    const begunMs = performance.now();
    for (const client of clients) client.send(get('/'));
    const answers = await Promise.all(clients.map((client) => client.untilClosed()));
    const served = answers.filter((answer) => answer.startsWith('HTTP/1.1 200')).length;
    // Four of eight, more where this machine took long to send them.
    expect(served).toBeGreaterThanOrEqual(4);
    expect(gateway.counts.rateLimited()).toBe(8 - served);
    // A timer may fire a millisecond early.
    for (const [at, ms] of arrivals.entries()) expect(ms - begunMs).toBeGreaterThan(100 * at - 10);
  });

  it('forgets a request whose client leaves while it waits', async () => {
    const upstream = await namedUpstream('ok');
    const route = limitedBy({ algorithm: 'leaky_bucket', rate: '1/s', burst: 3, key: 'route' });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    await ask(gateway.port, get('/'));
    const client = await RawClient.connect(gateway.port);
    client.send(get('/waiting'));
    await waitFor(() => gateway.counts.inFlight() === 1, { limitMs: 2000, what: 'the request to wait' });
    client.reset();
    await waitFor(() => gateway.records.length === 2, { limitMs: 2000, what: 'its record' });
    expect(gateway.records[1]).toMatchObject({ status: 0, error: 'client_gone', attempts: [] });
    expect((await ask(gateway.port, get('/after'))).status).toBe(200);
    expect(upstream.received()).not.toContain('/waiting');
    expect(gateway.counts.inFlight()).toBe(0);
  });

  it('takes in the content of a request that waits', async () => {
    const content = 'x'.repeat(300_000);
    const upstream = await upstreamThat((connection, asked) => {
      const answer = () => connection.received.endsWith(content) && connection.socket.write(OK);
      // Before it has all of it an endpoint that answers is not sent the rest.
      if (asked.startsWith('PUT')) connection.socket.on('data', answer);
      else connection.socket.write(OK);
    });
    const route = limitedBy({ algorithm: 'leaky_bucket', rate: '4/s', burst: 3, key: 'route' });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    await ask(gateway.port, get('/'));
    const head = `PUT /up HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: ${content.length}\r\n\r\n`;
    expect((await ask(gateway.port, head + content)).status).toBe(200);
    expect(upstream.received()).toContain(`\r\n\r\n${content}`);
  });
});
