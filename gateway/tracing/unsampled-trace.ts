// A trace of which nothing is recorded: it only has a valid context to pass on, so that all services agree on it.
import type { AttemptTrace, RequestTrace } from '../core/tracing.ts';
import { traceparentLine } from './trace-context.ts';

/** The request and all of its attempts in one: no span is there to tell them apart. */
export class UnsampledTrace implements RequestTrace, AttemptTrace {
  readonly traceId: string;
  readonly parentLine: string;
  readonly stateLine: string;

  /** `flags` are those of the trace without SAMPLED. */
  constructor(ids: { readonly traceId: string; readonly spanId: string }, flags: number, stateLine: string) {
    this.traceId = ids.traceId;
    this.parentLine = traceparentLine(ids.traceId, ids.spanId, flags);
    this.stateLine = stateLine;
  }

  attempt(): AttemptTrace {
    return this;
  }

  answered(): void {
    // Nothing is recorded.
  }

  end(): void {
    // Nothing is recorded.
  }
}
