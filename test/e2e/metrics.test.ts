// What the gateway tells of itself: metrics and access log, over both workers together.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from '../support/load.ts';
import { type MetricFamily, parsePrometheusText, sumOf } from '../support/prometheus-text.ts';
import { type SampleInstance, startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

describe('what the gateway tells of itself', () => {
  const owned = new AsyncDisposableStack();
  let weir: WeirProcess;
  let instances: SampleInstance[];

  beforeAll(async () => {
    instances = await startInstances('one', 'two');
    for (const instance of instances) owned.adopt(instance, () => instance.kill());
    weir = owned.adopt(
      await startWeir({
        routes: {
          items: {
            service: 'web',
            endpoints: instances.map(({ port }) => `127.0.0.1:${port}`),
            match: [{ paths: ['/items/*'] }],
          },
        },
      }),
      (gateway) => gateway.close(),
    );
  });
  afterAll(() => owned.disposeAsync());

  async function metrics(): Promise<ReadonlyMap<string, MetricFamily>> {
    const { status, headers, body } = await weir.admin('/metrics');
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    return parsePrometheusText(body);
  }

  it('are metrics that add up to the requests that both workers answered', async () => {
    const before = await metrics();
    expect(sumOf(before, 'weir_requests_total')).toBe(0);
    const gets = startLoad({ url: `${weir.url}/items/1`, fresh: 4, kept: 4, limit: 600 });
    const posts = startLoad({ url: `${weir.url}/items/2`, fresh: 2, limit: 100, method: 'POST' });
    await Promise.all([gets.finished, posts.finished]);
    expect([...gets.failed, ...posts.failed]).toEqual([]);

    const after = await waitFor(
      async () => {
        const found = await metrics();
        return sumOf(found, 'weir_requests_total') === 700 && sumOf(found, 'weir_requests_in_flight') === 0 && found;
      },
      { limitMs: 5000, what: 'the last request to be counted' },
    );
    expect(sumOf(after, 'weir_requests_total', { route: 'items', method: 'GET', status: '2xx' })).toBe(600);
    expect(sumOf(after, 'weir_requests_total', { route: 'items', method: 'POST', status: '2xx' })).toBe(100);
    expect(sumOf(after, 'weir_request_duration_seconds_count', { route: 'items' })).toBe(700);
    expect(sumOf(after, 'weir_upstream_duration_seconds_count', { service: 'web' })).toBe(700);
    for (const { port } of instances) {
      const labels = { service: 'web', endpoint: `127.0.0.1:${port}`, outcome: 'success' };
      expect(sumOf(after, 'weir_upstream_attempts_total', labels)).toBe(350);
    }
    expect(sumOf(after, 'weir_upstream_attempts_total')).toBe(700);
    expect(sumOf(after, 'weir_endpoints', { service: 'web', state: 'active' })).toBe(2);
    expect(sumOf(after, 'weir_leader_term')).toBeGreaterThan(0);
    const { workers } = (await weir.upstreams()).gateway;
    expect(workers.map(({ id }) => id)).toEqual([1, 2]);
  });

  it('are histograms whose buckets grow up to their count', async () => {
    const histograms = [...(await metrics())].filter(
      ([name, { type }]) => type === 'histogram' && name.startsWith('weir_'),
    );
    expect(histograms.length).toBeGreaterThan(1);
    for (const [name, { samples }] of histograms) {
      const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
      expect(buckets.map(({ value }) => value)).toEqual(buckets.map(({ value }) => value).toSorted((a, b) => a - b));
      expect(buckets.at(-1)?.labels.le).toBe('+Inf');
      expect(buckets.at(-1)?.value).toBe(samples.find((sample) => sample.name === `${name}_count`)?.value);
    }
  });

  it('is exactly one line of JSON for each request', async () => {
    const marks = Array.from({ length: 60 }, (_, at) => `mark-${at}`);
    const answers = await Promise.all(
      marks.map((mark) => {
        const headers = { Host: 'Shop.Example:8080', 'User-Agent': mark, 'X-Request-Id': 'not believed' };
        return weir.get(`/items/secret-free?token=${mark}`, { headers });
      }),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const lines = () => weir.accessLog().filter(({ userAgent }) => userAgent?.startsWith('mark-'));
    await waitFor(() => lines().length >= marks.length, { limitMs: 5000, what: 'a line for each request' });
    expect(
      lines()
        .map(({ userAgent }) => userAgent)
        .toSorted(),
    ).toEqual(marks.toSorted());
    expect(new Set(lines().map(({ worker }) => worker))).toEqual(new Set([1, 2]));
    for (const line of lines()) {
      const answer = answers[marks.indexOf(line.userAgent ?? '')];
      expect(Math.abs(Date.parse(line.time) - Date.now())).toBeLessThan(20_000);
      expect(line).toMatchObject({
        client: '127.0.0.1',
        method: 'GET',
        host: 'Shop.Example:8080',
        path: '/items/secret-free',
        status: 200,
        bytes: answer?.body.length,
        durationMs: expect.any(Number),
        route: 'items',
        service: 'web',
        attempts: [
          { endpoint: expect.stringMatching(/^127\.0\.0\.1:\d+$/), outcome: 'success', ms: expect.any(Number) },
        ],
        degraded: null,
        error: null,
      });
      // The id that the instance saw.
      expect(JSON.parse(answer?.body ?? '').headers['x-request-id']).toBe(line.requestId);
      expect(JSON.stringify(line)).not.toContain('token');
    }
  });
});
