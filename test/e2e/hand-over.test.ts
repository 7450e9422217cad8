// A new process takes over from an old one on the same port, under clients that keep their connections.
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findFreePorts } from '../support/free-ports.ts';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { startPosting } from '../support/posting-clients.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';
import { startCommand } from '../support/weir-command.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 20_000;
const CLIENTS = 100;
const HAND_OVERS = 1;

describe('a process that takes over from another', () => {
  let owned: AsyncDisposableStack;
  let upstream: LocalServer;
  let port: number;
  /** How often each body was posted to the service. */
  let posted: Map<string, number>;
  let held: ServerResponse[];

  beforeEach(async () => {
    owned = new AsyncDisposableStack();
    posted = new Map();
    held = [];
    upstream = owned.adopt(
      await startHttpServer(async (request, response) => {
        if (request.url === '/held') return void held.push(response);
        let body = '';
        for await (const piece of request) body += String(piece);
        posted.set(body, (posted.get(body) ?? 0) + 1);
        response.end(body);
      }),
      (server) => server.stop(),
    );
    [port = 0] = await findFreePorts(1);
  });
  afterEach(() => owned.disposeAsync());

  /** A gateway on the shared port that says its name. */
  async function startNamed(name: string): Promise<WeirProcess> {
    const rewrite = { responseHeaders: { set: { 'X-Gateway': name } } };
    const web = { service: 'web', endpoints: [`127.0.0.1:${upstream.port}`], match: [{ paths: ['/*'] }], rewrite };
    const gateway = { listen: [{ address: `127.0.0.1:${port}` }], shutdown: { drain: '20s' } };
    return owned.adopt(await startWeir({ routes: { web }, gateway }), (weir) => weir.close());
  }

  it('leaves no POST on an accepted connection without its answer (case 135)', async () => {
    let old = await startNamed('0');
    const all = [old];
    const clients = startPosting(port, CLIENTS);
    const since = (ms: number) => clients.answers.filter(({ startedMs }) => startedMs > ms);
    try {
      for (let time = 1; time <= HAND_OVERS; time++) {
        const next = await startNamed(String(time));
        old.signal('SIGTERM');
        await waitFor(async () => (await old.admin('/readyz').catch(() => undefined))?.status !== 200, {
          limitMs: LIMIT_MS,
          what: 'the old process to drain',
        });
        const drainingMs = Date.now();
        expect(await old.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
        const goneMs = Date.now();
        await waitFor(() => since(goneMs).length > 5 * CLIENTS, { limitMs: LIMIT_MS, what: 'answers afterwards' });
        // While it drains, every answer of the old process tells its client not to come back.
        const late = since(drainingMs).filter(({ gateway }) => gateway === String(time - 1));
        expect(late.filter(({ isLast }) => !isLast)).toEqual([]);
        expect(new Set(since(goneMs).map(({ gateway }) => gateway))).toEqual(new Set([String(time)]));
        old = next;
        all.push(next);
      }
    } finally {
      await clients.stop();
    }
    await old.stop();
    // What is lost never came in: it met a listening socket or an idle connection as that was closed.
    const taken = new Set([...posted.keys(), ...all.flatMap((weir) => weir.accessLog().map(({ path }) => path))]);
    expect(clients.lost.filter(({ path }) => taken.has(path))).toEqual([]);
    expect(clients.lost.filter(({ why }) => !/ECONNRESET|socket hang up/.test(why))).toEqual([]);
    expect(clients.lost.length).toBeLessThanOrEqual((HAND_OVERS * CLIENTS) / 10);
    expect(new Set(clients.answers.map(({ status }) => status))).toEqual(new Set([200]));
    // And none was sent to the service twice.
    expect([...posted.values()].filter((times) => times > 1)).toEqual([]);
  });

  it('has the door to itself while the old one ends what it has under way', async () => {
    const old = await startNamed('old');
    const slow = Array.from({ length: 6 }, () => send(`http://127.0.0.1:${port}/held`));
    await waitFor(() => held.length === slow.length, { limitMs: LIMIT_MS, what: 'the slow requests' });
    await startNamed('new');
    old.signal('SIGTERM');
    await waitFor(async () => (await old.admin('/readyz')).status === 503, { limitMs: LIMIT_MS, what: 'draining' });
    const isNewAlone = async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(`http://127.0.0.1:${port}/`)));
      return answers.every(({ headers }) => headers['x-gateway'] === 'new');
    };
    await waitFor(() => isNewAlone().catch(() => false), { limitMs: LIMIT_MS, what: 'the new process alone' });
    for (const response of held) response.end('at last');
    const answers = await Promise.all(slow);
    expect(
      answers.map(({ status, body, headers }) => [status, body, headers.connection, headers['x-gateway']]),
    ).toEqual(slow.map(() => [200, 'at last', 'close', 'old']));
    expect(await old.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
  });

  it('needs an admin address of its own, and without one ends and disturbs nobody', async () => {
    const weir = await startNamed('only');
    const second = startCommand(['start', '--config', 'config/gateway.yaml', '--routes', 'routes'], weir.folder);
    expect(await second.ended(LIMIT_MS)).toEqual({ code: 1, signal: null });
    expect(second.stderr).toContain('EADDRINUSE');
    for (let at = 0; at < 20; at++) {
      expect((await send(`http://127.0.0.1:${port}/`)).headers['x-gateway']).toBe('only');
    }
  });
});
