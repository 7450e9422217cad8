// What happens to a request when an attempt fails, and when all do.
import type { RouteConfig } from '../../config/route-schema.ts';
import { formatAddress } from '../../core/address.ts';
import type { Clock } from '../../core/clock.ts';
import { decideRetry, type FailedAttempt, isIdempotent, isWithinBudget } from '../../resilience/retry.ts';
import { RETRY_REASONS, type ServiceCell } from '../../shared/service-cell.ts';
import type { RequestDescription } from '../exchange.ts';
import type { ExplainedFailure } from './explanation.ts';
import { durationWords, sizeWords } from './words.ts';

type Request = Pick<RequestDescription, 'method' | 'header'>;
type Step = NonNullable<RouteConfig['fallback']>['chain'][number];

export function explainFailure(
  { retry, fallback }: RouteConfig,
  request: Request,
  { cell, clock }: { cell: ServiceCell; clock: Clock },
): ExplainedFailure {
  const { requests, retries } = cell.budgetWindow(clock.nowMs());
  return {
    attempts: retry.attempts,
    retries: RETRY_REASONS.map((reason) => explainRetry(retry, reason, request)),
    bodyBufferBytes: retry.bodyBufferBytes,
    budget: {
      percent: retry.budgetPercent === Number.POSITIVE_INFINITY ? null : retry.budgetPercent,
      minPerSecond: retry.minPerSecond,
      requests,
      retries,
      isExhausted: !isWithinBudget(retry, requests, retries),
    },
    fallback:
      fallback === null ? null : { on: fallback.on, chain: fallback.chain.map((step) => stepWords(step, request)) },
  };
}

/** Whether the request is sent again after its first attempt has failed so, with a body that can be sent again. */
function explainRetry(
  retry: RouteConfig['retry'],
  reason: FailedAttempt['reason'],
  request: Request,
): ExplainedFailure['retries'][number] {
  const after = reason === 'status' ? retry.statuses.join(', ') : reason;
  if (reason === 'status' && retry.statuses.length === 0) return { after: reason, isRetried: false, why: null };
  const repeatable = isIdempotent(request.method) || request.header('idempotency-key') !== undefined;
  // A connection that was refused has carried nothing.
  const sent = reason !== 'connect';
  const decision = decideRetry(retry, { reason, attempts: 1, sent, repeatable, replayable: true });
  const why = decision === 'method' ? `a ${request.method} without Idempotency-Key may have been carried out` : null;
  return { after, isRetried: decision === 'yes', why };
}

function stepWords(step: Step, request: Request): string {
  switch (step.kind) {
    case 'stale': {
      const isSafe = request.method === 'GET' || request.method === 'HEAD';
      const isAsked = isSafe && request.header('authorization') === undefined;
      const kept = `the last good answer to the same request, if one was kept and is at most ${durationWords(step.maxAgeMs)} old`;
      return isAsked ? `stale: ${kept}` : 'stale: passed over, for it is kept for a GET without Authorization only';
    }
    case 'upstream': {
      const servers = step.origins.map(({ host, port }) => `http://${formatAddress(host, port)}`);
      return servers.length === 1 ? `upstream: ${servers[0]}` : `upstream: in turn one of ${servers.join(', ')}`;
    }
    case 'respond':
      return `respond: ${step.status} with ${sizeWords(step.content.length)} of ${step.contentType}`;
  }
}
