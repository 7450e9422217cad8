// What the routes of a service say of its pool: the same for all of them, since the state is shared.
import type { BreakerPolicy } from '../resilience/breaker.ts';
import type { EjectionPolicy } from '../resilience/ejection.ts';
import type { SlowStartPolicy } from '../resilience/slow-start.ts';

export interface PoolPolicies {
  readonly ejection: EjectionPolicy;
  readonly slowStart: SlowStartPolicy;
  /** null for no breaker. */
  readonly breaker: BreakerPolicy | null;
  /** Whether a route chooses by tags or meta. */
  readonly keepsLabels: boolean;
  /** Whether a route balances by latency. */
  readonly isPeakSensitive: boolean;
}
