// Which endpoint a request goes to: by key, by load, by what the endpoint carries, by how long it has been there.
import { describe, expect, it } from 'vitest';
import { endpoint } from '../../support/endpoints.ts';
import { findFreePorts } from '../../support/free-ports.ts';
import { ask, namedUpstreams, namesOf, requestsOf, sayingName, tally } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import type { RawConnection, RawUpstream } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const portsOf = (upstreams: readonly RawUpstream[]) => upstreams.map(({ port }) => port);

function hashingBy(on: string, name?: string): Readonly<Record<string, unknown>> {
  return {
    balance: { policy: 'consistent_hash', hash: { on, boundedLoad: 'off', ...(name !== undefined && { name }) } },
  };
}

describe('consistent hashing', () => {
  it.each([
    ['header', 'X-User', (key: number) => get('/', `X-User: ${key}\r\n`)],
    ['cookie', 'user', (key: number) => get('/', `Cookie: other=1; user=${key}\r\n`)],
    ['path', undefined, (key: number) => get(`/${key}?at=${Math.random()}`)],
    ['query', 'user', (key: number) => get(`/${Math.random()}?a=b&user=${key}`)],
    ['query', undefined, (key: number) => get(`/${Math.random()}?user=${key}`)],
    ['client_ip', undefined, (key: number) => get('/', `X-Forwarded-For: 192.0.2.${key}\r\n`)],
  ])('by %s (%s) sends each key to one endpoint, and the keys to all of them', async (on, name, requestOf) => {
    const upstreams = await namedUpstreams('a', 'b', 'c', 'd');
    const gateway = await gatewayFor({
      endpoints: portsOf(upstreams),
      route: hashingBy(on, name),
      gateway: { trustedProxies: ['127.0.0.0/8'] },
    });
    const keys = Array.from({ length: 48 }, (_, at) => at);
    const rounds: string[][] = [];
    for (let round = 0; round < 3; round++) {
      const names: string[] = [];
      for (const key of keys) names.push((await ask(gateway.port, requestOf(key))).content);
      rounds.push(names);
    }
    expect(rounds[1]).toEqual(rounds[0]);
    expect(rounds[2]).toEqual(rounds[0]);
    expect(Object.keys(tally(rounds[0] ?? [])).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('spreads requests without a key, or with an empty one, over all endpoints (cases 123 and 124)', async () => {
    const upstreams = await namedUpstreams('a', 'b', 'c');
    const gateway = await gatewayFor({ endpoints: portsOf(upstreams), route: hashingBy('header', 'X-User') });
    expect(tally(await namesOf(gateway.port, 60))).toEqual({ a: 20, b: 20, c: 20 });
    expect(tally(await namesOf(gateway.port, 60, () => 'X-User:\r\n'))).toEqual({ a: 20, b: 20, c: 20 });
    const distinct = tally(await namesOf(gateway.port, 120, (at) => `X-User: ${at}\r\n`));
    expect(Math.max(...Object.values(distinct))).toBeLessThan(80);
    expect(gateway.records.every(({ status }) => status === 200)).toBe(true);
  });

  it('spreads the keys of a dead endpoint over all others, to the places that they keep (case 117)', async () => {
    const upstreams = await namedUpstreams('a', 'b', 'c', 'd', 'e');
    // A process that takes the port of the dead one would answer for it.
    const gateway = await gatewayFor({
      endpoints: portsOf(upstreams),
      route: {
        ...hashingBy('header', 'X-User'),
        retry: { budget: 'off' },
        ejection: { consecutiveFailures: 5, base: '60s' },
      },
    });
    const keyed = () => namesOf(gateway.port, 400, (at) => `X-User: user-${at}\r\n`);
    const before = await keyed();
    const [dead] = upstreams;
    await dead?.stop();
    // First by retries, then as an ejected one.
    const during = await keyed();
    gateway.update(portsOf(upstreams.slice(1)));
    const after = await keyed();
    expect(during).toEqual(after);
    const moved = after.filter((_, at) => before[at] === 'a');
    expect(after.filter((name, at) => before[at] !== 'a' && name !== before[at])).toEqual([]);
    expect(moved.length).toBeGreaterThan(30);
    const places = tally(moved);
    expect(Object.keys(places).toSorted()).toEqual(['b', 'c', 'd', 'e']);
    expect(Math.max(...Object.values(places))).toBeLessThanOrEqual(moved.length / 2);
    expect(gateway.endpoints()).toHaveLength(4);
  });

  it('passes a key on when its endpoint has too much to do already', async () => {
    const held: RawConnection[] = [];
    const upstreams = await Promise.all(
      [0, 1, 2, 3].map(() => upstreamThat((connection) => void held.push(connection))),
    );
    const hash = { on: 'header', name: 'x-user', boundedLoad: 1.25 };
    const gateway = await gatewayFor({
      endpoints: portsOf(upstreams),
      route: { balance: { policy: 'consistent_hash', hash } },
    });
    const clients = await Promise.all(Array.from({ length: 16 }, () => RawClient.connect(gateway.port)));
    for (const [at, client] of clients.entries()) {
      client.send(get('/', 'X-User: one\r\n'));
      await waitFor(() => held.length === at + 1, { limitMs: 3000, what: `request ${at}` });
    }
    // 1.25 × 16 ÷ 4, the share of each rounded up.
    expect(Math.max(...upstreams.map(requestsOf))).toBe(5);
    for (const connection of held) sayingName('ok')(connection);
    await Promise.all(clients.map((client) => client.untilClosed()));
  });
});

describe('least request', () => {
  it('goes by in-flight divided by weight with every pick (case 121)', async () => {
    for (const weights of [
      [1, 1],
      [10, 1],
      [4, 2],
    ] as const) {
      const { upstreams, loads, answer } = await holders(2);
      const endpoints = upstreams.map(({ port }, at) => endpoint(port, { weight: weights[at] ?? 1 }));
      const gateway = await gatewayFor({ endpoints, route: { balance: { policy: 'least_request' } } });
      const clients: RawClient[] = [];
      const send = async () => {
        const client = await RawClient.connect(gateway.port);
        clients.push(client);
        client.send(get('/'));
        const all = clients.length;
        await waitFor(() => requestsOf(upstreams[0] ?? never()) + requestsOf(upstreams[1] ?? never()) === all, {
          limitMs: 3000,
          what: 'the request',
        });
      };
      const sum = weights[0] + weights[1];
      for (let at = 0; at < 2 * sum; at++) await send();
      expect(loads()).toEqual(weights.map((weight) => 2 * weight));
      // Whoever has answered gets the next one.
      for (const at of [1, 0, 1]) {
        const before = loads();
        answer(at);
        await waitFor(() => gateway.endpoints()[at]?.inFlight === (before[at] ?? 0) - 1, {
          limitMs: 3000,
          what: 'the end',
        });
        await send();
        expect(loads()).toEqual(before);
      }
      for (const at of [0, 1]) while (answer(at));
      await Promise.all(clients.map((client) => client.untilClosed()));
    }
  });

  it('lets idle endpoints take turns, by their weights (case 121)', async () => {
    const upstreams = await namedUpstreams('a', 'b', 'c');
    const endpoints = upstreams.map(({ port }, at) => endpoint(port, { weight: at === 0 ? 2 : 1 }));
    const gateway = await gatewayFor({ endpoints, route: { balance: { policy: 'least_request' } } });
    expect(tally(await namesOf(gateway.port, 40))).toEqual({ a: 20, b: 10, c: 10 });
  });
});

describe('a subset', () => {
  it('is all that a route chooses from', async () => {
    const upstreams = await namedUpstreams('a', 'b', 'c');
    const labels = [
      { tags: ['v2', 'eu'], meta: { zone: '1' } },
      { tags: ['v2'] },
      { tags: ['eu', 'v2'], meta: { zone: '2' } },
    ];
    const endpoints = upstreams.map(({ port }, at) => endpoint(port, labels[at]));
    for (const [subset, expected] of [
      [{ tags: ['v2'] }, { a: 4, b: 4, c: 4 }],
      [{ tags: ['v2', 'eu'] }, { a: 6, c: 6 }],
      [{ tags: ['eu'], meta: { zone: '2' } }, { c: 12 }],
    ] as const) {
      const gateway = await gatewayFor({ endpoints, route: { subset } });
      expect(tally(await namesOf(gateway.port, 12))).toEqual(expected);
    }
    const gateway = await gatewayFor({ endpoints, route: { subset: { meta: { zone: '3' } } } });
    expect((await ask(gateway.port, get('/'))).head).toContain('error=destination_unavailable');
  });

  it('follows the labels as they change, and retries within itself', async () => {
    const [dead = 0] = await findFreePorts(1);
    const [a, b] = await namedUpstreams('a', 'b');
    const v2 = { tags: ['v2'] };
    const gateway = await gatewayFor({
      endpoints: [endpoint(dead, v2), endpoint(a?.port ?? 0, v2), endpoint(b?.port ?? 0)],
      route: { subset: v2 },
    });
    expect(tally(await namesOf(gateway.port, 8))).toEqual({ a: 8 });
    gateway.update([endpoint(a?.port ?? 0), endpoint(b?.port ?? 0, v2)]);
    expect(tally(await namesOf(gateway.port, 8))).toEqual({ b: 8 });
  });
});

describe('slow start', () => {
  const slowStart = { window: '10m', minPercent: 10 };

  it('gives an endpoint that is new little at first, and one that was there all of its share', async () => {
    const upstreams = await namedUpstreams('a', 'b', 'c');
    const gateway = await gatewayFor({ endpoints: portsOf(upstreams.slice(0, 2)), route: { slowStart } });
    expect(tally(await namesOf(gateway.port, 20))).toEqual({ a: 10, b: 10 });
    gateway.update(portsOf(upstreams));
    // Its weight is a tenth of theirs.
    expect(tally(await namesOf(gateway.port, 42))).toEqual({ a: 20, b: 20, c: 2 });
    expect(gateway.endpoints().map(({ state, effectiveWeight }) => [state, effectiveWeight])).toEqual([
      ['active', 1],
      ['active', 1],
      ['warming', 0.1],
    ]);
  });

  it('is right for routes that choose from different parts of the pool', async () => {
    const { upstreams, loads, answer } = await holders(3);
    const old = { tags: ['old'] };
    const all = upstreams.map(({ port }, at) => endpoint(port, at < 2 ? old : {}));
    const gateway = await gatewayFor({
      endpoints: all.slice(0, 2),
      route: { slowStart, balance: { policy: 'least_request' } },
      otherRoutes: { old: { match: [{ paths: ['/old'] }], slowStart, subset: old } },
    });
    gateway.update(all);
    const clients = await Promise.all(Array.from({ length: 21 }, () => RawClient.connect(gateway.port)));
    for (const [at, client] of clients.entries()) {
      client.send(get('/'));
      await waitFor(() => loads().reduce((sum, load) => sum + load, 0) === at + 1, {
        limitMs: 3000,
        what: 'a request',
      });
    }
    expect(loads()).toEqual([10, 10, 1]);
    for (const at of [0, 1, 2]) while (answer(at));
    await Promise.all(clients.map((client) => client.untilClosed()));
  });

  it('is over when its time is', async () => {
    const upstreams = await namedUpstreams('a', 'b');
    const gateway = await gatewayFor({
      endpoints: portsOf(upstreams.slice(0, 1)),
      route: { slowStart: { window: '300ms', minPercent: 10 } },
    });
    gateway.update(portsOf(upstreams));
    await waitFor(() => gateway.endpoints().every(({ state }) => state === 'active'), {
      limitMs: 3000,
      what: 'its end',
    });
    expect(tally(await namesOf(gateway.port, 20))).toEqual({ a: 10, b: 10 });
  });
});

/** Upstreams that answer when told to, and how many requests each holds. */
async function holders(count: number) {
  const held: RawConnection[][] = Array.from({ length: count }, () => []);
  const upstreams = await Promise.all(
    held.map((connections) => upstreamThat((connection) => void connections.push(connection))),
  );
  const answer = (at: number) => {
    const connection = held[at]?.shift();
    if (connection !== undefined) sayingName('ok')(connection);
    return connection !== undefined;
  };
  return { upstreams, loads: () => held.map(({ length }) => length), answer };
}

function never(): never {
  throw new Error('there are two upstreams');
}
