// What tracing costs a request, with one attempt: recorded or not, without the export, which happens in batches.
import type { AccessRecord } from '../../gateway/core/access-record.ts';
import { systemClock } from '../../gateway/core/clock.ts';
import type { Log } from '../../gateway/core/log.ts';
import { OtlpTracer } from '../../gateway/tracing/otlp-tracer.ts';
import { cpuMs, keep, type Row } from './row.ts';

const UNRECORDED = 500_000;
/** Their spans find no room after the first 2048, so no export is measured. */
const RECORDED = 50_000;

const CONTEXT = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00', tracestate: 'a=1,b=2' };
const NO_CONTEXT = { traceparent: undefined, tracestate: undefined };
const SILENT: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const RECORD: AccessRecord = {
  requestId: '0a6f1f8e-5d7c-4d0c-9d3c-2b1f0e9d8c7b',
  client: '192.0.2.7',
  user: null,
  method: 'GET',
  version: '1.1',
  scheme: 'https',
  host: 'shop.example.com',
  path: '/orders/2024-11-29/items',
  status: 200,
  bytes: 512,
  durationMs: 1.5,
  route: 'orders',
  service: 'order-service',
  branch: null,
  attempts: [{ endpoint: '10.0.0.5:8080', outcome: 'success', ms: 1.2 }],
  degraded: null,
  error: null,
  userAgent: 'curl/8.5',
};

export const TRACING_ROWS: readonly Row[] = [
  { what: 'a request that is not recorded', unit: 'ns', measure: requests(UNRECORDED, 0, NO_CONTEXT) },
  { what: 'the same, with a context of the client', unit: 'ns', measure: requests(UNRECORDED, 0, CONTEXT) },
  { what: 'a request that is recorded, two spans', unit: 'ns', measure: requests(RECORDED, 100, NO_CONTEXT) },
];

function requests(count: number, samplePercent: number, context: typeof CONTEXT | typeof NO_CONTEXT): () => number {
  return () => {
    const tracer = new OtlpTracer({
      url: 'http://127.0.0.1:1/v1/traces',
      headers: {},
      samplePercent,
      serviceName: 'weir',
      version: '0',
      worker: 1,
      clock: systemClock,
      log: SILENT,
      onSpans: ignore,
    });
    let sum = 0;
    const startMs = cpuMs();
    for (let at = 0; at < count; at++) {
      const trace = tracer.begin({
        ...context,
        isTrusted: false,
        peerAddress: '192.0.2.7',
        scheme: 'http',
        method: 'GET',
        startedMs: systemClock.nowMs(),
      });
      const attempt = trace.attempt({ key: '10.0.0.5:8080', host: '10.0.0.5', port: 8080, isTls: false, target: '/' });
      sum += (attempt.parentLine + attempt.stateLine).length;
      attempt.answered(200);
      attempt.end('success');
      trace.end(RECORD);
    }
    const tookMs = cpuMs() - startMs;
    keep(sum);
    return (tookMs / count) * 1e6;
  };
}

function ignore(): void {
  // Only the requests are measured.
}
