// How many requests of a route run at once: who waits, who is refused, and that every place is given back.
import { describe, expect, it } from 'vitest';
import { ask, fieldOf, namedUpstream } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import type { RawConnection, RawUpstream } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import type { TestGateway } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const IDLE = { running: 0, waiting: 0 };

interface Held {
  readonly upstream: RawUpstream;
  /** The requests that have arrived, by their targets. */
  readonly arrived: string[];
  /** Answers the oldest request that is held, when there is one. */
  release(): Promise<void>;
}

/** An upstream that answers when it is told to. */
async function holding(): Promise<Held> {
  const arrived: string[] = [];
  const held: RawConnection[] = [];
  const upstream = await upstreamThat((connection, head) => {
    arrived.push(head.split(' ')[1] ?? '');
    held.push(connection);
  });
  const release = async () => {
    const { socket } = await waitFor(() => held.shift(), { limitMs: 3000, what: 'a request to answer' });
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  };
  return { upstream, arrived, release };
}

async function sending(gateway: TestGateway, path: string): Promise<RawClient> {
  const client = await RawClient.connect(gateway.port);
  client.send(get(path));
  return client;
}

function untilConcurrency(gateway: TestGateway, running: number, waiting: number): Promise<unknown> {
  const isSo = () => {
    const now = gateway.counts.concurrency();
    return now.running === running && now.waiting === waiting;
  };
  return waitFor(isSo, { limitMs: 3000, what: `${running} running and ${waiting} waiting` });
}

describe('a concurrency limit', () => {
  it('refuses what is too much, with 503 and Retry-After, without asking an endpoint', async () => {
    const { upstream, arrived, release } = await holding();
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { concurrency: { max: 2 } } });
    const clients = [await sending(gateway, '/1'), await sending(gateway, '/2')];
    await waitFor(() => arrived.length === 2, { limitMs: 2000, what: 'two requests' });
    const refused = await ask(gateway.port, get('/3'));
    expect(refused.status).toBe(503);
    expect(fieldOf(refused, 'retry-after')).toBe('1');
    expect(fieldOf(refused, 'proxy-status')).toBe('weir; error=connection_limit_reached');
    expect(gateway.records).toMatchObject([{ status: 503, error: 'concurrency_limit', attempts: [], branch: null }]);
    expect(gateway.counts.concurrency()).toEqual({ running: 2, waiting: 0 });
    await release();
    await release();
    for (const client of clients) expect(await client.untilClosed()).toContain('200 OK');
    expect(gateway.counts.concurrency()).toEqual(IDLE);
    expect(arrived).toHaveLength(2);
  });

  it('is not for the fallback to answer for', async () => {
    const { upstream, arrived, release } = await holding();
    const route = { concurrency: { max: 1 }, fallback: { chain: [{ respond: { body: 'soon' } }] } };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    const client = await sending(gateway, '/1');
    await waitFor(() => arrived.length === 1, { limitMs: 2000, what: 'the request' });
    const refused = await ask(gateway.port, get('/2'));
    expect([refused.status, fieldOf(refused, 'x-degraded')]).toEqual([503, undefined]);
    await release();
    await client.untilClosed();
  });

  it('lets some wait, who are served in their order', async () => {
    const { upstream, arrived, release } = await holding();
    const concurrency = { max: 1, queue: 3, queueTimeout: '10s' };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { concurrency } });
    const clients: RawClient[] = [];
    for (const at of [0, 1, 2, 3]) {
      clients.push(await sending(gateway, `/${at}`));
      await untilConcurrency(gateway, 1, at);
    }
    expect((await ask(gateway.port, get('/too-many'))).status).toBe(503);
    for (const [at, client] of clients.entries()) {
      await waitFor(() => arrived.length === at + 1, { limitMs: 2000, what: `request ${at}` });
      expect(arrived[at]).toBe(`/${at}`);
      expect(gateway.counts.concurrency()).toEqual({ running: 1, waiting: 3 - at });
      await release();
      expect(await client.untilClosed()).toContain('200 OK');
    }
    expect(gateway.counts.concurrency()).toEqual(IDLE);
  });

  it('refuses who has waited too long', async () => {
    const { upstream, release } = await holding();
    const concurrency = { max: 1, queue: 1, queueTimeout: '100ms' };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { concurrency } });
    const client = await sending(gateway, '/1');
    await untilConcurrency(gateway, 1, 0);
    const refused = await ask(gateway.port, get('/2'));
    expect([refused.status, fieldOf(refused, 'proxy-status')]).toEqual([503, 'weir; error=connection_limit_reached']);
    expect(gateway.records[0]?.durationMs).toBeGreaterThan(95);
    expect(gateway.counts.concurrency()).toEqual({ running: 1, waiting: 0 });
    await release();
    await client.untilClosed();
    // Who comes now finds the place free, though others have waited in vain.
    const next = await sending(gateway, '/3');
    await untilConcurrency(gateway, 1, 0);
    await release();
    expect(await next.untilClosed()).toContain('200 OK');
  });

  it('forgets who leaves while it waits', async () => {
    const { upstream, arrived, release } = await holding();
    const concurrency = { max: 1, queue: 2, queueTimeout: '10s' };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { concurrency } });
    const [first, leaver] = [await sending(gateway, '/first'), await sending(gateway, '/leaver')];
    await untilConcurrency(gateway, 1, 1);
    const last = await sending(gateway, '/last');
    await untilConcurrency(gateway, 1, 2);
    leaver.reset();
    await untilConcurrency(gateway, 1, 1);
    expect(gateway.records).toMatchObject([{ path: '/leaver', status: 0, error: 'client_gone', attempts: [] }]);
    await release();
    await waitFor(() => arrived.length === 2, { limitMs: 2000, what: 'the last request' });
    await release();
    for (const client of [first, last]) expect(await client.untilClosed()).toContain('200 OK');
    expect(arrived).toEqual(['/first', '/last']);
    expect(gateway.counts.concurrency()).toEqual(IDLE);
  });
});

