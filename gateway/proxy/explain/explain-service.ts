// How the service of a route stands: its discovery, its breaker, and whether it answers without its pool.
import type { RouteConfig } from '../../config/route-schema.ts';
import { type Clock, wallAt } from '../../core/clock.ts';
import { isStale, type ServiceStatus } from '../../core/discovery-update.ts';
import type { ServiceSnapshot } from '../../pool/snapshot.ts';
import { windowTick } from '../../shared/lane-window.ts';
import { ServiceCell } from '../../shared/service-cell.ts';
import type { ExplainedBreaker, ExplainedService } from './explanation.ts';

export interface ServiceFacts {
  readonly snapshot: ServiceSnapshot;
  /** Absent where nobody asks its source: then its endpoints are those of the file, or unknown. */
  readonly status: ServiceStatus | undefined;
  readonly maintenance: { readonly sinceMs: number; readonly reason: string } | null;
}

export function explainService(config: RouteConfig, facts: ServiceFacts, clock: Clock): ExplainedService {
  const { snapshot, status, maintenance } = facts;
  const cell = new ServiceCell(snapshot.cell, -1);
  const degraded = cell.degraded();
  const lastSuccessMs = status?.lastSuccessMs ?? null;
  return {
    name: config.service,
    source: status?.source ?? config.source,
    state: stateOf(config, facts),
    ageSeconds: lastSuccessMs === null ? null : Math.round((clock.wallMs() - lastSuccessMs) / 100) / 10,
    lastError: status?.lastError ?? null,
    policy: config.balance.policy,
    breaker: explainBreaker(config, cell, clock),
    maintenance: maintenance === null ? null : { since: iso(maintenance.sinceMs), reason: maintenance.reason },
    degraded: degraded === null ? null : { since: iso(degraded.sinceMs), reason: degraded.reason },
  };
}

function stateOf({ source }: RouteConfig, { snapshot, status }: ServiceFacts): ExplainedService['state'] {
  if (status === undefined && source !== 'static') return 'unknown';
  const hasHealthy = snapshot.endpoints.some(({ healthy, weight }) => healthy && weight > 0);
  if (!hasHealthy) return 'empty';
  return status !== undefined && isStale(status) ? 'stale' : 'healthy';
}

function explainBreaker({ breaker }: RouteConfig, cell: ServiceCell, clock: Clock): ExplainedBreaker | null {
  if (breaker === null) return null;
  const nowMs = clock.nowMs();
  const { state, untilMs } = cell.breaker(nowMs);
  const { windowMs, minRequests, failurePercent, probes } = breaker;
  const figures = cell.breakerWindow(windowTick(nowMs, windowMs));
  const until = untilMs === null ? null : iso(wallAt(clock, untilMs));
  return { state, until, ...figures, windowMs, minRequests, failurePercent, probes };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
