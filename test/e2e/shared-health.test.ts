// What one worker learns of endpoints and services, all workers act on: ejection, load, breaker, kept answers.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EndpointView } from '../../gateway/pool/view.ts';
import { parsePrometheusText, sumOf } from '../support/prometheus-text.ts';
import { ScriptedInstance } from '../support/scripted-instance.ts';
import type { Answer } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';
import { clientsByWorker, type WorkerClient } from '../support/worker-clients.ts';

const WORKERS = 4;
const NAMES = ['bad', 'good', 'one', 'two', 'x', 'y', 'lone', 'page', 'stable', 'canary'] as const;
const LIMIT = { limitMs: 10_000 };

describe('what one of several workers learns', () => {
  const owned = new AsyncDisposableStack();
  const instances = new Map<string, ScriptedInstance>();
  let weir: WeirProcess;
  let clients: WorkerClient[];

  const instance = (name: (typeof NAMES)[number]): ScriptedInstance => {
    const found = instances.get(name);
    if (found === undefined) throw new Error(`no instance ${name}`);
    return found;
  };

  beforeAll(async () => {
    for (const name of NAMES) {
      instances.set(
        name,
        owned.adopt(await ScriptedInstance.start(name), (each) => each.stop()),
      );
    }
    const folder = owned.adopt(await mkdtemp(join(tmpdir(), 'weir-sorry-')), (path) => rm(path, { recursive: true }));
    const file = join(folder, 'sorry.html');
    await writeFile(file, '<h1>Sorry</h1>');
    const at = (...names: (typeof NAMES)[number][]) => names.map((name) => instance(name).address);
    const route = (service: string, rest: object) => ({ service, match: [{ paths: [`/${service}`] }], ...rest });
    const noEjection = { consecutiveFailures: 1_000_000, failurePercent: 'off' };
    weir = owned.adopt(
      await startWeir({
        gateway: { workers: WORKERS },
        routes: {
          any: { service: 'any', endpoints: at('good'), match: [{ paths: ['/*'] }] },
          health: route('health', {
            endpoints: [...at('bad', 'good'), { address: instance('one').address, weight: 0 }],
            ejection: { consecutiveFailures: 5, base: '60s' },
            retry: { attempts: 1 },
          }),
          load: route('load', {
            endpoints: at('one', 'two').map((address, nth) => ({ address, weight: nth === 0 ? 3 : 1 })),
            balance: { policy: 'least_request' },
          }),
          panic: route('panic', {
            endpoints: at('x', 'y'),
            ejection: { consecutiveFailures: 2, maxPercent: 100, base: '2s' },
            fallback: { chain: [{ respond: { status: 503, contentType: 'text/html', file } }] },
          }),
          broken: route('broken', {
            endpoints: at('lone'),
            ejection: noEjection,
            breaker: { minRequests: 4, open: '2s', probes: 2 },
          }),
          kept: route('kept', {
            endpoints: at('page'),
            ejection: noEjection,
            fallback: { on: ['status-5xx'], chain: [{ stale: { maxAge: '10m' } }] },
          }),
          split: route('split', {
            endpoints: [
              { address: instance('stable').address, tags: ['stable'] },
              { address: instance('canary').address, tags: ['canary'], weight: 0 },
            ],
            split: [
              { weight: 1, tags: ['stable'] },
              { weight: 0, tags: ['canary'], when: { header: 'x-canary' } },
            ],
          }),
        },
      }),
      (gateway) => gateway.close(),
    );
    clients = await clientsByWorker(weir, WORKERS);
    for (const client of clients) owned.defer(() => client.close());
  });
  afterAll(() => owned.disposeAsync());

  const metric = async (name: string, labels: Readonly<Record<string, string>>) =>
    sumOf(parsePrometheusText((await weir.admin('/metrics')).body), name, labels);

  /** The answers that the clients get in turn, each from its own worker. */
  async function inTurn(path: string, count: number): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let at = 0; at < count; at++) {
      const client = clients[at % clients.length];
      if (client !== undefined) answers.push(await client.get(path));
    }
    return answers;
  }

  it('is that an endpoint fails: five failures eject it, wherever they were seen', async () => {
    instance('bad').status = 500;
    const statuses = (await inTurn('/health', 30)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 500)).toHaveLength(5);
    expect(instance('bad').requests).toBe(5);
    const lines = await waitFor(
      () => {
        const found = weir.accessLog().filter(({ path, status }) => path === '/health' && status === 500);
        return found.length === 5 && found;
      },
      { ...LIMIT, what: 'the access log' },
    );
    expect(new Set(lines.map(({ worker }) => worker)).size).toBeGreaterThan(1);
    for (const { attempts, error } of lines) expect([attempts[0]?.outcome, error]).toEqual(['status', null]);
    expect(await metric('weir_ejections_total', { service: 'health', reason: 'consecutive_failures' })).toBe(1);
    expect(await metric('weir_endpoints', { service: 'health', state: 'ejected' })).toBe(1);
  });

  it('is shown the same however often it is asked for (case 141)', async () => {
    const pages: (readonly EndpointView[])[] = [];
    for (let at = 0; at < 50; at++) pages.push((await weir.service('health')).endpoints);
    const still = pages.map((page) => page.map(({ until: _, ...rest }) => rest));
    for (const page of still) expect(page).toEqual(still[0]);
    // The time of day of a moment is known to a millisecond or two.
    const untils = pages.flatMap((page) => page.flatMap(({ until }) => (until === null ? [] : Date.parse(until))));
    expect(untils).toHaveLength(pages.length);
    expect(Math.max(...untils) - Math.min(...untils)).toBeLessThan(20);
    const byAddress = new Map(pages[0]?.map((each) => [each.endpoint, each]));
    expect(byAddress.get(instance('bad').address)).toMatchObject({
      weight: 1,
      effectiveWeight: 0,
      state: 'ejected',
      why: 'ejected: 5 failures in a row, the last: an answer with a failure status',
      until: expect.stringMatching(/^\d{4}-.*Z$/),
      requests: 5,
      failures: 5,
      ejections: 1,
      inFlight: 0,
    });
    expect(byAddress.get(instance('good').address)).toMatchObject({
      weight: 1,
      effectiveWeight: 1,
      state: 'active',
      why: null,
    });
    expect(byAddress.get(instance('one').address)).toMatchObject({
      weight: 0,
      effectiveWeight: 0,
      why: 'its weight is 0',
    });
    expect(await weir.service('health')).toMatchObject({
      source: 'static',
      state: 'healthy',
      index: null,
      policy: 'weighted_round_robin',
    });
  });

  it('is how much the endpoints have to do: least request counts for all', async () => {
    const [one, two] = [instance('one'), instance('two')];
    one.isHolding = two.isHolding = true;
    const before = one.requests + two.requests;
    const answers: Promise<Answer>[] = [];
    for (let at = 0; at < 40; at++) {
      // Each on a connection of its own, so that chance spreads them over the workers.
      answers.push(weir.get('/load'));
      await waitFor(() => one.requests + two.requests === before + at + 1, { ...LIMIT, what: `request ${at}` });
    }
    expect([one.held, two.held]).toEqual([30, 10]);
    one.release();
    two.release();
    expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true);
  });

  it('is that a whole pool is out: all workers answer alike, and alike when it is back (case 111)', async () => {
    const [x, y] = [instance('x'), instance('y')];
    x.status = y.status = 500;
    await waitFor(
      async () => {
        await inTurn('/panic', WORKERS);
        return (await weir.service('panic')).endpoints.every(({ state }) => state === 'ejected');
      },
      { ...LIMIT, what: 'both to be ejected' },
    );
    x.status = y.status = 200;
    const ejected = (await weir.service('panic')).endpoints.map(({ until }) => Date.parse(until ?? ''));
    const answers = await inTurn('/panic', WORKERS);
    // Where this took longer than the ejections, there is nothing to see any more.
    if (Date.now() < Math.min(...ejected)) {
      for (const { status, body, headers } of answers) {
        expect([status, body, headers['content-type']]).toEqual([503, '<h1>Sorry</h1>', 'text/html']);
        expect(headers['x-degraded']).toMatch(/^unreachable; source=respond; since=/);
      }
      expect(await metric('weir_degraded', { service: 'panic' })).toBe(1);
      expect(await metric('weir_degraded_responses_total', { route: 'panic', source: 'respond' })).toBeGreaterThan(3);
      expect((await weir.service('panic')).degradedReason).toBe('unreachable');
    }
    const isBack = async () => (await inTurn('/panic', WORKERS)).every(({ status }) => status === 200);
    await waitFor(isBack, { ...LIMIT, what: 'all workers to answer from the pool' });
    const areBack = async () => {
      await inTurn('/panic', 1);
      return (await weir.service('panic')).endpoints.every(({ state }) => state === 'active');
    };
    await waitFor(areBack, { ...LIMIT, what: 'both to be back' });
  });

  it('is that a breaker is open, and that it is closed again', async () => {
    const lone = instance('lone');
    lone.status = 500;
    const statuses = (await inTurn('/broken', 2 * WORKERS)).map(({ status }) => status);
    expect(statuses).toEqual([500, 500, 500, 500, 503, 503, 503, 503]);
    expect(await metric('weir_breaker_opened_total', { service: 'broken' })).toBe(1);
    lone.status = 200;
    await weir.serviceWith('broken', 'a breaker that is half open', ({ breaker }) => breaker === 'half_open');
    expect(await metric('weir_breaker_state', { service: 'broken' })).toBe(2);
    const isClosed = async () => {
      await inTurn('/broken', 2);
      return (await weir.service('broken')).breaker === 'closed';
    };
    await waitFor(isClosed, { ...LIMIT, what: 'a closed breaker' });
    expect(await metric('weir_breaker_state', { service: 'broken' })).toBe(0);
    expect((await inTurn('/broken', WORKERS)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await weir.logged('breaker opened');
    await weir.logged('breaker closed');
  });

  it('is a good answer: another worker gives it again', async () => {
    const [first, ...others] = clients;
    const page = instance('page');
    expect(await first?.get('/kept')).toMatchObject({ status: 200, body: 'page' });
    page.status = 500;
    for (const client of others) {
      const stale = await waitFor(
        async () => {
          const answer = await client.get('/kept');
          return answer.status === 200 && answer;
        },
        { ...LIMIT, what: `the kept answer from worker ${client.worker}` },
      );
      expect(stale.body).toBe('page');
      expect(stale.headers['x-degraded']).toMatch(/^status-5xx; source=stale; since=/);
      expect(Number(stale.headers.age)).toBeGreaterThanOrEqual(0);
      expect(stale.headers['x-instance']).toBe('page');
    }
    const line = await waitFor(() => weir.accessLog().find(({ degraded }) => degraded === 'status-5xx; source=stale'), {
      ...LIMIT,
      what: 'the access log',
    });
    expect(line).toMatchObject({ status: 200, bytes: 4, attempts: [{ outcome: 'status' }] });
    const labels = { route: 'kept', source: 'stale', reason: 'status-5xx' };
    expect(await metric('weir_degraded_responses_total', labels)).toBeGreaterThanOrEqual(others.length);
  });

  it('is which branch served, in the access log, and why a retry was denied, in the counts', async () => {
    const headers = { 'X-Canary': '1', 'User-Agent': 'the canary' };
    for (const client of clients) expect((await client.get('/split', { headers })).body).toBe('stable');
    const lines = await waitFor(
      () => {
        const found = weir.accessLog().filter(({ userAgent }) => userAgent === 'the canary');
        return found.length === WORKERS && found;
      },
      { ...LIMIT, what: 'the access log' },
    );
    for (const { branch } of lines) expect(branch).toBe('stable instead of canary');
    instance('stable').status = 503;
    for (const client of clients) expect((await client.get('/split', { method: 'POST' })).status).toBe(503);
    expect(await metric('weir_retries_denied_total', { service: 'split', reason: 'method' })).toBe(WORKERS);
    expect(await metric('weir_retries_total', { service: 'split' })).toBe(0);
  });
});

describe('eight workers that have just started', () => {
  it('do not all begin with the same endpoint (case 102)', async () => {
    await using stack = new AsyncDisposableStack();
    const eight = await Promise.all(Array.from({ length: 8 }, (_, at) => ScriptedInstance.start(`i${at}`)));
    for (const each of eight) stack.defer(() => each.stop());
    const endpoints = eight.map(({ address }) => address);
    const weir = stack.adopt(
      await startWeir({
        gateway: { workers: 8 },
        routes: { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }] } },
      }),
      (gateway) => gateway.close(),
    );
    const answers = await Promise.all(Array.from({ length: 8 }, () => weir.get('/')));
    expect(answers.map(({ body }) => body).toSorted()).toEqual(eight.map(({ name }) => name));
  });
});
