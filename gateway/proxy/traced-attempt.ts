// The place of an attempt in the trace of its request, where there is one.
import type { AttemptTrace } from '../core/tracing.ts';
import type { Described } from './routed-request.ts';
import type { UpstreamTarget } from './upstream/upstream.ts';

/** The request is about to be sent to `to`; null where nothing is traced. */
export function beginAttempt({ trace, target }: Described, to: UpstreamTarget, isTls: boolean): AttemptTrace | null {
  if (trace === null) return null;
  return trace.attempt({ key: to.key, host: to.host, port: to.port, isTls, target });
}

/** The field lines of the attempt: those of the request, and its trace context unless the route takes that out. */
export function tracedLines({ lines, route }: Described, attempt: AttemptTrace | null): string {
  if (attempt === null) return lines;
  const { drop } = route.requestRewrite;
  if (drop === null) return lines + attempt.parentLine + attempt.stateLine;
  if (drop.has('traceparent')) return lines;
  return lines + attempt.parentLine + (drop.has('tracestate') ? '' : attempt.stateLine);
}
