// How a request ends if nothing changes: at an endpoint, in the fallback, or with an answer of Weir's own.
import type { RouteConfig } from '../../config/route-schema.ts';
import { ERROR_ANSWERS, type ErrorSituation } from '../../core/errors.ts';
import { rewriteTarget } from '../../routing/rewrite.ts';
import type { DegradedReason } from '../../shared/degraded-words.ts';
import type { ReadRequest } from './asked-request.ts';
import type { ExplainedAccess, ExplainedOutcome, ExplainedPick } from './explanation.ts';
import type { Rehearsed } from './rehearsal.ts';

export interface OutcomeParts {
  readonly config: RouteConfig;
  readonly access: ExplainedAccess | null;
  readonly read: ReadRequest;
  /** The most octets of content that the route takes. */
  readonly maxBodyBytes: number;
  readonly isInMaintenance: boolean;
  /** Whether only a running gateway knows the endpoints. */
  readonly isUnknown: boolean;
  readonly rehearsed: Rehearsed;
  readonly pick: ExplainedPick;
}

/** In the order in which a transaction finds out (admission.ts, handler.ts, transaction.ts, attempts.ts). */
export function outcomeOf(parts: OutcomeParts): ExplainedOutcome {
  const { config, access, read, maxBodyBytes, isInMaintenance, isUnknown, rehearsed, pick } = parts;
  if (access?.isWelcome === false) return ownAnswer('forbidden', 'the address of the client may not come in');
  if (access?.isPreflight === true) return { kind: 'answer', status: 204, why: 'a preflight, which needs no service' };
  if (rewriteTarget(read.target, config.rewrite) === undefined) {
    return ownAnswer('rewrite_mismatch', `the path as sent does not begin with ${config.rewrite.stripPrefix}`);
  }
  if ((read.announcedBytes ?? 0) > maxBodyBytes) {
    return ownAnswer('content_too_large', `the body has ${read.announcedBytes} bytes, the route takes ${maxBodyBytes}`);
  }
  if (isUnknown) {
    return { kind: 'unknown', why: `the endpoints come from ${config.source}, and only a running gateway knows them` };
  }
  if (isInMaintenance) return withoutPool(config, 'maintenance', 'an operator has taken the service out of service');
  if (pick.endpoint !== null) return { kind: 'endpoint', endpoint: pick.endpoint, isCertain: pick.isCertain };
  if (rehearsed.ended === 'breaker') return withoutPool(config, 'breaker', pick.how);
  return withoutPool(config, rehearsed.ended === 'empty' ? 'empty' : 'unreachable', pick.how);
}

/** `OPTIONS *` is about the gateway; no other method may have this target. */
export function answerToStar(method: string): ExplainedOutcome {
  if (method !== 'OPTIONS') return ownAnswer('bad_request', 'only OPTIONS has the target *');
  return { kind: 'answer', status: 204, why: 'OPTIONS * is about the gateway' };
}

export function ownAnswer(situation: ErrorSituation, why: string): ExplainedOutcome {
  return { kind: 'answer', status: ERROR_ANSWERS[situation].status, why };
}

const SITUATIONS = {
  maintenance: 'maintenance',
  breaker: 'breaker_open',
  empty: 'empty_pool',
  unreachable: 'empty_pool',
} as const;

function withoutPool(
  { fallback }: RouteConfig,
  reason: Exclude<DegradedReason, 'status-5xx'>,
  why: string,
): ExplainedOutcome {
  const isWanted = fallback !== null && (reason === 'maintenance' || fallback.on.includes(reason));
  return isWanted ? { kind: 'fallback', reason } : ownAnswer(SITUATIONS[reason], why);
}
