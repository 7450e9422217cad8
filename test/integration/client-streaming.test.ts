// `weir/client` and time: content both ways, backpressure, callers who leave, timeouts, upgrades.

import { AsyncLocalStorage } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import { PassThrough, Readable } from 'node:stream';
import { createBrotliCompress } from 'node:zlib';
import { request, upgrade, WebSocket } from 'undici';
import { describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { dispatcherFor, dispatcherTo, endClientsAfterEach, ending, serviceNamed } from '../support/client-scene.ts';
import { openDeafPort } from '../support/deaf-port.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { startHttpServer, startTcpServer } from '../support/local-server.ts';
import { OK, startRawUpstream } from '../support/raw-upstream.ts';
import { waitFor } from '../support/wait-for.ts';

endClientsAfterEach();

const LIMIT_MS = 3000;
/** Waits until a count has begun and does not grow any more. */
async function untilStill(count: () => number, what: string): Promise<void> {
  let seen = 0;
  let times = 0;
  const isStill = () => {
    times = count() === seen && seen > 0 ? times + 1 : 0;
    seen = count();
    return times > 20;
  };
  await waitFor(isStill, { limitMs: LIMIT_MS, what });
}

const silence = async () => ending(await startRawUpstream(() => undefined));

describe('content', () => {
  it('of the request leaves while the caller still writes, and that of the answer arrives while the service does', async () => {
    const echo = await serviceNamed('echo', (incoming, response) => void incoming.pipe(response));
    const dispatcher = dispatcherTo([echo.port]);
    let write = (_text: string): void => undefined;
    let end = (): void => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        write = (text) => controller.enqueue(Buffer.from(text));
        end = () => controller.close();
      },
    });
    write('one');
    const answer = await fetch('http://s/', { dispatcher, method: 'POST', body, duplex: 'half' });
    const reader = answer.body?.getReader();
    const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(await read()).toBe('one');
    write('two');
    expect(await read()).toBe('two');
    end();
    expect((await reader?.read())?.done).toBe(true);
  });

  it('is not read further than the caller reads', async () => {
    let written = 0;
    const piece = Buffer.alloc(65_536);
    const endless = ending(
      await startHttpServer((_request, response) => {
        const more = () => {
          do written++;
          while (!response.destroyed && response.write(piece));
        };
        response.on('drain', more);
        more();
      }),
    );
    const dispatcher = dispatcherTo([endless.port]);
    const answer = await request('http://s/', { dispatcher });
    await untilStill(() => written, 'the service to stop');
    expect(written * piece.length).toBeLessThan(32 * 2 ** 20);
    answer.body.destroy();
  });

  it('of a request is not read further than the service reads', async () => {
    const deaf = ending(await startTcpServer((socket) => void socket.pause()));
    const dispatcher = dispatcherTo([deaf.port]);
    let read = 0;
    const body = new Readable({
      read() {
        read++;
        this.push(Buffer.alloc(65_536));
      },
    });
    const aborted = new AbortController();
    const posted = request('http://s/', { dispatcher, method: 'POST', body, signal: aborted.signal });
    await untilStill(() => read, 'the caller to stop');
    expect(read * 65_536).toBeLessThan(32 * 2 ** 20);
    aborted.abort(new Error('enough'));
    await expect(posted).rejects.toThrow('enough');
    expect(body.destroyed).toBe(true);
  });

  it('of a request is let go when the answer comes early', async () => {
    const hasty = ending(await startRawUpstream(({ socket }) => void socket.write(OK)));
    const dispatcher = dispatcherTo([hasty.port]);
    const body = new Readable({ read: () => undefined });
    body.push('one');
    const answer = await request('http://s/', { dispatcher, method: 'POST', body });
    expect(await answer.body.text()).toBe('ok');
    await waitFor(() => body.destroyed, { limitMs: LIMIT_MS, what: 'the source to be closed' });
  });

  it('is decoded by fetch, and comes with interim responses and trailers by request', async () => {
    const rich = await serviceNamed('rich', (_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(200, { 'Content-Encoding': 'br', Trailer: 'X-Sum' });
      response.addTrailers({ 'X-Sum': '7' });
      Readable.from(['plain']).pipe(createBrotliCompress()).pipe(response);
    });
    const dispatcher = dispatcherTo([rich.port]);
    expect(await (await fetch('http://s/', { dispatcher })).text()).toBe('plain');
    const interim: number[] = [];
    const onInfo = ({ statusCode }: { statusCode: number }): void => void interim.push(statusCode);
    const answer = await request('http://s/', { dispatcher, onInfo });
    await answer.body.dump();
    expect([interim, answer.trailers]).toEqual([[103], { 'x-sum': '7' }]);
  });

  it('flows through pipeline and stream, too', async () => {
    const echo = await serviceNamed('echo', (incoming, response) => void incoming.pipe(response));
    const dispatcher = dispatcherTo([echo.port]);
    const options = { origin: 'http://s', path: '/', method: 'POST' } as const;
    const piped = dispatcher.pipeline(options, ({ body }) => body);
    piped.end('through the pipeline');
    expect(await Readable.from(piped).toArray()).toEqual([Buffer.from('through the pipeline')]);
    const pieces: Buffer[] = [];
    await dispatcher.stream({ ...options, body: 'through the stream' }, () => {
      return new PassThrough().on('data', (piece: Buffer) => pieces.push(piece));
    });
    expect(Buffer.concat(pieces).toString()).toBe('through the stream');
  });
});

