// `weir/client` with real sockets: who is asked, what arrives, what is refused.
import { Agent, getGlobalDispatcher, request, setGlobalDispatcher, fetch as undiciFetch } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { dispatcherFor, dispatcherTo, endClientsAfterEach, serviceNamed } from '../support/client-scene.ts';
import { startTcpServer } from '../support/local-server.ts';
import { answering, OK, startRawUpstream } from '../support/raw-upstream.ts';
import { waitFor } from '../support/wait-for.ts';

const globalBefore = getGlobalDispatcher();
afterEach(() => setGlobalDispatcher(globalBefore));
endClientsAfterEach();

/** The heads of requests as they arrived. */
async function recordingService() {
  const heads: string[] = [];
  const upstream = await startRawUpstream((connection, head) => {
    heads.push(head);
    answering(OK)(connection);
  });
  return { heads, upstream };
}

describe('a service is reached by its name', () => {
  it('with the fetch of Node, with that of undici and with request', async () => {
    const a = await serviceNamed('a');
    const dispatcher = dispatcherTo([a.port]);
    expect(await (await fetch('http://s/1', { dispatcher })).text()).toBe('a');
    expect(await (await undiciFetch('http://s/2', { dispatcher })).text()).toBe('a');
    expect(await (await request('http://s/3', { dispatcher })).body.text()).toBe('a');
    expect(await (await dispatcher.request({ origin: 'http://S', path: '/4', method: 'GET' })).body.text()).toBe('a');
    expect(a.requests).toEqual(['GET /1', 'GET /2', 'GET /3', 'GET /4']);
  });

  it('by every fetch of the process when the dispatcher is the global one, other hosts as before', async () => {
    const [a, other] = [await serviceNamed('a'), await serviceNamed('other')];
    setGlobalDispatcher(dispatcherTo([a.port]));
    expect(await (await fetch('http://s/')).text()).toBe('a');
    expect(await (await undiciFetch('http://s/')).text()).toBe('a');
    expect(await (await fetch(`http://127.0.0.1:${other.port}/`)).text()).toBe('other');
    expect(await (await request(`http://127.0.0.1:${other.port}/`)).body.text()).toBe('other');
  });

  it('with the name of the service as host and the target as it was given', async () => {
    const { heads, upstream } = await recordingService();
    const dispatcher = dispatcherTo([upstream.port]);
    await (await request('http://s/a%2Fb/%7e?q=%20&q', { dispatcher, headers: { 'X-A': ['1', '2'] } })).body.dump();
    await (await request('http://s/', { dispatcher, headers: { host: 'shop.example.com' } })).body.dump();
    await upstream.stop();
    expect(heads[0]).toBe(
      'GET /a%2Fb/%7e?q=%20&q HTTP/1.1\r\nhost: s\r\nconnection: keep-alive\r\nX-A: 1\r\nX-A: 2\r\n\r\n',
    );
    expect(heads[1]).toContain('\r\nhost: shop.example.com\r\n');
  });

  it('over connections that are kept', async () => {
    const { heads, upstream } = await recordingService();
    const dispatcher = dispatcherTo([upstream.port]);
    for (let at = 0; at < 5; at++) await (await fetch(`http://s/${at}`, { dispatcher })).text();
    expect([heads.length, upstream.connections.length]).toEqual([5, 1]);
    await upstream.stop();
  });

  it('exactly by weight', async () => {
    const services = await Promise.all(['a', 'b', 'c'].map((name) => serviceNamed(name)));
    const weights = [4, 2, 1];
    const endpoints = services.map(({ port }, at) => ({ address: `127.0.0.1:${port}`, weight: weights[at] ?? 1 }));
    const dispatcher = dispatcherFor({ services: { s: { endpoints } } });
    await Promise.all(Array.from({ length: 70 }, async () => (await fetch('http://s/', { dispatcher })).text()));
    expect(services.map(({ requests }) => requests.length)).toEqual([40, 20, 10]);
  });

  it('at the endpoints of a subset, of a branch, and by key', async () => {
    const [stable, canary] = [await serviceNamed('stable'), await serviceNamed('canary')];
    const endpoints = [
      { address: `127.0.0.1:${stable.port}`, tags: ['stable'] },
      { address: `127.0.0.1:${canary.port}`, tags: ['canary'] },
    ];
    const when = { header: 'x-canary', equals: '1' };
    const dispatcher = dispatcherFor({
      services: {
        subset: { endpoints, subset: { tags: ['canary'] } },
        split: {
          endpoints,
          split: [
            { weight: 1, tags: ['stable'] },
            { weight: 0, tags: ['canary'], when },
          ],
        },
        keyed: { endpoints, balance: { policy: 'consistent_hash', hash: { on: 'query', name: 'user' } } },
      },
    });
    const ask = async (url: string, headers: Record<string, string> = {}) => {
      return (await fetch(url, { dispatcher, headers })).text();
    };
    const asked = async (url: string, headers?: Record<string, string>) => {
      const answers = [];
      for (let at = 0; at < 4; at++) answers.push(await ask(url, headers));
      return [...new Set(answers)];
    };
    expect(await asked('http://subset/')).toEqual(['canary']);
    expect(await asked('http://split/')).toEqual(['stable']);
    expect(await asked('http://split/', { 'X-Canary': '1' })).toEqual(['canary']);
    expect(await asked('http://keyed/?user=7')).toHaveLength(1);
    const byUser = await Promise.all(Array.from({ length: 20 }, (_, user) => ask(`http://keyed/?user=${user}`)));
    expect(new Set(byUser)).toEqual(new Set(['stable', 'canary']));
  });
});