describe('a place is given back', () => {
  const route = { concurrency: { max: 1 }, timeout: { response: '150ms', total: '2s' } };

  it.each([
    [
      'when the answer breaks off',
      ({ socket }: RawConnection) => {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello');
      },
    ],
    ['when the endpoint breaks off', ({ socket }: RawConnection) => void socket.resetAndDestroy()],
    ['when the endpoint does not answer', () => undefined],
    [
      'when the answer has a failure status',
      ({ socket }: RawConnection) => {
        socket.write('HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n');
      },
    ],
  ])('%s', async (_what, script) => {
    const upstream = await upstreamThat(script);
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    for (let at = 0; at < 3; at++) expect((await ask(gateway.port, get('/'))).head).not.toContain('limit_reached');
    await untilConcurrency(gateway, 0, 0);
  });

  it('when there is no endpoint, the fallback answers, or the content is too large', async () => {
    const fallback = { chain: [{ respond: { body: 'soon' } }] };
    const post = 'POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 20\r\n\r\n';
    for (const more of [{}, { fallback }, { body: '10B' }]) {
      const gateway = await gatewayFor({ endpoints: [], route: { ...route, ...more } });
      for (const request of [get('/'), post, get('/')]) {
        expect((await ask(gateway.port, request)).head).not.toContain('limit_reached');
      }
      expect(gateway.counts.concurrency()).toEqual(IDLE);
    }
  });

  it('when the client leaves before the answer or in the middle of it', async () => {
    const upstream = await upstreamThat(({ socket }, head) => {
      if (head.startsWith('GET /half')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello');
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { concurrency: { max: 1 } } });
    for (const path of ['/none', '/half']) {
      const client = await sending(gateway, path);
      await untilConcurrency(gateway, 1, 0);
      if (path === '/half') await client.until('hello');
      client.reset();
      await untilConcurrency(gateway, 0, 0);
    }
    expect(gateway.endpoints()).toMatchObject([{ failures: 0 }]);
  });

  it('after each of very many requests', async () => {
    const upstream = await namedUpstream('ok');
    const concurrency = { max: 2, queue: 100, queueTimeout: '30s' };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { concurrency } });
    const rounds = Array.from({ length: 20 }, async () => {
      for (let at = 0; at < 20; at++) expect((await ask(gateway.port, get('/'))).status).toBe(200);
    });
    await Promise.all(rounds);
    expect(gateway.counts.concurrency()).toEqual(IDLE);
  });
});
