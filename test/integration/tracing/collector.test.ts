// A collector of traces that is well, dead, slow, or gone when the gateway stops.
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../gateway/core/clock.ts';
import type { OtlpTracer } from '../../../gateway/tracing/otlp-tracer.ts';
import { findFreePorts } from '../../support/free-ports.ts';
import { ask, namedUpstream } from '../../support/named-upstream.ts';
import { type OtlpCollector, startCollector } from '../../support/otlp-collector.ts';
import { get } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import { tracedBy } from '../../support/traced.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

let owned = new AsyncDisposableStack();
afterEach(async () => {
  await owned.disposeAsync();
  owned = new AsyncDisposableStack();
});

async function collector(): Promise<OtlpCollector> {
  return owned.adopt(await startCollector(), (each) => each.stop());
}

describe('a collector', () => {
  /** Ends so many spans, two for each request. */
  function record(tracer: OtlpTracer, requests: number): void {
    const arrival = { traceparent: undefined, tracestate: undefined, isTrusted: false, peerAddress: '192.0.2.1' };
    const nothing = {
      user: null,
      route: null,
      service: null,
      branch: null,
      degraded: null,
      error: null,
      userAgent: null,
    };
    const place = { client: 'c', version: '1.1', scheme: 'http' as const };
    const ended = { ...place, requestId: 'r', host: 'h', path: '/', status: 200, bytes: 0 };
    for (let at = 0; at < requests; at++) {
      const trace = tracer.begin({ ...arrival, scheme: 'http', method: 'GET', startedMs: systemClock.nowMs() });
      trace.attempt({ key: 'a:1', host: 'a', port: 1, isTls: false, target: '/' }).end('success');
      trace.end({ ...ended, ...nothing, method: 'GET', attempts: [], durationMs: 1 });
    }
  }

  it('that is not there or never answers costs no request anything', async () => {
    const [closed = 0] = await findFreePorts(1);
    const silent = await collector();
    silent.answer = 'never';
    const upstream = await namedUpstream('a');
    for (const to of [{ url: `http://127.0.0.1:${closed}`, spans: [] }, silent]) {
      const gateway = await gatewayFor({ endpoints: [upstream.port], tracer: tracedBy(to).tracer });
      for (let at = 0; at < 100; at++) expect((await ask(gateway.port, get('/'))).status).toBe(200);
    }
    await waitFor(() => silent.exports.length > 0, { limitMs: 5000, what: 'an export to the silent collector' });
  });

  it('that takes no spans lets a bounded number of them wait, and the others are counted as dropped', async () => {
    const to = await collector();
    to.answer = 'never';
    const { tracer, fates } = tracedBy(to);
    record(tracer, 2000);
    expect(fates).toEqual({ exported: 0, failed: 0, dropped: 4000 - 2048 });
    to.answer = 200;
  });

  it('that fails is told once, and once that it is well again', async () => {
    const to = await collector();
    to.answer = 400;
    const { tracer, fates, log } = tracedBy(to);
    for (const failed of [2, 4]) {
      record(tracer, 1);
      await waitFor(() => fates.failed === failed, { limitMs: 10_000, what: `${failed} failed spans` });
    }
    expect(log).toEqual([['warn', 'spans cannot be exported']]);
    to.answer = 200;
    for (const exported of [2, 4]) {
      record(tracer, 1);
      await waitFor(() => fates.exported === exported, { limitMs: 10_000, what: `${exported} exported spans` });
    }
    expect(log.slice(1)).toEqual([['info', 'spans are exported again']]);
  });

  it('is given what waits when the gateway stops', async () => {
    const to = await collector();
    const { tracer, fates } = tracedBy(to);
    record(tracer, 500);
    await tracer.stop(10_000);
    expect([to.spans.length, fates.exported]).toEqual([1000, 1000]);
  });

  it('that never answers does not hold up the end', async () => {
    const to = await collector();
    to.answer = 'never';
    const { tracer, fates } = tracedBy(to);
    record(tracer, 500);
    await tracer.stop(50);
    // The exporter itself would wait for seconds, and count the spans as failed then.
    expect(fates).toEqual({ exported: 0, failed: 0, dropped: 0 });
  });

  it('gets about the share of requests that is recorded', async () => {
    const to = await collector();
    const { tracer } = tracedBy(to, { samplePercent: 10 });
    record(tracer, 5000);
    await tracer.stop(10_000);
    // Five standard deviations to either side of 500 requests.
    expect(to.spans.length / 2).toBeGreaterThan(390);
    expect(to.spans.length / 2).toBeLessThan(610);
  });
});