describe('hosts that are no service', () => {
  it('go to the fallback', async () => {
    const other = await serviceNamed('other');
    const fallback = new Agent({
      connect: { lookup: (_host, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]) },
    });
    const dispatcher = dispatcherFor({ services: { s: { endpoints: ['127.0.0.1:1'] } }, fallback });
    const url = `http://elsewhere.test:${other.port}/`;
    expect(await (await fetch(url, { dispatcher })).text()).toBe('other');
    await dispatcher.close();
    expect(fallback.closed).toBe(false);
    await fallback.close();
  });
});

describe('an address of a service without sense is refused', () => {
  it.each([
    ['a port', 'http://s:8080/'],
    ['another scheme', 'https://s/'],
  ])('%s', async (_what, url) => {
    const a = await serviceNamed('a');
    const dispatcher = dispatcherTo([a.port]);
    await expect(fetch(url, { dispatcher })).rejects.toMatchObject({ cause: { code: 'WEIR_BAD_ADDRESS' } });
    await expect(request(url, { dispatcher })).rejects.toMatchObject({ name: 'WeirError', code: 'WEIR_BAD_ADDRESS' });
    expect(a.requests).toEqual([]);
  });

  it('CONNECT', async () => {
    const dispatcher = dispatcherTo([1]);
    await expect(dispatcher.connect({ origin: 'http://s', path: '/' })).rejects.toMatchObject({
      code: 'WEIR_BAD_ADDRESS',
    });
  });
});

describe('a request that undici refuses', () => {
  it.each([
    ['an invalid path', { path: '/ a' }, 'UND_ERR_INVALID_ARG'],
    ['an invalid field', { headers: { 'x-a': 'a\nb' } }, 'UND_ERR_INVALID_ARG'],
    ['fields that are no pairs', { headers: ['x-a'] }, 'UND_ERR_INVALID_ARG'],
    ['an Expect field', { headers: { expect: '100-continue' } }, 'UND_ERR_NOT_SUPPORTED'],
    [
      'a body of another length',
      { headers: { 'content-length': '9' }, body: 'abc', method: 'POST' },
      'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
    ],
  ] as const)('costs no endpoint its good name: %s', async (_what, given, code) => {
    const services = [await serviceNamed('a'), await serviceNamed('b')];
    const dispatcher = dispatcherTo(
      services.map(({ port }) => port),
      { ejection: { consecutiveFailures: 1 } },
    );
    const options = { origin: 'http://s', path: '/', method: 'GET', ...given };
    const headers = 'headers' in given ? (Array.isArray(given.headers) ? [...given.headers] : given.headers) : {};
    await expect(dispatcher.request({ ...options, headers })).rejects.toMatchObject({ code });
    const endpoints = dispatcher.upstreams().flatMap((view) => view.endpoints);
    expect(endpoints.map(({ state, failures }) => [state, failures])).toEqual([
      ['active', 0],
      ['active', 0],
    ]);
    expect(services.flatMap(({ requests }) => requests)).toEqual([]);
  });
});

