// Upgrades under the policies of their route: limits, maintenance, split, balancing, and what counts as a failure.
import { describe, expect, it } from 'vitest';
import { endpoint } from '../../support/endpoints.ts';
import { findFreePorts } from '../../support/free-ports.ts';
import { ask, fieldOf, namedUpstream, type TextAnswer } from '../../support/named-upstream.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { RawConnection, RawUpstream } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import type { TestGateway } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';

function upgrade(fields = ''): string {
  return `GET /ws HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${KEY}${fields}\r\n`;
}

/** An upstream that opens every tunnel and says its name in it. */
function tunnelling(name: string): Promise<RawUpstream> {
  return upstreamThat(({ socket }) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n<${name}>`);
  });
}

/** An open tunnel, and to whom. */
async function tunnel(
  { port }: TestGateway,
  fields = '',
): Promise<{ readonly client: RawClient; readonly to: string }> {
  const client = await RawClient.connect(port);
  client.send(upgrade(fields));
  const received = await client.until('>');
  expect(received).toContain('HTTP/1.1 101 ');
  return { client, to: /<(.*)>/.exec(received)?.[1] ?? '' };
}

function refused({ port }: TestGateway, fields = ''): Promise<TextAnswer> {
  return ask(port, upgrade(fields));
}

function inFlight(gateway: TestGateway): number[] {
  return gateway.endpoints().map((each) => each.inFlight);
}

describe('an upgrade', () => {
  it('counts under a rate limit, and is refused by it', async () => {
    const upstream = await tunnelling('a');
    const rateLimit = [{ rate: '2/h', burst: 2 }];
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { rateLimit } });
    const open = [await tunnel(gateway), await tunnel(gateway)];
    const answer = await refused(gateway);
    expect([answer.status, fieldOf(answer, 'ratelimit-policy')]).toEqual([429, '"client_ip";q=2;w=3600']);
    expect(Number(fieldOf(answer, 'retry-after'))).toBeGreaterThan(0);
    expect(fieldOf(answer, 'ratelimit')).toMatch(/r=0;t=\d+/);
    expect(gateway.counts.rateLimited()).toBe(1);
    expect(gateway.records.at(-1)).toMatchObject({ status: 429, error: 'rate_limited', attempts: [] });
    for (const { client } of open) client.close();
  });

  it('cannot wait behind others in a leaky bucket', async () => {
    const upstream = await tunnelling('a');
    const rateLimit = [{ algorithm: 'leaky_bucket', rate: '1/h', burst: 10, key: 'route' }];
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { rateLimit } });
    const { client } = await tunnel(gateway);
    expect((await refused(gateway)).status).toBe(429);
    client.close();
  });

  it('holds a place of the concurrency limit until the tunnel ends, however that is', async () => {
    const upstream = await tunnelling('a');
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { concurrency: { max: 2, queue: 5 } } });
    const open = [await tunnel(gateway), await tunnel(gateway)];
    expect(gateway.counts.concurrency()).toEqual({ running: 2, waiting: 0 });
    const answer = await refused(gateway);
    expect([answer.status, fieldOf(answer, 'proxy-status')]).toEqual([503, 'weir; error=connection_limit_reached']);
    expect(fieldOf(answer, 'retry-after')).toBe('1');
    // One is ended by its client, the other by the endpoint.
    open[0]?.client.reset();
    upstream.connections[1]?.socket.destroy();
    await waitFor(() => gateway.counts.concurrency().running === 0, { limitMs: 3000, what: 'both places' });
    const again = await tunnel(gateway);
    again.client.close();
    await waitFor(() => gateway.counts.concurrency().running === 0, { limitMs: 3000, what: 'the last place' });
  });

  it('gives its place back when there is nobody to tunnel to', async () => {
    const [dead = 0] = await findFreePorts(1);
    for (const endpoints of [[], [dead]]) {
      const gateway = await gatewayFor({ endpoints, route: { concurrency: { max: 1 } } });
      for (let at = 0; at < 3; at++) expect((await refused(gateway)).head).not.toContain('limit_reached');
      await waitFor(() => gateway.counts.concurrency().running === 0, { limitMs: 3000, what: 'the place' });
    }
  });

  it('is refused during maintenance', async () => {
    const upstream = await tunnelling('a');
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { concurrency: { max: 1 } } });
    gateway.service.setMaintenance(true);
    const answer = await refused(gateway);
    expect([answer.status, fieldOf(answer, 'retry-after')]).toEqual([503, '30']);
    expect(gateway.records).toMatchObject([{ status: 503, error: 'maintenance', attempts: [] }]);
    gateway.service.setMaintenance(false);
    (await tunnel(gateway)).client.close();
  });

  it('goes to its branch of a split, or to the one that stands in, and the record says which', async () => {
    const [stable, canary] = [await tunnelling('stable'), await tunnelling('canary')];
    const stableEndpoint = endpoint(stable.port, { tags: ['stable'] });
    const split = [
      { weight: 1, tags: ['stable'] },
      { weight: 0, tags: ['canary'], when: { header: 'x-canary' } },
    ];
    const gateway = await gatewayFor({
      endpoints: [stableEndpoint, endpoint(canary.port, { tags: ['canary'] })],
      route: { split },
    });
    const open = [await tunnel(gateway), await tunnel(gateway, 'X-Canary: 1\r\n')];
    expect(open.map(({ to }) => to)).toEqual(['stable', 'canary']);
    gateway.update([stableEndpoint]);
    open.push(await tunnel(gateway, 'X-Canary: 1\r\n'));
    expect(open[2]?.to).toBe('stable');
    for (const { client } of open) client.close();
    await waitFor(() => gateway.records.length === 3, { limitMs: 3000, what: 'the records' });
    const labels = gateway.records.map(({ branch }) => branch);
    expect(labels.toSorted()).toEqual(['canary', 'stable', 'stable instead of canary']);
  });

  it('is kept out by an open breaker', async () => {
    const [dead = 0] = await findFreePorts(1);
    const breaker = { minRequests: 1, failurePercent: 1, open: '60s' };
    const gateway = await gatewayFor({ endpoints: [dead], route: { breaker } });
    expect((await refused(gateway)).head).toContain('error=connection_refused');
    await waitFor(() => gateway.service.timesOpened() === 1, { limitMs: 3000, what: 'an open breaker' });
    const answer = await refused(gateway);
    expect([answer.status, fieldOf(answer, 'proxy-status')]).toEqual([503, 'weir; error=destination_unavailable']);
    expect(gateway.records.at(-1)).toMatchObject({ error: 'breaker_open' });
  });
});

describe('tunnels under least request', () => {
  it('count as load, also for what comes to the pool later (case 120)', async () => {
    const [a, b, c] = [await tunnelling('a'), await tunnelling('b'), await tunnelling('c')];
    const route = { balance: { policy: 'least_request' } };
    const gateway = await gatewayFor({ endpoints: [a.port, b.port], route });
    const open = [];
    for (let at = 0; at < 4; at++) open.push(await tunnel(gateway));
    expect(inFlight(gateway)).toEqual([2, 2]);
    gateway.update([a.port, b.port, c.port]);
    for (let at = 0; at < 2; at++) open.push(await tunnel(gateway));
    expect(open.slice(4).map(({ to }) => to)).toEqual(['c', 'c']);
    expect(inFlight(gateway)).toEqual([2, 2, 2]);
    for (const { client } of open) client.close();
  });
});

describe('a refused upgrade', () => {
  const answering =
    (octets: string) =>
    ({ socket }: RawConnection) =>
      void socket.write(`HTTP/1.1 ${octets}\r\n\r\n`);

  it.each([
    ['of 503', '503 Busy\r\nContent-Length: 0', 1],
    ['of 503 with Retry-After', '503 Busy\r\nRetry-After: 1\r\nContent-Length: 0', 0],
    ['of 429', '429 Slow Down\r\nContent-Length: 0', 0],
    ['of 403', '403 No\r\nContent-Length: 0', 0],
  ])('%s counts against the endpoint where an answer would', async (_what, octets, failures) => {
    const upstream = await upstreamThat(answering(octets));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    expect((await refused(gateway)).head).toContain(octets.split('\r\n')[0] ?? '');
    await waitFor(() => gateway.records.length === 1, { limitMs: 3000, what: 'the record' });
    expect(gateway.endpoints()).toMatchObject([{ requests: 1, failures }]);
  });

  it('because the endpoint does not answer has the same status for the client and in the record', async () => {
    const upstream = await upstreamThat(() => undefined);
    const route = { timeout: { response: '100ms' }, rateLimit: [{ rate: '9/h' }] };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    const answer = await refused(gateway);
    expect([answer.status, fieldOf(answer, 'proxy-status')]).toEqual([504, 'weir; error=http_response_timeout']);
    expect(fieldOf(answer, 'ratelimit')).toMatch(/^"client_ip";r=8;t=\d+$/);
    await waitFor(() => gateway.records.length === 1, { limitMs: 3000, what: 'the record' });
    expect(gateway.records).toMatchObject([{ status: 504, error: 'http_response_timeout' }]);
  });
});

describe('a route without WebSockets', () => {
  it('counts a request that asks for one once under its limits, as any other', async () => {
    const upstream = await namedUpstream('plain');
    const route = { websocket: false, rateLimit: [{ rate: '2/h', burst: 2 }] };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    const statuses: number[] = [];
    for (let at = 0; at < 3; at++) {
      const client = await RawClient.connect(gateway.port);
      client.send(upgrade());
      statuses.push(Number((await client.until('\r\n\r\n')).slice(9, 12)));
      client.close();
    }
    expect(statuses).toEqual([200, 200, 429]);
  });
});
