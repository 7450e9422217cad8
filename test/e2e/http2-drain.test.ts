// HTTP/2 sessions when what serves them leaves: they are told by GOAWAY, and all that was taken is answered.
import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasOpenssl } from '../support/certificates.ts';
import { ConfigFiles } from '../support/config-files.ts';
import { startHttp2Load } from '../support/http2-load.ts';
import { ask, endHttp2AfterEach, type Http2Answer, secureSessionTo } from '../support/http2-scene.ts';
import { type FrontService, startFrontService } from '../support/http2-service.ts';
import { startTlsWeir, type TlsWeir } from '../support/tls-weir.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 20_000;
/** Connections are spread by chance: with so many each of two workers has some. */
const SESSIONS = 12;
const STREAMS = 5;

endHttp2AfterEach();

describe.skipIf(!hasOpenssl())('an HTTP/2 session', () => {
  let owned: AsyncDisposableStack;
  let service: FrontService;
  let front: TlsWeir;

  beforeEach(async () => {
    owned = new AsyncDisposableStack();
    service = owned.adopt(await startFrontService(), (each) => each.stop());
    const endpoints = [`127.0.0.1:${service.port}`];
    front = await startTlsWeir(owned, {
      routes: { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }] } },
      gateway: { shutdown: { drain: '20s' } },
    });
  });
  afterEach(() => owned.disposeAsync());

  interface Held {
    readonly answers: readonly Promise<Http2Answer>[];
    /** The error codes of the GOAWAY frames that came. */
    readonly goaways: number[];
  }

  /** Sessions with requests under way, and each with one that was answered. */
  async function holdRequests(): Promise<Held> {
    const goaways: number[] = [];
    const sessions: ClientHttp2Session[] = [];
    for (let at = 0; at < SESSIONS; at++) {
      const session = secureSessionTo(front.port, front.ca);
      session.on('goaway', (code) => goaways.push(code));
      expect(await ask(session, { ':path': '/' })).toMatchObject({ status: 200 });
      sessions.push(session);
    }
    const answers = sessions.flatMap((session) =>
      Array.from({ length: STREAMS }, () => ask(session, { ':path': '/held' })),
    );
    await waitFor(() => service.held.length === SESSIONS * STREAMS, { limitMs: LIMIT_MS, what: 'all requests' });
    return { answers, goaways };
  }

  async function expectAllAnswered({ answers, goaways }: Held): Promise<void> {
    service.release();
    const ended = await Promise.all(answers);
    expect(ended.map(({ status, content, resetCode }) => `${status} ${content} ${resetCode}`)).toEqual(
      ended.map(() => '200 at last 0'),
    );
    expect(goaways).toEqual(Array.from({ length: SESSIONS }, () => 0));
  }

  const told = (held: Held) =>
    waitFor(() => held.goaways.length === SESSIONS, { limitMs: LIMIT_MS, what: 'a GOAWAY on each session' });

  it('is ended at SIGTERM when its requests are answered', async () => {
    const held = await holdRequests();
    const idle = secureSessionTo(front.port, front.ca);
    await once(idle, 'remoteSettings');
    const idleEnded = once(idle, 'close');
    front.weir.signal('SIGTERM');
    await told(held);
    await idleEnded;
    await expectAllAnswered(held);
    expect(await front.weir.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
    const lines = front.weir.accessLog().filter(({ path }) => path === '/held');
    expect(lines.map(({ status }) => status)).toEqual(Array.from({ length: SESSIONS * STREAMS }, () => 200));
  });

  it('is ended when its worker is restarted, and its requests are answered', async () => {
    const held = await holdRequests();
    for (const { id } of (await front.weir.upstreams()).gateway.workers) {
      expect((await front.weir.admin(`/debug/workers/${id}/restart`, { method: 'POST' })).status).toBe(202);
    }
    await told(held);
    expect(await ask(secureSessionTo(front.port, front.ca), { ':path': '/' })).toMatchObject({ status: 200 });
    await expectAllAnswered(held);
  });

  it('is ended when gateway.yaml is loaded anew with other keys for workers, and its requests are answered', async () => {
    const held = await holdRequests();
    const files = new ConfigFiles(front.weir);
    await files.gateway({ limits: { headerCount: 77 } });
    expect(await files.reload()).toMatchObject({ result: 'applied' });
    await told(held);
    await expectAllAnswered(held);
  });

  it('under load loses no request over a reload and the restart of a worker', async () => {
    const where = { port: front.port, ca: front.ca, path: '/octets?20000' };
    const content = (await ask(secureSessionTo(front.port, front.ca), { ':path': where.path })).content;
    const load = startHttp2Load({ ...where, content, sessions: 4, streams: 8 });
    owned.defer(() => load.stop());
    const more = async (answers: number) => {
      const before = load.answered;
      await waitFor(() => load.answered >= before + answers, { limitMs: LIMIT_MS, what: 'answers to the load' });
    };
    /** A worker that is being replaced is there twice. */
    const settled = () => {
      const isSettled = async () => {
        const ids = (await front.weir.upstreams()).gateway.workers.map(({ id }) => id);
        return new Set(ids).size === ids.length;
      };
      return waitFor(isSettled, { limitMs: LIMIT_MS, what: 'the old workers to be gone' });
    };
    const files = new ConfigFiles(front.weir);
    await more(300);
    await files.gateway({ limits: { headerCount: 77 } });
    expect(await files.reload()).toMatchObject({ result: 'applied' });
    await settled();
    await more(300);
    await front.weir.admin('/debug/workers/1/restart', { method: 'POST' });
    await settled();
    await more(300);
    await load.stop();
    console.info(
      `HTTP/2 over restarts: ${load.answered} answered, ${load.askedAgain} asked again, ${load.goaways} GOAWAY`,
    );
    expect(load.lost).toEqual([]);
    // What was asked again had not been taken: no request was carried out twice. The first is the test's own.
    const taken = () => front.weir.accessLog().filter(({ path }) => path === '/octets').length;
    await waitFor(() => taken() > load.answered, { limitMs: LIMIT_MS, what: 'the access log' });
    expect(taken()).toBe(load.answered + 1);
    // Every session was ended by the reload at least.
    expect(load.goaways).toBeGreaterThanOrEqual(4);
  });
});
