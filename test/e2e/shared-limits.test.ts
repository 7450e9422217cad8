// Limits over all workers together: as many requests as the file says, whichever workers they came to.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePrometheusText, sumOf } from '../support/prometheus-text.ts';
import { ScriptedInstance } from '../support/scripted-instance.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';
import { clientsByWorker } from '../support/worker-clients.ts';

const RATE = 100;
const BURST = 100;
const LOAD_MS = 3000;

describe.each([2, 4])('over %s workers', (workers) => {
  const owned = new AsyncDisposableStack();
  let instance: ScriptedInstance;
  let weir: WeirProcess;

  beforeAll(async () => {
    instance = owned.adopt(await ScriptedInstance.start('one'), (each) => each.stop());
    const endpoints = [instance.address];
    weir = owned.adopt(
      await startWeir({
        gateway: { workers },
        routes: {
          rated: {
            service: 'rated',
            endpoints,
            match: [{ paths: ['/rated'] }],
            rateLimit: [{ rate: `${RATE}/s`, burst: BURST, key: 'route' }],
          },
          narrow: {
            service: 'narrow',
            endpoints,
            match: [{ paths: ['/narrow'] }],
            concurrency: { max: 5, queue: 10, queueTimeout: '30s' },
          },
        },
      }),
      (gateway) => gateway.close(),
    );
  });
  afterAll(() => owned.disposeAsync());

  const metrics = async () => parsePrometheusText((await weir.admin('/metrics')).body);

  it('a rate limit admits its rate, to the request', async () => {
    const asked: Asked[] = [];
    const untilMs = performance.now() + LOAD_MS;
    const client = async () => {
      while (performance.now() < untilMs) {
        const sentMs = performance.now();
        const { status } = await send(`${weir.url}/rated`);
        asked.push({ sentMs, answeredMs: performance.now(), status });
        // Enough to want more than the rate, and little enough to leave the gateway a processor.
        await delay(10);
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));

    const admitted = asked.filter(({ status }) => status === 200);
    const refused = asked.filter(({ status }) => status === 429);
    expect(admitted.length + refused.length).toBe(asked.length);
    const firstSentMs = Math.min(...admitted.map(({ sentMs }) => sentMs));
    const lastAnsweredMs = Math.max(...admitted.map(({ answeredMs }) => answeredMs));
    expect(admitted.length).toBeLessThanOrEqual(BURST + (RATE * (lastAnsweredMs - firstSentMs)) / 1000 + 1);
    // Whoever is refused finds nothing left: between two refusals precisely what the rate gives was admitted.
    const first = refused.reduce((one, other) => (other.sentMs < one.sentMs ? other : one));
    const last = refused.reduce((one, other) => (other.sentMs > one.sentMs ? other : one));
    const between = admitted.filter((each) => each.answeredMs >= first.sentMs && each.sentMs <= last.answeredMs);
    const surely = admitted.filter((each) => each.sentMs >= first.answeredMs && each.answeredMs <= last.sentMs);
    expect(between.length).toBeGreaterThanOrEqual((0.98 * RATE * (last.sentMs - first.answeredMs)) / 1000 - 1);
    expect(surely.length).toBeLessThanOrEqual((1.02 * RATE * (last.answeredMs - first.sentMs)) / 1000 + 1);
    expect(surely.length).toBeGreaterThan(RATE / 2);

    expect(sumOf(await metrics(), 'weir_rate_limited_total', { route: 'rated' })).toBe(refused.length);
    expect(sumOf(await metrics(), 'weir_requests_total', { route: 'rated', status: '4xx' })).toBe(refused.length);
    const lines = await waitFor(
      () => {
        const found = weir.accessLog().filter(({ route }) => route === 'rated');
        return found.length === asked.length && found;
      },
      { limitMs: 10_000, what: 'the access log' },
    );
    const busy = new Set(lines.filter(({ status }) => status === 200).map(({ worker }) => worker));
    expect(busy.size).toBe(workers);
    expect(lines.filter(({ error }) => error === 'rate_limited')).toHaveLength(refused.length);
  });

  it('a concurrency limit gives its places and its queue to the request, and has them back', async () => {
    instance.isHolding = true;
    const answers = Array.from({ length: 30 }, () => send(`${weir.url}/narrow`));
    const refused = Promise.all(answers).then((all) => all.filter(({ status }) => status === 503));
    const state = async (name: string) => sumOf(await metrics(), 'weir_concurrency', { route: 'narrow', state: name });
    const isFull = async () => {
      const lines = weir.accessLog().filter(({ route }) => route === 'narrow');
      return lines.length === 15 && (await state('running')) === 5 && (await state('waiting')) === 10;
    };
    await waitFor(isFull, { limitMs: 15_000, what: 'five that run, ten that wait, and fifteen that are refused' });
    await instance.untilHeld(5);
    instance.mostAtOnce = 5;
    instance.release();
    expect(await refused).toHaveLength(15);
    expect((await Promise.all(answers)).filter(({ status }) => status === 200)).toHaveLength(15);
    expect(instance.mostAtOnce).toBe(5);
    await waitFor(async () => (await state('running')) + (await state('waiting')) === 0, {
      limitMs: 5000,
      what: 'all places to be free',
    });
    for (const { error, status } of weir.accessLog().filter(({ route }) => route === 'narrow')) {
      expect(error).toBe(status === 503 ? 'concurrency_limit' : null);
    }
  });

  it('the places of a worker that dies are free again', async () => {
    const clients = await clientsByWorker(weir, workers);
    instance.isHolding = true;
    const [victim, survivor] = clients;
    if (victim === undefined || survivor === undefined) throw new Error('no clients');
    const lost = victim.get('/narrow').catch((error: Error) => error);
    await instance.untilHeld(1);
    await weir.killWorker(victim.worker);
    expect(await lost).toBeInstanceOf(Error);
    instance.release();
    instance.isHolding = true;
    const running = async () => sumOf(await metrics(), 'weir_concurrency', { route: 'narrow', state: 'running' });
    await waitFor(async () => (await running()) === 0, { limitMs: 10_000, what: 'the place to be free' });
    const answers = Array.from({ length: 5 }, () => send(`${weir.url}/narrow`));
    await instance.untilHeld(5);
    expect(await running()).toBe(5);
    instance.release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    for (const client of clients) client.close();
  });
});

interface Asked {
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly status: number;
}
