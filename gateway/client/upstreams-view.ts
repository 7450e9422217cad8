// How the services look at this moment, for people who want to know where requests go.
import { type Clock, wallAt } from '../core/clock.ts';
import { isStale } from '../core/discovery-update.ts';
import { viewEndpoints } from '../pool/view.ts';
import type { UpstreamView } from './discovery-dispatcher.ts';
import type { Service } from './service.ts';
import type { ServiceBook } from './service-book.ts';

export function viewUpstreams(services: readonly Service[], book: ServiceBook, clock: Clock): UpstreamView[] {
  return services.flatMap((service) => {
    const snapshot = book.snapshot(service.name);
    const status = book.status(service.name);
    if (snapshot === undefined || status === undefined) return [];
    const { config, pool } = service;
    const breaker = config.breaker === null ? null : pool.shared.breaker(clock.nowMs());
    const until = breaker?.untilMs ?? null;
    const hasHealthy = snapshot.endpoints.some(({ healthy, weight }) => healthy && weight > 0);
    return {
      service: service.name,
      source: status.source,
      state: !hasHealthy ? 'empty' : isStale(status) ? 'stale' : 'healthy',
      lastSuccess: iso(status.lastSuccessMs),
      lastError: status.lastError,
      policy: config.balance.policy,
      breaker: breaker?.state ?? 'off',
      breakerUntil: iso(until === null ? null : wallAt(clock, until)),
      endpoints: viewEndpoints(snapshot, { clock, slowStart: config.slowStart }),
    };
  });
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
