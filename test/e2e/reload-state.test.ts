// What the gateway has learnt from traffic outlives a reload: turns, ejections, rate limits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigFiles } from '../support/config-files.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { parsePrometheusText, sumOf } from '../support/prometheus-text.ts';
import type { Answer } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const CONSECUTIVE = 2;

describe('a reload', () => {
  const owned = new AsyncDisposableStack();
  let upstreams: LocalServer[];
  /** Nobody listens there. */
  let deadPort: number;
  let weir: WeirProcess;
  let files: ConfigFiles;
  let others = 0;

  const endpoint = (at: number, weight = 1) => ({ address: `127.0.0.1:${upstreams[at]?.port}`, weight });
  const turns = (more: object = {}) => {
    const endpoints = [endpoint(0, 5), endpoint(1), endpoint(2)];
    return { service: 'turns', endpoints, match: [{ paths: ['/turns'] }], ...more };
  };
  const partly = (more: object = {}) => {
    const endpoints = [endpoint(0), { address: `127.0.0.1:${deadPort}` }];
    const ejection = { consecutiveFailures: CONSECUTIVE, base: '300s' };
    return { service: 'partly', endpoints, ejection, match: [{ paths: ['/partly'] }], ...more };
  };
  const limited = (path: string, rateLimit: object[]) => {
    return { service: path.slice(1), endpoints: [endpoint(0)], match: [{ paths: [path] }], rateLimit };
  };

  beforeAll(async () => {
    upstreams = await Promise.all(
      ['A', 'B', 'C'].map((name) => startHttpServer((_request, response) => response.end(name))),
    );
    for (const upstream of upstreams) owned.adopt(upstream, (server) => server.stop());
    [deadPort = 0] = await findFreePorts(1);
    weir = owned.adopt(
      await startWeir({ routes: { turns: turns(), partly: partly(), plain: limited('/plain', []) } }),
      (gateway) => gateway.close(),
    );
    files = new ConfigFiles(weir);
  });
  afterAll(() => owned.disposeAsync());

  /** Changes a route that has nothing to do with the others, and loads the files. */
  async function reloadAnother(): Promise<void> {
    others++;
    await files.route('other', { service: `other-${others}`, endpoints: [endpoint(0)] });
    expect(await files.reload()).toMatchObject({ result: 'applied', quarantined: [] });
  }

  /** Answers one after another, each on a connection of its own: so both workers have a part in them. */
  async function inRow(path: string, count: number): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let at = 0; at < count; at++) answers.push(await weir.get(path));
    return answers;
  }

  it('does not disturb the sequence of the round robin, not even when the route itself changes', async () => {
    const seen: string[] = [];
    for (let cycle = 0; cycle < 4; cycle++) {
      for (let part = 0; part < 7; part++) {
        seen.push(...(await inRow('/turns', 1)).map(({ body }) => body));
        if (part === 2) await reloadAnother();
        if (part === 4) {
          await files.route('turns', turns({ timeout: { response: `${10 + cycle}s` } }));
          expect(await files.reload()).toMatchObject({ changed: ['turns'] });
        }
      }
    }
    // Which of the two light ones is first depends on their ports.
    const [first = ''] = seen.join('').match(/^AABACAA|^AACABAA/) ?? [];
    expect(first).not.toBe('');
    expect(seen.join('')).toBe(first.repeat(4));
    // All of them stay counted, also those from before.
    const areCounted = async () => {
      const metrics = parsePrometheusText((await weir.admin('/metrics')).body);
      return sumOf(metrics, 'weir_requests_total', { route: 'turns' }) === seen.length;
    };
    await waitFor(areCounted, { limitMs: 5000, what: `${seen.length} requests to be counted` });
  });

  it('leaves an ejected endpoint ejected, for as long as before', async () => {
    // Each is answered by the good endpoint after all.
    expect((await inRow('/partly', 8)).map(({ status }) => status)).toEqual(Array(8).fill(200));
    const dead = async () => {
      const found = (await weir.service('partly')).endpoints.find(({ endpoint: at }) => at.endsWith(`:${deadPort}`));
      if (found?.until == null) throw new Error(`not ejected: ${JSON.stringify(found)}`);
      return { ...found, until: Date.parse(found.until) };
    };
    const before = await dead();
    expect(before).toMatchObject({ state: 'ejected', requests: CONSECUTIVE, ejections: 1 });
    const isAsBefore = async () => {
      const now = await dead();
      // The time is worked out from two clocks at each look: it wavers by a millisecond.
      expect(Math.abs(now.until - before.until)).toBeLessThan(100);
      expect(now).toEqual({ ...before, until: now.until });
    };
    await reloadAnother();
    await isAsBefore();
    const edits = [{ timeout: { response: '9s' } }, { ejection: { consecutiveFailures: 9, base: '200s' } }];
    for (const edit of edits) {
      await files.route('partly', partly(edit));
      expect(await files.reload()).toMatchObject({ changed: ['partly'] });
      await isAsBefore();
      await inRow('/partly', 8);
    }
    await isAsBefore();
    // Its counts go on as well.
    expect((await weir.service('partly')).endpoints.reduce((sum, { requests }) => sum + requests, 0)).toBe(
      24 + CONSECUTIVE,
    );
  });

  it('brings the first rate limit of all, which counts over both workers at once', async () => {
    await files.route(
      'late',
      limited('/late', [{ algorithm: 'token_bucket', key: 'client_ip', rate: '1/h', burst: 5 }]),
    );
    expect(await files.reload()).toMatchObject({ added: ['late'] });
    const statuses = (await inRow('/late', 12)).map(({ status }) => status);
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(7).fill(429)]);
  });

  it.each(['token_bucket', 'sliding_window'])('lets a %s of an untouched route count on', async (algorithm) => {
    const path = `/${algorithm}`;
    await files.route(algorithm, limited(path, [{ algorithm, key: 'client_ip', rate: '6/h' }]));
    await files.reload();
    const statuses: number[] = [];
    for (let at = 0; at < 4; at++) {
      statuses.push(...(await inRow(path, 2)).map(({ status }) => status));
      await reloadAnother();
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
  });

  it('puts a limit in force for a route that had none, and takes it away again', async () => {
    await files.route(
      'plain',
      limited('/plain', [{ algorithm: 'token_bucket', key: 'client_ip', rate: '1/h', burst: 1 }]),
    );
    await files.reload();
    expect((await inRow('/plain', 4)).map(({ status }) => status)).toEqual([200, 429, 429, 429]);
    await files.route('plain', limited('/plain', []));
    await files.reload();
    expect((await inRow('/plain', 4)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});
