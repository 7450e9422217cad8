// Whether a tunnel may be opened: the limits of its route, and an endpoint for it.
import type { ErrorSituation } from '../core/errors.ts';
import type { Lease } from '../pool/lease.ts';
import type { Described } from './routed-request.ts';

/** A lease for a tunnel, which holds a place of the route's; or why there is none. */
export function admitTunnel({ route, branch, hash, limited }: Described): Lease | ErrorSituation {
  // A tunnel cannot wait behind others: where a request would be delayed, it is refused.
  if (limited !== null && limited.delayMs !== 0) {
    route.counts.countRateLimited();
    return 'rate_limited';
  }
  if (route.pool.shared.isInMaintenance()) return 'maintenance';
  if (route.gate?.enter() === false) return 'concurrency_limit';
  const lease = route.choice.acquire(branch, { tried: [], hash, failOpen: true });
  if (typeof lease !== 'string') return lease;
  route.gate?.leave();
  return lease === 'breaker' ? 'breaker_open' : 'empty_pool';
}
