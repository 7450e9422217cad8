// The pools of one worker: one for every service that a route uses, as long as one does.
import type { RouteConfig } from '../../config/route-schema.ts';
import type { Clock } from '../../core/clock.ts';
import { Pool } from '../../pool/pool.ts';
import type { PooledEndpoint } from '../../pool/pooled-endpoint.ts';
import type { ServiceSnapshot } from '../../pool/snapshot.ts';
import type { TrafficLog } from '../traffic-log.ts';

export interface PoolSetOptions {
  readonly lane: number;
  readonly clock: Clock;
  readonly log: TrafficLog;
  /** Called once for every endpoint that leaves. */
  readonly onGone: (endpoint: PooledEndpoint) => void;
}

export class PoolSet {
  readonly #options: PoolSetOptions;
  readonly #pools = new Map<string, Pool>();

  constructor(options: PoolSetOptions) {
    this.#options = options;
  }

  get(service: string): Pool | undefined {
    return this.#pools.get(service);
  }

  /** Takes over a newer snapshot of one service. */
  apply(snapshot: ServiceSnapshot): void {
    this.#pools.get(snapshot.service)?.apply(snapshot);
  }

  /** Makes a pool for every service of `routes`; those that stay keep everything but their groups. */
  replace(routes: readonly RouteConfig[], services: readonly ServiceSnapshot[]): void {
    const known = new Map(services.map((snapshot) => [snapshot.service, snapshot]));
    const byService = Map.groupBy(routes, ({ service }) => service);
    for (const [service, pool] of this.#pools) {
      if (byService.has(service)) continue;
      pool.close();
      this.#pools.delete(service);
    }
    for (const [service, itsRoutes] of byService) {
      const policies = policiesOf(itsRoutes);
      const snapshot = known.get(service);
      const pool = this.#pools.get(service);
      if (pool !== undefined) pool.reconfigure(policies, snapshot);
      else if (snapshot !== undefined) this.#pools.set(service, this.#create(snapshot, policies));
    }
  }

  #create(snapshot: ServiceSnapshot, policies: Pool['policies']): Pool {
    const { lane, clock, log, onGone } = this.#options;
    return new Pool(snapshot, {
      lane,
      clock,
      policies,
      onTrafficChange: (service, change) => log.traffic(service, change),
      onBreakerChange: (service, change) => log.breaker(service, change),
      onGone,
    });
  }
}

/** What the routes of one service say of its pool; the configuration sees to it that they agree. */
function policiesOf(routes: readonly RouteConfig[]): Pool['policies'] {
  const [first] = routes;
  if (first === undefined) throw new Error('a service without routes');
  const { ejection, slowStart, breaker } = first;
  return {
    ejection,
    slowStart,
    breaker,
    keepsLabels: routes.some(hasLabels),
    isPeakSensitive: routes.some(({ balance }) => balance.policy === 'peak_ewma'),
  };
}

function hasLabels({ subset, split }: RouteConfig): boolean {
  return [subset, ...split].some(({ tags, meta }) => tags.length > 0 || Object.keys(meta).length > 0);
}
