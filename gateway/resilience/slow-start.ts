// How much of its weight an endpoint has while it warms up: in tenths, growing with the time in service (SPEC section 6).

export interface SlowStartPolicy {
  /** How long it takes to the full weight; 0 for no slow start. */
  readonly windowMs: number;
  /** The share of its weight with which an endpoint begins, 10..100; it counts in tenths. */
  readonly minPercent: number;
}

/** Weights grow in steps of a tenth: each step makes the balancers compute their order anew. */
export const FULL_TENTHS = 10;

/** The tenths (1..10) of its weight that an endpoint has after `warmMs` of service. */
export function warmTenths({ windowMs, minPercent }: SlowStartPolicy, warmMs: number): number {
  if (warmMs >= windowMs) return FULL_TENTHS;
  const share = Math.max(minPercent / 100, warmMs / windowMs);
  return Math.min(FULL_TENTHS, Math.max(1, Math.floor(share * FULL_TENTHS)));
}

/** How long after `warmMs` of service the next step comes; Infinity when there is none. */
export function nextStepMs(policy: SlowStartPolicy, warmMs: number): number {
  const tenths = warmTenths(policy, warmMs);
  if (tenths === FULL_TENTHS) return Number.POSITIVE_INFINITY;
  return Math.max(1, ((tenths + 1) / FULL_TENTHS) * policy.windowMs - warmMs);
}
