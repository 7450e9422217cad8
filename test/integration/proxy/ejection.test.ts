// What traffic shows of endpoints: who is set aside for what, who is not, and how one comes back.
import { describe, expect, it } from 'vitest';
import { findFreePorts } from '../../support/free-ports.ts';
import { ask, fieldOf, namedUpstream, namesOf, requestsOf, sayingName, tally } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { OK, type RawConnection } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import type { TestGateway } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const NO_RETRY = { attempts: 1 };

function statesOf(gateway: TestGateway): string[] {
  return gateway.endpoints().map(({ state }) => state);
}

function untilState(gateway: TestGateway, at: number, state: string): Promise<unknown> {
  return waitFor(() => statesOf(gateway)[at] === state, { limitMs: 5000, what: `endpoint ${at} to be ${state}` });
}

/** The statuses of so many GETs, one after the other. */
async function statusesOf({ port }: TestGateway, count: number, path = '/'): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at < count; at++) statuses.push((await ask(port, get(path))).status);
  return statuses;
}

describe('an endpoint', () => {
  it('that refuses is tried no more often than its threshold says, retries or not (cases 106 and 118)', async () => {
    const [dead = 0] = await findFreePorts(1);
    const good = await namedUpstream('good');
    const gateway = await gatewayFor({
      endpoints: [dead, good.port],
      route: { retry: NO_RETRY, ejection: { consecutiveFailures: 5, base: '60s' } },
    });
    const statuses = await statusesOf(gateway, 300);
    expect(statuses.filter((status) => status === 502)).toHaveLength(5);
    expect(statuses.slice(20).every((status) => status === 200)).toBe(true);
    const [ejected] = gateway.endpoints();
    expect(ejected).toMatchObject({ state: 'ejected', requests: 5, failures: 5, ejections: 1, effectiveWeight: 0 });
    expect(ejected?.why).toBe('ejected: 5 failures in a row, the last: connection refused');
    expect(Date.parse(ejected?.until ?? '')).toBeGreaterThan(Date.now());
    expect(gateway.logLines.filter((line) => line.startsWith('endpoint ejected'))).toHaveLength(1);
  });

  it('that fails too large a share of its requests is set aside though it does not fail in a row', async () => {
    let count = 0;
    const wavering = await upstreamThat((connection) => {
      sayingName('w', count++ % 2 === 0 ? '500 Oops' : '200 OK')(connection);
    });
    const good = await namedUpstream('good');
    const ejection = { consecutiveFailures: 1000, failurePercent: 40, minRequests: 10, window: '10m', base: '60s' };
    const gateway = await gatewayFor({ endpoints: [wavering.port, good.port], route: { ejection } });
    await statusesOf(gateway, 60);
    expect(statesOf(gateway)).toEqual(['ejected', 'active']);
    expect(gateway.endpoints()[0]?.why).toMatch(/^ejected: \d+ % of its requests failed, the last: an answer with a/);
    expect(requestsOf(wavering)).toBeLessThanOrEqual(12);
  });

  it('comes back by one good request, and by none that was sent before it was set aside (case 112)', async () => {
    const held: RawConnection[] = [];
    let answer = sayingName('bad', '500 Oops');
    const upstream = await upstreamThat((connection, head) => {
      if (head.startsWith('GET /old')) held.push(connection);
      else answer(connection);
    });
    const good = await namedUpstream('good');
    const ejection = { consecutiveFailures: 2, base: '500ms' };
    const gateway = await gatewayFor({ endpoints: [upstream.port, good.port], route: { ejection } });
    const old = await RawClient.connect(gateway.port);
    old.send(get('/old'));
    await waitFor(() => held.length === 1, { limitMs: 2000, what: 'the old request' });
    await waitFor(async () => (await statusesOf(gateway, 1)).length > 0 && statesOf(gateway)[0] === 'ejected', {
      limitMs: 3000,
      what: 'the ejection',
    });
    const asked = requestsOf(upstream);
    for (const { socket } of held) socket.write(OK);
    expect(await old.untilClosed()).toContain('200 OK');
    expect(statesOf(gateway)[0]).toBe('ejected');
    answer = sayingName('back');
    await waitFor(async () => (await statusesOf(gateway, 1)).length > 0 && statesOf(gateway)[0] === 'active', {
      limitMs: 5000,
      what: 'the return',
    });
    expect(requestsOf(upstream)).toBe(asked + 1);
    expect(gateway.logLines.filter((line) => line.startsWith('endpoint is back'))).toHaveLength(1);
  });

  it('is set aside for longer when its probe fails, and one request alone is the probe', async () => {
    const held: RawConnection[] = [];
    let isProbed = false;
    const upstream = await upstreamThat((connection) => {
      if (isProbed) held.push(connection);
      else sayingName('bad', '500 Oops')(connection);
    });
    const good = await namedUpstream('good');
    const ejection = { consecutiveFailures: 1, base: '200ms' };
    const gateway = await gatewayFor({ endpoints: [upstream.port, good.port], route: { ejection } });
    await waitFor(async () => (await statusesOf(gateway, 1)).length > 0 && statesOf(gateway)[0] === 'ejected', {
      limitMs: 3000,
      what: 'the ejection',
    });
    isProbed = true;
    const clients: RawClient[] = [];
    await waitFor(
      async () => {
        const client = await RawClient.connect(gateway.port);
        clients.push(client);
        client.send(get('/'));
        await waitFor(() => held.length > 0 || client.isClosed, { limitMs: 2000, what: 'an answer or the probe' });
        return held.length > 0;
      },
      { limitMs: 3000, what: 'the probe' },
    );
    expect(statesOf(gateway)[0]).toBe('probing');
    expect(tally(await namesOf(gateway.port, 10))).toEqual({ good: 10 });
    for (const connection of held) sayingName('bad', '500 Oops')(connection);
    await untilState(gateway, 0, 'ejected');
    expect(gateway.endpoints()[0]).toMatchObject({ ejections: 2 });
    for (const client of clients) await client.untilClosed();
    expect(held).toHaveLength(1);
  });
});

