// When the breaker of a service opens, lets probes through, and closes: decisions on numbers (SPEC section 6).

export interface BreakerPolicy {
  /** The share of failures among the attempts of the window that opens it, 1..100. */
  readonly failurePercent: number;
  /** The attempts that a window must have before its share means anything. */
  readonly minRequests: number;
  readonly windowMs: number;
  /** How long it stays open before it lets probes through. */
  readonly openMs: number;
  /** How many requests probe; all of them must be good. */
  readonly probes: number;
}

export const BREAKER_STATES = ['closed', 'open', 'half_open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/** Whether the attempts of the window open a closed breaker. */
export function opensBreaker(policy: BreakerPolicy, attempts: number, failures: number): boolean {
  return attempts >= policy.minRequests && failures * 100 >= policy.failurePercent * attempts;
}
