// The document of /debug/upstreams (SPEC section 8).
import { type Clock, wallAt } from '../core/clock.ts';
import { isStale, type ServiceStatus } from '../core/discovery-update.ts';
import type { GatewayState } from '../core/gateway-state.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import { type EndpointView, type ViewOptions, viewEndpoints } from '../pool/view.ts';
import type { BreakerState } from '../resilience/breaker.ts';
import { ServiceCell } from '../shared/service-cell.ts';

export interface ServiceDocument {
  readonly service: string;
  readonly source: string;
  readonly state: 'healthy' | 'stale' | 'empty';
  readonly index: string | null;
  readonly lastSuccess: string | null;
  readonly ageSeconds: number | null;
  readonly lastError: string | null;
  readonly policy: string;
  /** `off` where no route of the service has one. */
  readonly breaker: BreakerState | 'off';
  readonly breakerUntil: string | null;
  /** When an operator took the service out of service, and why; null when nobody did. */
  readonly maintenance: { readonly since: string | null; readonly reason: string } | null;
  readonly degradedSince: string | null;
  readonly degradedReason: string | null;
  readonly skippedRecords: number;
  readonly endpoints: readonly EndpointView[];
}

/** How the configuration wants a service to be seen. */
export interface ServiceViewOptions extends ViewOptions {
  /** The balancing policies of its routes. */
  readonly policies: readonly string[];
  readonly hasBreaker: boolean;
  readonly maintenance: { readonly sinceMs: number; readonly reason: string } | null;
}

/** A service as it stands. */
export interface ViewedService {
  readonly snapshot: ServiceSnapshot;
  readonly view: ServiceViewOptions;
}

/** Everything that is known of the pools, as plain data. */
export function upstreamsDocument(gateway: GatewayState, services: readonly ViewedService[], clock: Clock): object {
  const statuses = new Map(gateway.statuses.map((status) => [status.service, status]));
  return {
    gateway: {
      version: gateway.version,
      pid: gateway.pid,
      startedAt: iso(gateway.startedAtMs),
      uptimeSeconds: Math.round((clock.wallMs() - gateway.startedAtMs) / 1000),
      leader: gateway.leader,
      workers: gateway.workers.map(({ id, leader, snapshot, connections, eventLoopLagMs }) => ({
        id,
        leader,
        snapshot,
        connections,
        eventLoopLagMs: Math.round(eventLoopLagMs * 10) / 10,
      })),
      listeners: gateway.listeners.map(({ address, certificates }) => ({
        address,
        tls: certificates !== null,
        certificates: (certificates ?? []).map(({ certificate, names, notAfterMs, problem }) => {
          return { certificate, names, notAfter: iso(notAfterMs), problem };
        }),
      })),
    },
    snapshot: {
      version: gateway.snapshotVersion,
      takenAt: iso(gateway.snapshotTakenAtMs),
      from: gateway.snapshotFrom,
    },
    services: services.flatMap(({ snapshot, view }) => {
      const status = statuses.get(snapshot.service);
      return status === undefined ? [] : [serviceDocument(snapshot, status, view)];
    }),
  };
}

function serviceDocument(snapshot: ServiceSnapshot, status: ServiceStatus, view: ServiceViewOptions): ServiceDocument {
  const endpoints = viewEndpoints(snapshot, view);
  const hasHealthy = snapshot.endpoints.some(({ healthy, weight }) => healthy && weight > 0);
  const cell = new ServiceCell(snapshot.cell, -1);
  const { clock, hasBreaker, policies, maintenance } = view;
  const degraded = cell.degraded();
  const breaker = cell.breaker(clock.nowMs());
  const { lastSuccessMs } = status;
  return {
    service: snapshot.service,
    source: status.source,
    state: !hasHealthy ? 'empty' : isStale(status) ? 'stale' : 'healthy',
    index: status.index,
    lastSuccess: iso(lastSuccessMs),
    ageSeconds: lastSuccessMs === null ? null : Math.round((clock.wallMs() - lastSuccessMs) / 100) / 10,
    lastError: status.lastError,
    policy: policies.join(', '),
    breaker: hasBreaker ? breaker.state : 'off',
    breakerUntil: hasBreaker && breaker.untilMs !== null ? iso(wallAt(clock, breaker.untilMs)) : null,
    maintenance: maintenance === null ? null : { since: iso(maintenance.sinceMs), reason: maintenance.reason },
    degradedSince: iso(degraded?.sinceMs ?? null),
    degradedReason: degraded?.reason ?? null,
    skippedRecords: status.skipped.length,
    endpoints,
  };
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
