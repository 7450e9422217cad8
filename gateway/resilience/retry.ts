// Whether a failed attempt may be made again at another endpoint (SPEC section 7).

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly attempts: number;
  readonly on: readonly ('connect' | 'reset' | 'timeout')[];
}

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

export function isIdempotent(method: string): boolean {
  return IDEMPOTENT_METHODS.has(method);
}

/** Whether the policy lets the request be sent once more. */
export function mayRetry(policy: RetryPolicy, failed: FailedAttempt): boolean {
  if (failed.attempts >= policy.attempts || !failed.replayable) return false;
  if (failed.reason !== 'status' && !policy.on.includes(failed.reason)) return false;
  return !failed.sent || failed.repeatable;
}
