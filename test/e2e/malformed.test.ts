// All that is malformed, again and again, beside good clients: nobody notices, and nothing is left.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from '../support/load.ts';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { MALFORMED, ODD } from '../support/malformed-corpus.ts';
import { parsePrometheusText, sumOf } from '../support/prometheus-text.ts';
import { createSeededRandom } from '../support/seeded-random.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 30_000;
const ROUNDS = 20;
const BAD_CLIENTS = 10;
const GOOD_CLIENTS = 50;

describe('a gateway that gets everything that is malformed', () => {
  const owned = new AsyncDisposableStack();
  let upstream: LocalServer;
  let weir: WeirProcess;
  const seen = new Set<string>();

  beforeAll(async () => {
    upstream = owned.adopt(
      await startHttpServer((request, response) => {
        seen.add(request.url ?? '');
        request.on('error', () => undefined).resume();
        response.on('error', () => undefined).end('good');
      }),
      (server) => server.stop(),
    );
    const web = { service: 'web', endpoints: [`127.0.0.1:${upstream.port}`], match: [{ paths: ['/*'] }] };
    weir = owned.adopt(await startWeir({ routes: { web }, gateway: { log: { access: false } } }), (gateway) =>
      gateway.close(),
    );
  });
  afterAll(() => owned.disposeAsync());

  it('twenty times in random order serves fifty good clients without an error (case 142)', async () => {
    const load = startLoad({ url: `${weir.url}/good`, fresh: GOOD_CLIENTS / 2, kept: GOOD_CLIENTS / 2, pauseMs: 10 });
    const accepted: string[] = [];
    try {
      const random = createSeededRandom(142);
      const rows = Array.from({ length: ROUNDS }, () => shuffled([...MALFORMED, ...ODD], random));
      const messages = rows.flat();
      const badClient = async () => {
        for (let message = messages.pop(); message !== undefined; message = messages.pop()) {
          const answer = await talk(weir.port, message, random.percent(20));
          if (MALFORMED.includes(message) && /HTTP\/1\.1 [123]/.test(answer)) accepted.push(message);
        }
      };
      await Promise.all(Array.from({ length: BAD_CLIENTS }, badClient));
    } finally {
      await load.stop();
    }
    expect(accepted).toEqual([]);
    expect([...seen].filter((url) => url.includes('evil'))).toEqual([]);
    expect(load.failed).toEqual([]);
    expect(load.statuses.keys().toArray()).toEqual([200]);
    const metrics = async () => parsePrometheusText((await weir.admin('/metrics')).body);
    expect(sumOf(await metrics(), 'weir_worker_restarts_total')).toBe(0);
    const isQuiet = async () => {
      const now = await metrics();
      const open = sumOf(now, 'weir_connections', { side: 'downstream' });
      return open + sumOf(now, 'weir_requests_in_flight') === 0;
    };
    await waitFor(isQuiet, { limitMs: LIMIT_MS, what: 'the last connection to be closed' });
    const { endpoints } = await weir.service('web');
    expect(endpoints).toMatchObject([{ inFlight: 0, state: 'active' }]);
    expect(weir.log().filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** Sends it, and all that comes back until the other side closes; or leaves at once. */
function talk(port: number, message: string, isImpatient: boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    socket.on('connect', () => {
      socket.end(message, 'latin1', () => {
        if (isImpatient) socket.resetAndDestroy();
      });
    });
    socket.on('data', (piece) => {
      if (answer.length < 1000) answer += piece.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

function shuffled(messages: string[], random: ReturnType<typeof createSeededRandom>): string[] {
  for (let at = messages.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [messages[at], messages[other]] = [messages[other] ?? '', messages[at] ?? ''];
  }
  return messages;
}
