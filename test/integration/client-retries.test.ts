// What `weir/client` tries again, and what it does not: every kind of failure with every kind of request.
import { Readable } from 'node:stream';
import { type Dispatcher, RetryAgent, request } from 'undici';
import { describe, expect, it } from 'vitest';
import type { ServiceOptions } from '../../gateway/client/options.ts';
import { dispatcherFor, dispatcherTo, endClientsAfterEach, ending, serviceNamed } from '../support/client-scene.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { OK, type RawConnection, startRawUpstream } from '../support/raw-upstream.ts';
import { waitFor } from '../support/wait-for.ts';

endClientsAfterEach();

const upstreamThat = async (onHead: (connection: RawConnection) => void) => ending(await startRawUpstream(onHead));

type Answer = Pick<Dispatcher.ResponseData, 'statusCode'> & { readonly text: string };

/** Asks a service whose first choice is at `first`; the other one answers with what it got. */
async function ask(first: number, given: Partial<Dispatcher.RequestOptions>, options: ServiceOptions = {}) {
  const good = await serviceNamed('good', (incoming, response) => {
    incoming.setEncoding('latin1');
    incoming.pipe(response);
  });
  const endpoints = [
    { address: `127.0.0.1:${first}`, weight: 1000 },
    { address: `127.0.0.1:${good.port}`, weight: 1 },
  ];
  const dispatcher = dispatcherFor({ services: { s: { endpoints, ...options } } });
  const answer = async (): Promise<Answer> => {
    const { statusCode, body } = await dispatcher.request({ origin: 'http://s', path: '/', method: 'GET', ...given });
    return { statusCode, text: await body.text() };
  };
  return { dispatcher, good, answer };
}

const KEY = { 'Idempotency-Key': 'k-1' };
const streamOf = (bytes: number) => Readable.from([Buffer.alloc(bytes / 2, 'x'), Buffer.alloc(bytes / 2, 'y')]);

const LAST_CHUNK = '0\r\n\r\n';

/** Requests, how each ends on the wire, and whether it is made again after it was sent. */
const REQUESTS: readonly [string, () => Partial<Dispatcher.RequestOptions>, string, boolean][] = [
  ['GET', () => ({}), '', true],
  ['DELETE', () => ({ method: 'DELETE' }), '', true],
  ['POST', () => ({ method: 'POST', body: 'hi' }), 'hi', false],
  ['PATCH', () => ({ method: 'PATCH', body: 'hi' }), 'hi', false],
  ['POST of a stream', () => ({ method: 'POST', body: streamOf(10) }), LAST_CHUNK, false],
  ['POST with a key', () => ({ method: 'POST', headers: KEY, body: 'hi' }), 'hi', true],
  ['PUT of octets', () => ({ method: 'PUT', body: Buffer.from('hi') }), 'hi', true],
  ['POST of a short stream with a key', () => ({ method: 'POST', headers: KEY, body: streamOf(10) }), LAST_CHUNK, true],
  [
    'POST of a long stream with a key',
    () => ({ method: 'POST', headers: KEY, body: streamOf(200_000) }),
    LAST_CHUNK,
    false,
  ],
];

/** What the first endpoint does with a request, once it has all of it. */
const FAULTS: readonly [string, (connection: RawConnection) => void, object][] = [
  ['resets', ({ socket }) => void socket.resetAndDestroy(), { code: 'ECONNRESET' }],
  ['closes', ({ socket }) => void socket.end(), { code: 'UND_ERR_SOCKET' }],
  ['answers garbage', ({ socket }) => void socket.write('NOT HTTP\r\n\r\n'), { name: 'HTTPParserError' }],
  ['never answers', () => undefined, { code: 'UND_ERR_HEADERS_TIMEOUT' }],
  [
    'answers 503',
    ({ socket }) => void socket.write('HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n'),
    { statusCode: 503 },
  ],
];

describe('a connection that is refused', () => {
  it.each(REQUESTS)('sends a %s to another endpoint', async (_what, given) => {
    const [port = 0] = await findFreePorts(1);
    const { answer, good } = await ask(port, given());
    expect((await answer()).statusCode).toBe(200);
    expect(good.requests).toHaveLength(1);
  });
});

