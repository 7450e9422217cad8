// A tracer of a test that exports to a collector, with what it logged and counted.
import { systemClock } from '../../gateway/core/clock.ts';
import type { SpanFate } from '../../gateway/core/tracing.ts';
import { OtlpTracer, type OtlpTracerOptions } from '../../gateway/tracing/otlp-tracer.ts';
import type { CollectedSpan, OtlpCollector } from './otlp-collector.ts';
import type { RawUpstream } from './raw-upstream.ts';

export interface Traced {
  readonly tracer: OtlpTracer;
  /** Level and message. */
  readonly log: (readonly [string, string])[];
  readonly fates: Record<SpanFate, number>;
  /** Stops the tracer, and gives all spans that the collector has. */
  spans(): Promise<readonly CollectedSpan[]>;
}

/** A tracer that records everything unless told otherwise. */
export function tracedBy(to: Pick<OtlpCollector, 'url' | 'spans'>, options: Partial<OtlpTracerOptions> = {}): Traced {
  const log: (readonly [string, string])[] = [];
  const fates = { exported: 0, failed: 0, dropped: 0 };
  const write = (level: string) => (_fields: object, message: string) => void log.push([level, message]);
  const tracer = new OtlpTracer({
    url: `${to.url}/v1/traces`,
    headers: { 'x-token': 'abc' },
    samplePercent: 100,
    serviceName: 'edge',
    version: '1.2.3',
    worker: 1,
    clock: systemClock,
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    onSpans: (fate, count) => {
      fates[fate] += count;
    },
    ...options,
  });
  const spans = async () => {
    await tracer.stop(10_000);
    return to.spans;
  };
  return { tracer, log, fates, spans };
}

/** The trace contexts that services got, in order. */
export function contextsOf(...upstreams: readonly RawUpstream[]): string[] {
  return upstreams.flatMap((each) =>
    [...each.received().matchAll(/^traceparent: (.*)\r$/gm)].map(([, value = '']) => value),
  );
}

/** Those of one kind, by their beginning. */
export function only(spans: readonly CollectedSpan[], kind: CollectedSpan['kind']): CollectedSpan[] {
  return spans.filter((span) => span.kind === kind).sort((a, b) => (a.startNs < b.startNs ? -1 : 1));
}
