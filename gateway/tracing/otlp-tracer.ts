// The tracer: decides what is recorded, and exports it over OTLP by the OpenTelemetry SDK. Loaded only when configured.
import { hostname } from 'node:os';
import { createTraceState, ROOT_CONTEXT, type Tracer as SpanMaker, trace } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { RequestTrace, SpanFate, TraceArrival, Tracer } from '../core/tracing.ts';
import { SampledTrace } from './sampled-trace.ts';
import { createSpanProcessor } from './span-export.ts';
import { keptTracestate, parseTraceparent, RANDOM, SAMPLED, type TraceParent } from './trace-context.ts';
import { TraceIds } from './trace-ids.ts';
import { UnsampledTrace } from './unsampled-trace.ts';

export interface OtlpTracerOptions {
  /** Where the collector takes traces, and the fields that it is sent besides. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the requests for which no trusted peer has decided. */
  readonly samplePercent: number;
  readonly serviceName: string;
  /** Weir's. */
  readonly version: string;
  readonly worker: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Told what became of spans. */
  readonly onSpans: (fate: SpanFate, count: number) => void;
}

/** The span of a peer that is called from afar. */
const isRemote = true;

export class OtlpTracer implements Tracer {
  readonly #clock: Clock;
  readonly #share: number;
  readonly #ids = new TraceIds();
  readonly #provider: TracerProvider;
  readonly #spans: SpanMaker;

  constructor(options: OtlpTracerOptions) {
    const { clock, samplePercent, serviceName, version, worker } = options;
    this.#clock = clock;
    this.#share = samplePercent / 100;
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': serviceName,
        'service.version': version,
        'host.name': hostname(),
        'process.pid': process.pid,
        'weir.worker': worker,
      }),
      // What is not recorded does not get as far as the SDK.
      sampler: new AlwaysOnSampler(),
      idGenerator: { generateTraceId: () => this.#ids.traceId(), generateSpanId: () => this.#ids.spanId() },
      spanProcessors: [createSpanProcessor({ ...options, userAgent: `weir/${version}` })],
    });
    this.#spans = this.#provider.getTracer('weir', version);
  }

  /**
   * Goes on with the trace of the request, or begins one. A trusted peer has decided whether it is recorded; anybody else
   * could have all of it recorded, so the share decides, whatever they say.
   */
  begin(arrival: TraceArrival): RequestTrace {
    const { traceparent, tracestate, isTrusted } = arrival;
    const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
    const state = parent === undefined || tracestate === undefined ? '' : keptTracestate(tracestate);
    const stateLine = state === '' ? '' : `tracestate: ${state}\r\n`;
    const flags = (parent?.flags ?? 0) & RANDOM;
    const isDecided = parent !== undefined && isTrusted;
    const isSampled = isDecided ? (parent.flags & SAMPLED) !== 0 : this.#clock.random() < this.#share;
    if (isSampled) {
      const context = parent === undefined ? ROOT_CONTEXT : callerContext(parent, state);
      return new SampledTrace({ arrival, context, flags, stateLine, spans: this.#spans, clock: this.#clock });
    }
    const traceId = parent?.traceId ?? this.#ids.traceId();
    return new UnsampledTrace({ traceId, spanId: this.#ids.spanId() }, flags, stateLine);
  }

  /** Exports what has ended; resolves at the latest after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    // What went wrong was told by the export itself.
    const stopped = this.#provider.shutdown().catch(() => undefined);
    await Promise.race([stopped, limit]);
    clearTimeout(timer);
  }
}

function callerContext({ traceId, parentId, flags }: TraceParent, state: string) {
  const traceState = state === '' ? undefined : createTraceState(state);
  const caller = { traceId, spanId: parentId, traceFlags: flags, isRemote, ...(traceState && { traceState }) };
  return trace.setSpanContext(ROOT_CONTEXT, caller);
}
