// A trace that is recorded: a span for the request, and below it one for each sending of it.
import { type Context, ROOT_CONTEXT, type Span, SpanKind, type Tracer as SpanMaker, trace } from '@opentelemetry/api';
import type { AccessRecord } from '../core/access-record.ts';
import type { Clock } from '../core/clock.ts';
import type { Outcome } from '../core/failure.ts';
import type { AttemptTarget, AttemptTrace, RequestTrace, TraceArrival } from '../core/tracing.ts';
import { attemptAttributes, attemptSpanEnd, requestSpanEnd, requestSpanName } from './span-attributes.ts';
import { SAMPLED, traceparentLine } from './trace-context.ts';

export interface SampledTraceParts {
  readonly arrival: TraceArrival;
  /** Holds the span of the caller, if there is one. */
  readonly context: Context;
  /** The other flags of the trace. */
  readonly flags: number;
  readonly stateLine: string;
  readonly spans: SpanMaker;
  readonly clock: Clock;
}

export class SampledTrace implements RequestTrace {
  readonly #parts: SampledTraceParts;
  /** From the monotonic clock to the time of day: one for all spans of the request, so that they fit one another. */
  readonly #offsetMs: number;
  readonly #span: Span;
  readonly #own: Context;
  #sendings = 0;

  constructor(parts: SampledTraceParts) {
    this.#parts = parts;
    const { arrival, clock, context, spans } = parts;
    this.#offsetMs = clock.wallMs() - clock.nowMs();
    const name = requestSpanName(arrival.method, null);
    const startTime = arrival.startedMs + this.#offsetMs;
    this.#span = spans.startSpan(name, { kind: SpanKind.SERVER, startTime }, context);
    this.#own = trace.setSpan(ROOT_CONTEXT, this.#span);
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  attempt(to: AttemptTarget): AttemptTrace {
    const { arrival, clock, flags, stateLine, spans } = this.#parts;
    const { method } = arrival;
    const attributes = attemptAttributes(method, to, this.#sendings++);
    const startTime = clock.nowMs() + this.#offsetMs;
    const name = requestSpanName(method, null);
    const span = spans.startSpan(name, { kind: SpanKind.CLIENT, startTime, attributes }, this.#own);
    const { traceId, spanId } = span.spanContext();
    const parentLine = traceparentLine(traceId, spanId, flags | SAMPLED);
    return new SampledAttempt(span, { parentLine, stateLine }, () => clock.nowMs() + this.#offsetMs);
  }

  end(record: AccessRecord): void {
    const { arrival } = this.#parts;
    const { attributes, status } = requestSpanEnd(arrival, record);
    this.#span.updateName(requestSpanName(record.method, record.route)).setAttributes(attributes).setStatus(status);
    this.#span.end(arrival.startedMs + record.durationMs + this.#offsetMs);
  }
}

class SampledAttempt implements AttemptTrace {
  readonly parentLine: string;
  readonly stateLine: string;
  readonly #span: Span;
  readonly #now: () => number;
  #status = 0;

  constructor(span: Span, lines: { readonly parentLine: string; readonly stateLine: string }, now: () => number) {
    this.#span = span;
    this.parentLine = lines.parentLine;
    this.stateLine = lines.stateLine;
    this.#now = now;
  }

  answered(status: number): void {
    this.#status = status;
  }

  end(outcome: Outcome): void {
    const { attributes, status } = attemptSpanEnd(this.#status, outcome);
    this.#span.setAttributes(attributes).setStatus(status).end(this.#now());
  }
}