describe('an endpoint', () => {
  it('is ejected by what its traffic shows, and comes back', async () => {
    let isBroken = true;
    const [good, bad] = [
      await serviceNamed('good'),
      await serviceNamed('bad', (_request, response) => void response.writeHead(isBroken ? 500 : 200).end('bad')),
    ];
    const ejection = { consecutiveFailures: 3, base: '300ms', failurePercent: 'off' } as const;
    const dispatcher = dispatcherTo([good.port, bad.port], { ejection });
    const ask = async () => (await fetch('http://s/', { dispatcher })).text();
    for (let at = 0; at < 10; at++) await ask();
    expect(bad.requests).toHaveLength(3);
    const view = () => dispatcher.upstreams()[0]?.endpoints.find(({ endpoint }) => endpoint.endsWith(`:${bad.port}`));
    expect(view()).toMatchObject({ state: 'ejected', ejections: 1, failures: 3 });
    isBroken = false;
    await waitFor(async () => (await ask()) === 'bad', { limitMs: 5000, what: 'the endpoint to come back' });
    expect(view()).toMatchObject({ state: 'active' });
  });

  it('that says when to come back is loaded, not broken', async () => {
    const answer = { 'Retry-After': '1' };
    const loaded = await serviceNamed('loaded', (_request, response) => void response.writeHead(503, answer).end());
    const dispatcher = dispatcherTo([loaded.port]);
    expect((await fetch('http://s/', { dispatcher })).status).toBe(503);
    expect(dispatcher.upstreams()[0]?.endpoints[0]).toMatchObject({ requests: 1, failures: 0 });
  });

  it('is spared while the breaker of its service is open', async () => {
    const bad = await serviceNamed('bad', (_request, response) => void response.writeHead(503).end());
    const breaker = { minRequests: 4, failurePercent: 50, open: '60s' } as const;
    const dispatcher = dispatcherTo([bad.port], { breaker });
    for (let at = 0; at < 4; at++) expect((await fetch('http://s/', { dispatcher })).status).toBe(503);
    await expect(request('http://s/', { dispatcher })).rejects.toMatchObject({ code: 'WEIR_BREAKER_OPEN' });
    expect(bad.requests).toHaveLength(4);
    expect(dispatcher.upstreams()[0]).toMatchObject({ breaker: 'open' });
  });
});

describe('a dispatcher that is closed', () => {
  it('lets what is under way end, takes nothing more, and leaves no connection', async () => {
    const answers: (() => void)[] = [];
    const slow = await serviceNamed('slow', (_request, response) => void answers.push(() => response.end('slow')));
    const dispatcher = dispatcherTo([slow.port]);
    const running = fetch('http://s/', { dispatcher });
    await waitFor(() => answers.length === 1, { limitMs: 3000, what: 'the request' });
    const closed = dispatcher.close();
    await expect(request('http://s/', { dispatcher })).rejects.toMatchObject({ code: 'UND_ERR_CLOSED' });
    answers[0]?.();
    expect(await (await running).text()).toBe('slow');
    await closed;
    await waitFor(() => slow.open() === 0, { limitMs: 3000, what: 'no connection' });
    await expect(request('http://s/', { dispatcher })).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' });
    await expect(dispatcher.ready()).rejects.toMatchObject({ code: 'UND_ERR_CLOSED' });
    expect([dispatcher.closed, dispatcher.destroyed]).toEqual([true, true]);
    await new Promise<void>((resolve) => dispatcher.close(resolve));
  });

  it('by destroy ends what is under way at once', async () => {
    const silent = await startTcpServer(() => undefined);
    const dispatcher = dispatcherTo([silent.port]);
    const running = expect(request('http://s/', { dispatcher })).rejects.toThrow('that is all');
    await dispatcher.destroy(new Error('that is all'));
    await running;
    await silent.stop();
  });
});
