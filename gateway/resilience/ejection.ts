// When an endpoint is set aside and for how long: decisions on numbers, no state and no timers (SPEC section 6).

export interface EjectionPolicy {
  readonly consecutiveFailures: number;
  readonly baseMs: number;
  readonly maxMs: number;
  /** The share of a pool that may be out at once, 0..100. */
  readonly maxPercent: number;
}

/** How far an ejection may be shorter or longer than its rule says. */
const JITTER = 0.2;

/** How many of `poolSize` endpoints may be out at once: at least one of two or more, never a lone one. */
export function ejectionAllowance(poolSize: number, maxPercent: number): number {
  if (poolSize < 2) return 0;
  return Math.max(1, Math.floor((poolSize * maxPercent) / 100));
}

/** The duration of an ejection in ms: base × 2^step with jitter, at most max. `random` is in [0, 1). */
export function ejectionMs(policy: EjectionPolicy, step: number, random: number): number {
  const jittered = policy.baseMs * 2 ** step * (1 - JITTER + 2 * JITTER * random);
  return Math.min(policy.maxMs, Math.round(jittered));
}

/** The step of the next ejection: one less for every `max` of service since the endpoint came back. */
export function decayedStep(policy: EjectionPolicy, step: number, inServiceMs: number): number {
  return Math.max(0, step - Math.floor(inServiceMs / policy.maxMs));
}

/** The step after one more ejection; it stops growing where the duration has reached its maximum. */
export function grownStep(policy: EjectionPolicy, step: number): number {
  return policy.baseMs * 2 ** step >= policy.maxMs ? step : step + 1;
}