describe('a caller who leaves', () => {
  it('before discovery has answered is let go', async () => {
    const [port] = await findFreePorts(1);
    const dispatcher = dispatcherFor({ registry: { url: `http://127.0.0.1:${port}` }, services: ['s'] });
    const aborted = new AbortController();
    const waiting = [
      fetch('http://s/', { dispatcher, signal: aborted.signal }),
      request('http://s/', { dispatcher, signal: aborted.signal }),
    ];
    const all = Promise.allSettled(waiting);
    aborted.abort(new Error('enough'));
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await dispatcher.close();
  });

  it.each([
    ['before the answer', silence, false],
    [
      'in the middle of the answer',
      async () => {
        return ending(
          await startRawUpstream(({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')),
        );
      },
      true,
    ],
  ])('%s frees the connection, and no endpoint is to blame', async (_when, start, isAnswering) => {
    const upstream = await start();
    const dispatcher = dispatcherTo([upstream.port]);
    for (const ask of [fetch, request]) {
      const aborted = new AbortController();
      const asked = ask('http://s/', { dispatcher, signal: aborted.signal });
      const text = asked.then(async (answer) => ('text' in answer ? answer.text() : answer.body.text()));
      const failed = expect(text).rejects.toThrow();
      if (isAnswering) await asked;
      else
        await waitFor(() => upstream.connections.at(-1)?.heads === 1 && upstream.open() === 1, {
          limitMs: LIMIT_MS,
          what: 'the request',
        });
      aborted.abort();
      await failed;
      await waitFor(() => upstream.open() === 0, { limitMs: LIMIT_MS, what: 'the connection to be freed' });
    }
    expect(upstream.connections).toHaveLength(2);
    expect(dispatcher.upstreams()[0]?.endpoints[0]).toMatchObject({ requests: 2, failures: 0, inFlight: 0 });
  });

  it('while the connection is made leaves no socket', async () => {
    const deaf = ending(await openDeafPort());
    const dispatcher = dispatcherTo([deaf.port], { timeout: { connect: '60s' } });
    const connecting = () => process.getActiveResourcesInfo().filter((each) => each === 'TCPSocketWrap').length;
    const before = connecting();
    const aborted = new AbortController();
    const asked = request('http://s/', { dispatcher, signal: aborted.signal });
    const failed = expect(asked).rejects.toThrow('enough');
    await waitFor(() => connecting() > before, { limitMs: LIMIT_MS, what: 'the attempt to connect' });
    aborted.abort(new Error('enough'));
    await failed;
    await waitFor(() => connecting() === before, { limitMs: LIMIT_MS, what: 'no attempt to connect' });
    expect(dispatcher.upstreams()[0]?.endpoints[0]).toMatchObject({ requests: 1, failures: 0, inFlight: 0 });
  });
});

describe('a timeout', () => {
  it('of the response is counted to the millisecond: undici’s own clock would need up to a second', async () => {
    const silent = await silence();
    const dispatcher = dispatcherTo([silent.port], { timeout: { response: '100ms' } });
    await expect(request('http://s/', { dispatcher })).rejects.toMatchObject({
      code: 'UND_ERR_HEADERS_TIMEOUT',
      message: 'no response within 100 ms',
    });
    expect(dispatcher.upstreams()[0]?.endpoints[0]).toMatchObject({ failures: 1, inFlight: 0 });
  });

  it('of the response begins when the request is sent', async () => {
    const slow = ending(
      await startRawUpstream((connection) => {
        const isWhole = () => connection.received.endsWith('0\r\n\r\n');
        void waitFor(isWhole, { limitMs: LIMIT_MS, what: 'the request' }).then(() => connection.socket.write(OK));
      }),
    );
    const dispatcher = dispatcherTo([slow.port], { timeout: { response: '250ms' } });
    const steps = Array.from({ length: 10 }, (_, at) => at);
    const body = Readable.from(
      (async function* () {
        for (const at of steps) {
          // The slow upload itself: in all twice as long as the service may take to answer.
          await new Promise((resolve) => setTimeout(resolve, 50));
          yield String(at);
        }
      })(),
    );
    const answer = await request('http://s/', { dispatcher, method: 'POST', body });
    expect(await answer.body.text()).toBe('ok');
  });

  it('of the response ends with the head, wherever the contents stand', async () => {
    const service = await serviceNamed('duplex', (incoming, response) => {
      response.writeHead(200).flushHeaders();
      incoming.on('end', () => setTimeout(() => response.end('late'), 400));
    });
    const dispatcher = dispatcherTo([service.port], { timeout: { response: '200ms' } });
    expect(await (await request('http://s/', { dispatcher })).body.text()).toBe('late');
    const body = new PassThrough();
    body.write('one');
    const answer = await request('http://s/', { dispatcher, method: 'POST', body });
    body.end();
    expect(await answer.body.text()).toBe('late');
  });

  it('may be that of the request itself', async () => {
    const silent = await silence();
    const dispatcher = dispatcherTo([silent.port]);
    const asked = request('http://s/', { dispatcher, headersTimeout: 50 });
    await expect(asked).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
  });

  it('of the connection goes on to the next endpoint', async () => {
    const [deaf, good] = [ending(await openDeafPort()), await serviceNamed('good')];
    const endpoints = [{ address: `127.0.0.1:${deaf.port}`, weight: 100 }, `127.0.0.1:${good.port}`];
    const dispatcher = dispatcherFor({ services: { s: { endpoints, timeout: { connect: '100ms' } } } });
    expect(await (await fetch('http://s/', { dispatcher, method: 'POST', body: 'x' })).text()).toBe('good');
    const view = dispatcher.upstreams()[0]?.endpoints.find(({ weight }) => weight === 100);
    expect(view).toMatchObject({ requests: 1, failures: 1 });
  });

  it('of all together cuts an answer that goes on, and blames nobody', async () => {
    const upstream = ending(
      await startRawUpstream(({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc')),
    );
    const dispatcher = dispatcherTo([upstream.port], { timeout: { total: '100ms' } });
    const answer = await request('http://s/', { dispatcher });
    await expect(answer.body.text()).rejects.toMatchObject({ code: 'WEIR_TIMEOUT' });
    expect(dispatcher.upstreams()[0]?.endpoints[0]).toMatchObject({ failures: 0 });
  });
});

describe('an upgrade', () => {
  it('makes a WebSocket, which is under way until it closes', async () => {
    const server = ending(
      await startHttpServer(
        (_request, response) => void response.writeHead(426).end(),
        (each) => {
          new WebSocketServer({ server: each }).on('connection', (socket) =>
            socket.on('message', (text) => socket.send(`got ${text}`)),
          );
        },
      ),
    );
    const dispatcher = dispatcherTo([server.port]);
    const socket = new WebSocket('ws://s/chat', { dispatcher });
    const heard = new Promise((resolve) => socket.addEventListener('message', ({ data }) => resolve(data)));
    socket.addEventListener('open', () => socket.send('hello'));
    expect(await heard).toBe('got hello');
    const inFlight = () => dispatcher.upstreams()[0]?.endpoints[0]?.inFlight;
    expect(inFlight()).toBe(1);
    socket.close();
    await waitFor(() => inFlight() === 0, { limitMs: LIMIT_MS, what: 'the WebSocket to end' });
    expect(dispatcher.upstreams()[0]?.endpoints[0]).toMatchObject({ requests: 1, failures: 0 });
  });

  it('that is refused is an answer like any other', async () => {
    const plain = await serviceNamed('plain');
    const dispatcher = dispatcherTo([plain.port]);
    await expect(upgrade('http://s/', { dispatcher })).rejects.toThrow();
    expect(await (await fetch('http://s/', { dispatcher })).text()).toBe('plain');
  });
});

describe('whoever traces requests', () => {
  it('finds every attempt in the context of the caller', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const note = (): void => void seen.push(context.getStore());
    diagnostics.subscribe('undici:request:create', note);
    const [port = 0] = await findFreePorts(1);
    const good = await serviceNamed('good');
    const endpoints = [{ address: `127.0.0.1:${port}`, weight: 100 }, `127.0.0.1:${good.port}`];
    const dispatcher = dispatcherFor({ services: { s: { endpoints } } });
    await context.run('the caller', async () => (await request('http://s/', { dispatcher })).body.dump());
    diagnostics.unsubscribe('undici:request:create', note);
    expect(seen).toEqual(['the caller', 'the caller']);
  });
});