describe('what says nothing against an endpoint', () => {
  it('is a client that leaves before or in the middle of its answer (case 114)', async () => {
    const slow = await upstreamThat(({ socket }, head) => {
      if (head.startsWith('GET /half')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello');
    });
    const other = await namedUpstream('other');
    const route = { ejection: { consecutiveFailures: 1, failurePercent: 1, minRequests: 1 } };
    const gateway = await gatewayFor({ endpoints: [slow.port, other.port], route });
    for (const path of ['/none', '/half']) {
      const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.connect(gateway.port)));
      for (const client of clients) client.send(get(path));
      await waitFor(() => gateway.endpoints()[0]?.inFlight === 25, { limitMs: 5000, what: 'half of the requests' });
      await Promise.all(
        clients.map((client) => client.until((text) => text.includes('other') || path === '/none' || text !== '')),
      );
      for (const client of clients) client.reset();
      await waitFor(() => gateway.endpoints().every(({ inFlight }) => inFlight === 0), {
        limitMs: 3000,
        what: 'their end',
      });
    }
    expect(gateway.endpoints()).toMatchObject([
      { state: 'active', failures: 0, requests: 50 },
      { state: 'active', failures: 0 },
    ]);
    // No attempt was made for a client that had gone.
    expect(requestsOf(slow)).toBe(50);
    for (const reason of ['connect', 'reset', 'timeout', 'status'] as const) {
      expect(gateway.service.retries(reason)).toBe(0);
    }
  });

  it('is an answer below 500; one of 500 counts, but is passed on, and the rest goes on (case 115)', async () => {
    const upstreams = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        upstreamThat((connection, head) => {
          if (head.startsWith('GET /missing')) sayingName('none', '404 Not Here')(connection);
          else if (head.startsWith('GET /bug')) sayingName('bug', '500 My Bug')(connection);
          else sayingName(name)(connection);
        }),
      ),
    );
    const gateway = await gatewayFor({ endpoints: upstreams.map(({ port }) => port) });
    expect(tally((await statusesOf(gateway, 50, '/missing')).map(String))).toEqual({ 404: 50 });
    expect(gateway.endpoints().map(({ state, failures }) => [state, failures])).toEqual(
      upstreams.map(() => ['active', 0]),
    );
    for (let at = 0; at < 50; at++) {
      const bug = await ask(gateway.port, get('/bug'));
      expect([bug.content, bug.head.startsWith('HTTP/1.1 500 My Bug\r\n')]).toEqual(['bug', true]);
      expect((await ask(gateway.port, get('/ok'))).status).toBe(200);
    }
    const wanted = await Promise.all([ask(gateway.port, get('/missing')), ask(gateway.port, get('/bug'))]);
    expect(wanted.map(({ status }) => status)).toEqual([404, 500]);
  });
});

describe('a pool whose endpoints all fail', () => {
  it('keeps at least the half that it may not spare, and passes errors on', async () => {
    const bad = await Promise.all(['a', 'b', 'c', 'd'].map((name) => upstreamThat(sayingName(name, '500 Oops'))));
    const ejection = { consecutiveFailures: 2, base: '60s' };
    const gateway = await gatewayFor({ endpoints: bad.map(({ port }) => port), route: { ejection } });
    expect(tally((await statusesOf(gateway, 40)).map(String))).toEqual({ 500: 40 });
    expect(tally(statesOf(gateway))).toEqual({ ejected: 2, active: 2 });
  });

  it.each([
    ['is tried all the same without a fallback, and serves as soon as it is back', {}, 'back'],
    ['is answered for by the fallback', { fallback: { chain: [{ respond: { body: 'soon' } }] } }, 'soon'],
  ])('and are all set aside %s (case 111)', async (_what, more, content) => {
    let answer = sayingName('bad', '500 Oops');
    const upstreams = await Promise.all([0, 1].map(() => upstreamThat((connection) => answer(connection))));
    const ejection = { consecutiveFailures: 2, maxPercent: 100, base: '60s' };
    const gateway = await gatewayFor({ endpoints: upstreams.map(({ port }) => port), route: { ejection, ...more } });
    await statusesOf(gateway, 6);
    expect(statesOf(gateway)).toEqual(['ejected', 'ejected']);
    answer = sayingName('back');
    const names = await namesOf(gateway.port, 4);
    expect(tally(names)).toEqual({ [content]: 4 });
    const last = await ask(gateway.port, get('/'));
    const degraded = content === 'soon' ? expect.stringMatching(/^unreachable; source=respond; since=/) : undefined;
    expect(fieldOf(last, 'x-degraded')).toEqual(degraded);
  });
});
