// `weir/client` and those who give it a handler of their own, as other libraries do.
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { dispatcherFor, dispatcherTo, endClientsAfterEach, serviceNamed } from '../support/client-scene.ts';
import { waitFor } from '../support/wait-for.ts';

endClientsAfterEach();

const REQUEST = { origin: 'http://s', path: '/', method: 'GET' } as const;
const LIMIT_MS = 3000;

/** Notes what it is told. */
function recorder(own: Dispatcher.DispatchHandler = {}) {
  const told: string[] = [];
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: () => void told.push('request'),
    onResponseStart: (_controller, status) => void told.push(`head ${status}`),
    onResponseData: (_controller, octets) => void told.push(octets.toString()),
    onResponseEnd: () => void told.push('end'),
    onResponseError: (_controller, error) => void told.push(error.message),
    ...own,
  };
  const until = (what: string) => waitFor(() => told.includes(what), { limitMs: LIMIT_MS, what });
  return { told, handler, until };
}

describe('a handler', () => {
  it('of undici 7, which the fetch of Node 24 has, is told in its own words', async () => {
    const a = await serviceNamed('a');
    const dispatcher = dispatcherTo([a.port]);
    const told: unknown[] = [];
    const handler: object = {
      onConnect: () => void told.push('connect'),
      onHeaders: (status: number, rawHeaders: Buffer[]) => void told.push(status, rawHeaders.every(Buffer.isBuffer)),
      onData: (octets: Buffer) => void told.push(octets.toString()),
      onComplete: () => void told.push('complete'),
      onError: (error: Error) => void told.push(error.message),
    };
    dispatcher.dispatch(REQUEST, handler);
    await waitFor(() => told.includes('complete'), { limitMs: LIMIT_MS, what: 'the answer' });
    expect(told).toEqual(['connect', 200, true, 'a', 'complete']);
    dispatcher.dispatch({ ...REQUEST, origin: 'http://s:1' }, handler);
    expect(told.at(-1)).toContain('s:1 has a port');
  });

  it('is told of the beginning once, however many attempts there are', async () => {
    const [bad, good] = [
      await serviceNamed('bad', (_request, response) => void response.writeHead(503).end()),
      await serviceNamed('good'),
    ];
    const endpoints = [{ address: `127.0.0.1:${bad.port}`, weight: 1000 }, `127.0.0.1:${good.port}`];
    const dispatcher = dispatcherFor({ services: { s: { endpoints } } });
    for (const { told, handler, until } of [recorder(), recorder()]) {
      dispatcher.dispatch(REQUEST, handler);
      await until('end');
      expect(told).toEqual(['request', 'head 200', 'good', 'end']);
    }
    expect(bad.requests).toHaveLength(2);
  });

  it('may pause before there is an answer', async () => {
    const a = await serviceNamed('a');
    const dispatcher = dispatcherTo([a.port]);
    let resume = (): void => undefined;
    const { told, handler, until } = recorder({
      onRequestStart: (controller) => {
        controller.pause();
        resume = () => controller.resume();
      },
    });
    dispatcher.dispatch(REQUEST, handler);
    await until('head 200');
    await waitFor(() => a.requests.length === 1, { limitMs: LIMIT_MS, what: 'the request' });
    // Whoever comes later is served meanwhile.
    const other = await dispatcher.request(REQUEST);
    await other.body.dump();
    expect(told).toEqual(['head 200']);
    resume();
    await until('end');
  });

  it.each(['onRequestStart', 'onResponseStart', 'onResponseData'] as const)(
    'that throws in %s is told of its error, and no endpoint is to blame',
    async (method) => {
      const a = await serviceNamed('a', (_request, response) => void response.write('a'));
      const dispatcher = dispatcherTo([a.port]);
      const { told, handler, until } = recorder({
        [method]: () => {
          throw new Error('not like this');
        },
      });
      dispatcher.dispatch(REQUEST, handler);
      await until('not like this');
      expect(told.filter((each) => each === 'not like this')).toHaveLength(1);
      await waitFor(() => a.open() === 0, { limitMs: LIMIT_MS, what: 'the connection to be freed' });
      expect(dispatcher.upstreams()[0]?.endpoints[0]).toMatchObject({ failures: 0, inFlight: 0 });
    },
  );

  it('may abort as soon as it is told of the beginning', async () => {
    const a = await serviceNamed('a');
    const dispatcher = dispatcherTo([a.port]);
    await dispatcher.ready();
    const { told, handler } = recorder({ onRequestStart: (controller) => controller.abort(new Error('never mind')) });
    dispatcher.dispatch(REQUEST, handler);
    expect(told).toEqual(['never mind']);
    expect(dispatcher.upstreams()[0]?.endpoints[0]).toMatchObject({ requests: 0 });
  });
});
