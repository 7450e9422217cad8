// Whether a failed attempt may be made again at another endpoint (SPEC section 7).

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attempts: number;
  readonly on: readonly ('connect' | 'reset' | 'timeout')[];
  /** How many retries there may be for a hundred requests of the last ten seconds; Infinity for no budget. */
  readonly budgetPercent: number;
  /** Retries a second that are allowed however few requests there are. */
  readonly minPerSecond: number;
}

/** The time over which the budget of retries is counted. */
export const BUDGET_WINDOW_MS = 10_000;

/** Methods that may be sent twice without harm (RFC 9110 section 9.2.2, less CONNECT). */
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** What counts for the decision, besides the policy. */
export interface FailedAttempt {
  readonly reason: 'connect' | 'reset' | 'timeout' | 'status';
  /** How many attempts were made, this one included. */
  readonly attempts: number;
  /** Whether a byte of the request may have reached the endpoint. */
  readonly sent: boolean;
  /** Whether the method is idempotent or the client vouches for the request by an Idempotency-Key. */
  readonly repeatable: boolean;
  /** Whether the whole body can be sent again. */
  readonly replayable: boolean;
}

/** Why a request that failed is not sent again although the policy retries such failures. */
export const RETRY_DENIALS = ['method', 'body', 'budget'] as const;
export type RetryDenial = (typeof RETRY_DENIALS)[number];

/** `yes`; `no` when the policy does not want another attempt; or what forbids the one that it wants. */
export type RetryDecision = 'yes' | 'no' | Exclude<RetryDenial, 'budget'>;

export function isIdempotent(method: string): boolean {
  return IDEMPOTENT_METHODS.has(method);
}

/** Whether the policy lets the request be sent once more, the budget aside. */
export function decideRetry(policy: RetryPolicy, failed: FailedAttempt): RetryDecision {
  if (failed.attempts >= policy.attempts) return 'no';
  if (failed.reason !== 'status' && !policy.on.includes(failed.reason)) return 'no';
  if (failed.sent && !failed.repeatable) return 'method';
  return failed.replayable ? 'yes' : 'body';
}

/**
 * Whether one more retry is within the budget, after so many requests and retries in the last ten seconds: the share
 * of the requests, or the floor where that is more.
 */
export function isWithinBudget(policy: RetryPolicy, requests: number, retries: number): boolean {
  if (policy.budgetPercent === Number.POSITIVE_INFINITY) return true;
  const floor = (policy.minPerSecond * BUDGET_WINDOW_MS) / 1000;
  return retries < Math.max(floor, (policy.budgetPercent / 100) * requests);
}
