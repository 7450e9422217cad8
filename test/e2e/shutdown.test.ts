// SIGTERM: what is under way ends well, nothing new comes in, and the process is gone in time.
import { once } from 'node:events';
import { Agent, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { startLoad } from '../support/load.ts';
import { startHttpServer } from '../support/local-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 5000;
const DRAIN_MS = 3000;
const CLIENTS = 8;

describe('a gateway that gets SIGTERM', () => {
  let owned: AsyncDisposableStack;
  let weir: WeirProcess;
  /** Requests that the upstream has and has not answered. */
  let held: ServerResponse[];

  beforeEach(async () => {
    owned = new AsyncDisposableStack();
    held = [];
    const upstream = owned.adopt(
      await startHttpServer(
        (request, response) => {
          if (request.url === '/slow') held.push(response);
          else response.end('quick');
        },
        (server) => void new WebSocketServer({ server }),
      ),
      (server) => server.stop(),
    );
    weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', endpoints: [`127.0.0.1:${upstream.port}`], match: [{ paths: ['/*'] }] } },
        gateway: { shutdown: { drain: `${DRAIN_MS}ms` } },
      }),
      (gateway) => gateway.close(),
    );
  });
  afterEach(() => owned.disposeAsync());

  const refused = () =>
    weir.get('/').then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
    );

  it('answers what it has under way with Connection: close, takes nothing new, and exits with 0', async () => {
    const agent = new Agent({ keepAlive: true });
    const slow = weir.get('/slow', { agent });
    const response = await waitFor(() => held[0], { limitMs: LIMIT_MS, what: 'the slow request' });
    const idle = connect(weir.port, '127.0.0.1');
    const idleClosed = once(idle, 'close');
    const isAccepted = async () => {
      const { workers } = (await weir.upstreams()).gateway;
      return workers.reduce((sum, { connections }) => sum + connections, 0) === 2;
    };
    await waitFor(isAccepted, { limitMs: LIMIT_MS, what: 'the idle connection' });
    const signalledMs = performance.now();
    weir.signal('SIGTERM');

    await waitFor(refused, { limitMs: LIMIT_MS, what: 'closed doors' });
    // Load balancers see that it leaves, whoever asks.
    expect(await weir.admin('/readyz')).toMatchObject({ status: 503, body: expect.stringContaining('draining') });
    expect((await weir.admin('/healthz')).status).toBe(200);

    response.end('at last');
    expect(await slow).toMatchObject({ status: 200, body: 'at last', headers: { connection: 'close' } });
    await idleClosed;
    expect(await weir.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
    expect(performance.now() - signalledMs).toBeLessThan(DRAIN_MS);
    expect(weir.log().at(-1)).toMatchObject({ msg: 'stopped' });
    expect(weir.accessLog()).toContainEqual(expect.objectContaining({ path: '/slow', status: 200 }));
    agent.destroy();
  });

  it('closes idle connections and tunnels, and is gone at once when nothing is under way', async () => {
    const agent = new Agent({ keepAlive: true });
    await weir.get('/', { agent });
    const tunnel = new WebSocket(`ws://127.0.0.1:${weir.port}/tunnel`);
    await once(tunnel, 'open');
    const tunnelClosed = once(tunnel, 'close');
    const signalledMs = performance.now();
    weir.signal('SIGTERM');
    await tunnelClosed;
    expect(await weir.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
    expect(performance.now() - signalledMs).toBeLessThan(DRAIN_MS);
    agent.destroy();
  });

  it('under load gives no wrong answer and is gone in time', async () => {
    const load = startLoad({ url: `${weir.url}/`, fresh: CLIENTS, pauseMs: 1 });
    try {
      await waitFor(() => load.sent > 200, { limitMs: LIMIT_MS, what: 'load' });
      weir.signal('SIGTERM');
      expect(await weir.ended(DRAIN_MS)).toEqual({ code: 0, signal: null });
    } finally {
      await load.stop();
    }
    expect(load.statuses.keys().toArray()).toEqual([200]);
    // The kernel resets what still queues at a listener that closes, and there are two; all others are refused.
    const reset = load.failed.filter(({ why }) => !why.includes('ECONNREFUSED'));
    expect(reset.length).toBeLessThanOrEqual(2 * CLIENTS);
  });

  it('breaks off what is still under way when the drain time is over, and exits with 0', async () => {
    const slow = weir.get('/slow').catch((error: Error) => error);
    await waitFor(() => held[0], { limitMs: LIMIT_MS, what: 'the slow request' });
    const signalledMs = performance.now();
    weir.signal('SIGTERM');
    expect(await slow).toBeInstanceOf(Error);
    expect(performance.now() - signalledMs).toBeGreaterThan(DRAIN_MS - 100);
    expect(await weir.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
    expect(performance.now() - signalledMs).toBeLessThan(DRAIN_MS + 2000);
  });

  it('ends at once on a second signal', async () => {
    const slow = weir.get('/slow').catch((error: Error) => error);
    await waitFor(() => held[0], { limitMs: LIMIT_MS, what: 'the slow request' });
    const signalledMs = performance.now();
    weir.signal('SIGTERM');
    await waitFor(refused, { limitMs: LIMIT_MS, what: 'closed doors' });
    weir.signal('SIGTERM');
    await weir.ended(LIMIT_MS);
    expect(performance.now() - signalledMs).toBeLessThan(DRAIN_MS - 500);
    expect(await slow).toBeInstanceOf(Error);
  });
});
