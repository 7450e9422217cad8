// The defaults of the `ejection` section, with what a test wants otherwise.
import type { EjectionPolicy } from '../../gateway/resilience/ejection.ts';

export function ejectionPolicy(changes: Partial<EjectionPolicy> = {}): EjectionPolicy {
  return {
    consecutiveFailures: 5,
    failurePercent: 50,
    minRequests: 20,
    windowMs: 10_000,
    slowerThan: Number.POSITIVE_INFINITY,
    baseMs: 5000,
    maxMs: 300_000,
    maxPercent: 50,
    ...changes,
  };
}
