// What a fallback must not do: repeat what may have been carried out, mix up clients, or take longer than there is time.
import { describe, expect, it } from 'vitest';
import { ask, fieldOf, namedUpstream, requestsOf, sayingName } from '../../support/named-upstream.ts';
import { get } from '../../support/raw-client.ts';
import type { RawConnection } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';

endAfterEach();

const SORRY = { respond: { status: 503, body: 'sorry' } };
const POST = 'POST /charge HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi';
const KEYED = POST.replace('Host: s', 'Host: s\r\nIdempotency-Key: k-1');

describe('a request that an endpoint may have carried out', () => {
  const FAILURES: readonly (readonly [string, (connection: RawConnection) => void])[] = [
    ['answers 500', sayingName('bad', '500 Oops')],
    ['resets the connection', ({ socket }) => void socket.resetAndDestroy()],
    ['does not answer in time', () => undefined],
  ];

  it.each(FAILURES)('is not sent to the fallback as well when that %s', async (_what, script) => {
    const bad = await upstreamThat(script);
    const other = await namedUpstream('other');
    const gateway = await gatewayFor({
      endpoints: [bad.port],
      route: {
        timeout: { response: '300ms' },
        fallback: {
          on: ['unreachable', 'status-5xx'],
          chain: [{ upstream: [`http://127.0.0.1:${other.port}`] }, SORRY],
        },
      },
    });
    expect(await ask(gateway.port, POST)).toMatchObject({ status: 503, content: 'sorry' });
    expect(requestsOf(other)).toBe(0);
    // The client vouches for this one, and a GET may be made twice.
    for (const request of [KEYED, get('/')]) expect((await ask(gateway.port, request)).content).toBe('other');
  });

  it('is sent to it when no octet has reached anybody', async () => {
    const other = await namedUpstream('other');
    const chain = [{ upstream: [`http://127.0.0.1:${other.port}`] }];
    const gateway = await gatewayFor({ endpoints: [], route: { fallback: { chain } } });
    expect((await ask(gateway.port, POST)).content).toBe('other');
  });
});

describe('an answer of 500 to 599', () => {
  it('is the service’s own word where no step of the fallback has another', async () => {
    const bad = await upstreamThat(sayingName('{"why":"limit"}', '500 Oops'));
    const fallback = { on: ['status-5xx'], chain: [{ stale: { maxAge: '1h' } }] };
    const gateway = await gatewayFor({ endpoints: [bad.port], route: { fallback } });
    expect(await ask(gateway.port, get('/'))).toMatchObject({ status: 500, content: '{"why":"limit"}' });
  });
});

describe('a kept answer', () => {
  const fallback = { chain: [{ stale: { maxAge: '1h' } }, SORRY] };

  it.each(['X-Forwarded-For', 'x-forwarded-host', 'Forwarded', 'X-Request-Id'])(
    'is none when it varies on %s, which the gateway sets',
    async (name) => {
      const upstream = await upstreamThat(sayingName('yours', '200 OK', `Vary: ${name}\r\n`));
      const gateway = await gatewayFor({ endpoints: [upstream.port], route: { fallback } });
      expect((await ask(gateway.port, get('/'))).content).toBe('yours');
      gateway.update([]);
      expect((await ask(gateway.port, get('/'))).content).toBe('sorry');
    },
  );

  it('belongs to the branch of the split that it was for', async () => {
    const upstream = await namedUpstream('canary');
    const split = [{ weight: 1 }, { weight: 0, when: { header: 'x-canary' } }];
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { fallback, split } });
    const canary = get('/', 'X-Canary: 1\r\n');
    expect((await ask(gateway.port, canary)).content).toBe('canary');
    gateway.update([]);
    expect((await ask(gateway.port, get('/'))).content).toBe('sorry');
    const again = await ask(gateway.port, canary);
    expect([again.content, fieldOf(again, 'x-degraded')]).toEqual(['canary', expect.stringMatching(/source=stale/)]);
  });
});

describe('timeout.total', () => {
  it('is over for the fallback’s servers as well, but not for an answer that is at hand', async () => {
    const silent = await upstreamThat(() => undefined);
    const other = await namedUpstream('other');
    const gateway = await gatewayFor({
      endpoints: [silent.port],
      route: {
        timeout: { total: '300ms' },
        fallback: { chain: [{ upstream: [`http://127.0.0.1:${other.port}`] }, SORRY] },
      },
    });
    expect((await ask(gateway.port, get('/'))).content).toBe('sorry');
    expect(requestsOf(other)).toBe(0);
  });

  it('counts the time in the queue for a place', async () => {
    const silent = await upstreamThat(() => undefined);
    const gateway = await gatewayFor({
      endpoints: [silent.port],
      route: {
        timeout: { total: '400ms', response: '5s' },
        concurrency: { max: 1, queue: 5, queueTimeout: '20s' },
      },
    });
    const answers = await Promise.all([1, 2, 3].map(() => ask(gateway.port, get('/'))));
    expect(answers.map(({ status }) => status)).toEqual([504, 504, 504]);
  });
});
