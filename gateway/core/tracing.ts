// What the data plane asks of a tracer, in plain types: it need not know who keeps the spans, or whether anybody does.
import type { AccessRecord } from './access-record.ts';
import type { Outcome } from './failure.ts';

/** What is known of a request when its head was read. */
export interface TraceArrival {
  /** The values of its traceparent and tracestate fields, several of a name joined by a comma. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** Whether the peer is believed when it says that the trace is recorded. */
  readonly isTrusted: boolean;
  readonly peerAddress: string;
  readonly scheme: 'http' | 'https';
  readonly method: string;
  /** On the monotonic clock. */
  readonly startedMs: number;
}

/** Where an attempt goes. */
export interface AttemptTarget {
  /** The authority of the endpoint: `10.0.0.5:8080`. */
  readonly key: string;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** The request target as it goes upstream. */
  readonly target: string;
}

/** Gives every request its place in a trace (W3C Trace Context). */
export interface Tracer {
  begin(arrival: TraceArrival): RequestTrace;
}

/** The trace of one request, recorded or not. */
export interface RequestTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The request is about to be sent. */
  attempt(to: AttemptTarget): AttemptTrace;
  /** The request has ended; called once, after the end of its attempts. */
  end(record: AccessRecord): void;
}

/** One sending of the request in its trace. */
export interface AttemptTrace {
  /** The traceparent field line that goes upstream, with its CRLF. */
  readonly parentLine: string;
  /** The tracestate field line that goes upstream, with its CRLF; '' where there is none. */
  readonly stateLine: string;
  /** The endpoint answered with this status. */
  answered(status: number): void;
  /** Called once. */
  end(outcome: Outcome): void;
}

/** What became of spans: the collector has them; it could not be given them; there was no room for them. */
export const SPAN_FATES = ['exported', 'failed', 'dropped'] as const;
export type SpanFate = (typeof SPAN_FATES)[number];