describe.each(FAULTS)('an endpoint that %s', (_fault, onRequest, failure) => {
  it.each(REQUESTS)('has a %s repeated elsewhere if that does no harm', async (_what, given, end, isRepeated) => {
    const bad = await upstreamThat((connection) => {
      // Not before the end of the content: how much of it was read would depend on the moment.
      const isWhole = () => connection.received.endsWith(end);
      void waitFor(isWhole, { limitMs: 3000, what: 'the whole request' }).then(() => onRequest(connection));
    });
    const { answer, good, dispatcher } = await ask(bad.port, given(), { timeout: { response: '500ms' } });
    const result = await answer().catch((error: unknown) => error);
    expect(result).toMatchObject(isRepeated ? { statusCode: 200 } : failure);
    expect(good.requests).toHaveLength(isRepeated ? 1 : 0);
    const first = dispatcher.upstreams()[0]?.endpoints.find(({ weight }) => weight === 1000);
    expect(first).toMatchObject({ requests: 1, failures: 1, inFlight: 0 });
  });
});

describe('another attempt', () => {
  it('has the whole body, also that of a fetch', async () => {
    const bad = await upstreamThat(({ socket }) => void socket.resetAndDestroy());
    const { dispatcher, good } = await ask(bad.port, {});
    const body = 'long enough '.repeat(100);
    const answer = await fetch('http://s/', { dispatcher, method: 'POST', headers: KEY, body });
    expect(await answer.text()).toBe(body);
    expect(good.requests).toEqual([`POST / ${body}`.trim()]);
  });

  it('is not made for what the endpoint itself says: 500, 429, 404', async () => {
    for (const status of [500, 429, 404]) {
      const bad = await upstreamThat(
        ({ socket }) => void socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`),
      );
      const { answer, good } = await ask(bad.port, {});
      expect((await answer()).statusCode).toBe(status);
      expect(good.requests).toEqual([]);
    }
  });

  it('is not made where the answer has begun: its content breaks off', async () => {
    const bad = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', () => socket.resetAndDestroy());
    });
    const { answer, good, dispatcher } = await ask(bad.port, {});
    await expect(answer()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(good.requests).toEqual([]);
    expect(
      dispatcher
        .upstreams()[0]
        ?.endpoints.map(({ failures }) => failures)
        .toSorted(),
    ).toEqual([0, 1]);
  });

  it('goes to each endpoint once, as often as wanted, and the last failure is told', async () => {
    const heads: number[] = [];
    const faulty = (at: number, text: string) => {
      return upstreamThat(({ socket }) => {
        heads.push(at);
        socket.end(text);
      });
    };
    const upstreams = await Promise.all([0, 1, 2, 3, 4].map((at) => faulty(at, 'NOT HTTP\r\n\r\n')));
    const dispatcher = dispatcherTo(
      upstreams.map(({ port }) => port),
      { retry: { attempts: 4 } },
    );
    await expect(request('http://s/', { dispatcher })).rejects.toMatchObject({ name: 'HTTPParserError' });
    expect([heads.length, new Set(heads).size]).toEqual([4, 4]);
  });

  it('gives the last bad answer when nobody else is left', async () => {
    const bad = await Promise.all(
      ['a', 'b'].map((name) => serviceNamed(name, (_request, response) => void response.writeHead(503).end(name))),
    );
    const dispatcher = dispatcherTo(
      bad.map(({ port }) => port),
      { retry: { attempts: 5 } },
    );
    const answer = await request('http://s/', { dispatcher });
    expect([answer.statusCode, ['a', 'b'].includes(await answer.body.text())]).toEqual([503, true]);
    expect(bad.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  it('stays within the budget', async () => {
    const bad = await upstreamThat(({ socket }) => void socket.resetAndDestroy());
    const { answer, good } = await ask(bad.port, {}, { retry: { budget: '0%', minPerSecond: 0 } });
    await expect(answer()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(good.requests).toEqual([]);
  });

  it('is not made by those who want none', async () => {
    const [port = 0] = await findFreePorts(1);
    for (const retry of [{ attempts: 1 }, { on: ['reset', 'timeout'] }] as const) {
      const { answer } = await ask(port, {}, { retry });
      await expect(answer()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    }
  });

  it('is not made after the time for all of them is over', async () => {
    const bad = await upstreamThat(() => undefined);
    const { answer, good, dispatcher } = await ask(bad.port, {}, { timeout: { response: '10s', total: '200ms' } });
    await expect(answer()).rejects.toMatchObject({ code: 'WEIR_TIMEOUT' });
    expect(good.requests).toEqual([]);
    expect(
      dispatcher
        .upstreams()[0]
        ?.endpoints.map(({ failures }) => failures)
        .toSorted(),
    ).toEqual([0, 1]);
  });

  it('leaves the last word to a retry agent of undici around it', async () => {
    let isBroken = true;
    const only = await serviceNamed('only', (_request, response) => {
      response.writeHead(isBroken ? 503 : 200).end('only');
      isBroken = false;
    });
    const dispatcher = new RetryAgent(dispatcherTo([only.port]), { minTimeout: 1 });
    const answer = await request('http://s/', { dispatcher });
    expect([answer.statusCode, await answer.body.text()]).toEqual([200, 'only']);
  });
});

describe('a kept connection that the endpoint closes', () => {
  /** Answers once on each connection and closes it when the next request comes. */
  const closingUpstream = () => {
    return upstreamThat(({ socket, heads }) => {
      if (heads === 1) socket.write(OK);
      else socket.destroy();
    });
  };

  it('costs a repeatable request a fresh one at the same endpoint, and nobody its good name', async () => {
    const only = await closingUpstream();
    const dispatcher = dispatcherTo([only.port]);
    for (let at = 0; at < 3; at++) expect(await (await fetch('http://s/', { dispatcher })).text()).toBe('ok');
    expect(only.connections.map(({ heads }) => heads)).toEqual([2, 2, 1]);
    expect(dispatcher.upstreams()[0]?.endpoints[0]).toMatchObject({ requests: 3, failures: 0 });
  });

  it('is followed by a fresh one, not by another that was kept', async () => {
    const heads: RawConnection[] = [];
    const only = await upstreamThat((connection) => {
      heads.push(connection);
      if (connection.heads > 1) connection.socket.destroy();
      else if (heads.length > 2) connection.socket.write(OK);
    });
    const dispatcher = dispatcherTo([only.port]);
    const both = [fetch('http://s/', { dispatcher }), fetch('http://s/', { dispatcher })];
    await waitFor(() => heads.length === 2, { limitMs: 3000, what: 'two requests at once' });
    for (const { socket } of heads) socket.write(OK);
    await Promise.all(both.map(async (answer) => (await answer).text()));
    expect(await (await fetch('http://s/', { dispatcher })).text()).toBe('ok');
    expect(only.connections.map(({ heads: count }) => count).toSorted()).toEqual([1, 1, 2]);
  });

  it('fails a request that may not be repeated', async () => {
    const only = await closingUpstream();
    const dispatcher = dispatcherTo([only.port]);
    await (await fetch('http://s/', { dispatcher })).text();
    const posted = fetch('http://s/', { dispatcher, method: 'POST', body: 'x' });
    await expect(posted).rejects.toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } });
  });
});

describe('the source of a body that fails', () => {
  it('ends the request with its own error, and is held against no endpoint', async () => {
    const services = [await serviceNamed('a'), await serviceNamed('b')];
    const dispatcher = dispatcherTo(services.map(({ port }) => port));
    async function* broken() {
      yield Buffer.from('a');
      throw new Error('the file is gone');
    }
    const posted = dispatcher.request({ origin: 'http://s', path: '/', method: 'PUT', body: Readable.from(broken()) });
    await expect(posted).rejects.toThrow('the file is gone');
    const fetched = fetch('http://s/', {
      dispatcher,
      method: 'PUT',
      body: ReadableStream.from(broken()),
      duplex: 'half',
    });
    await expect(fetched).rejects.toThrow();
    expect(dispatcher.upstreams()[0]?.endpoints.map(({ failures }) => failures)).toEqual([0, 0]);
    expect(services.flatMap(({ requests }) => requests)).toEqual([]);
  });
});
