// When an endpoint is set aside and for how long: decisions on numbers, no state and no timers (SPEC section 6).

export interface EjectionPolicy {
  readonly consecutiveFailures: number;
  /** The share of failures among the attempts of the window that ejects, 1..100; Infinity for no such rule. */
  readonly failurePercent: number;
  /** The attempts that a window must have before its share means anything. */
  readonly minRequests: number;
  readonly windowMs: number;
  /** How many times slower than the median of its pool an endpoint may be; Infinity for no such rule. */
  readonly slowerThan: number;
  readonly baseMs: number;
  readonly maxMs: number;
  /** The share of a pool that may be out at once, 0..100. */
  readonly maxPercent: number;
}

/** How far an ejection may be shorter or longer than its rule says. */
const JITTER = 0.2;

/** A latency below this is no reason to eject, however fast the others are. */
const NOTABLE_LATENCY_MS = 10;

/** How many of `poolSize` endpoints may be out at once: at least one of two or more, never a lone one. */
export function ejectionAllowance(poolSize: number, maxPercent: number): number {
  if (poolSize < 2) return 0;
  return Math.max(1, Math.floor((poolSize * maxPercent) / 100));
}

/** The failures in percent if they are too many of the attempts in the window; null otherwise. */
export function tooManyFailures(policy: EjectionPolicy, attempts: number, failures: number): number | null {
  if (attempts < policy.minRequests) return null;
  const percent = (failures / attempts) * 100;
  return percent >= policy.failurePercent ? Math.floor(percent) : null;
}

/** How many times slower than the median an endpoint is, if that is too slow; null otherwise. */
export function tooSlow(policy: EjectionPolicy, latencyMs: number, medianMs: number): number | null {
  if (medianMs <= 0 || latencyMs < NOTABLE_LATENCY_MS) return null;
  const ratio = latencyMs / medianMs;
  return ratio > policy.slowerThan ? ratio : null;
}

/** The median of latencies, of an even number the lower one; 0 of none. Sorts the list. */
export function lowerMedian(latenciesMs: number[]): number {
  latenciesMs.sort((a, b) => a - b);
  return latenciesMs[(latenciesMs.length - 1) >> 1] ?? 0;
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
