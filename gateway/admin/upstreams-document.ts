// The document of /debug/upstreams (SPEC section 8).

import type { Clock } from '../core/clock.ts';
import { isStale, type ServiceStatus } from '../core/discovery-update.ts';
import type { GatewayState } from '../core/gateway-state.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import { type EndpointView, viewEndpoints } from '../pool/view.ts';
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
  readonly breaker: 'closed';
  readonly degradedSince: string | null;
  readonly skippedRecords: number;
  readonly endpoints: readonly EndpointView[];
}

export interface DocumentOptions {
  readonly lanes: number;
  readonly clock: Clock;
}

/** Everything that is known of the pools, as plain data. */
export function upstreamsDocument(
  gateway: GatewayState,
  snapshots: readonly ServiceSnapshot[],
  options: DocumentOptions,
): object {
  const { clock } = options;
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
    },
    snapshot: {
      version: gateway.snapshotVersion,
      takenAt: iso(gateway.snapshotTakenAtMs),
      from: gateway.snapshotFrom,
    },
    services: snapshots.flatMap((snapshot) => {
      const status = gateway.statuses.find(({ service }) => service === snapshot.service);
      return status === undefined ? [] : [serviceDocument(snapshot, status, options)];
    }),
  };
}

function serviceDocument(snapshot: ServiceSnapshot, status: ServiceStatus, options: DocumentOptions): ServiceDocument {
  const endpoints = viewEndpoints(snapshot, options);
  const hasHealthy = snapshot.endpoints.some(({ healthy, weight }) => healthy && weight > 0);
  const degraded = new ServiceCell(snapshot.cell, -1).degraded();
  const { lastSuccessMs } = status;
  return {
    service: snapshot.service,
    source: status.source,
    state: !hasHealthy ? 'empty' : isStale(status) ? 'stale' : 'healthy',
    index: status.index,
    lastSuccess: iso(lastSuccessMs),
    ageSeconds: lastSuccessMs === null ? null : Math.round((options.clock.wallMs() - lastSuccessMs) / 100) / 10,
    lastError: status.lastError,
    policy: 'weighted_round_robin',
    breaker: 'closed',
    degradedSince: iso(degraded?.sinceMs ?? null),
    skippedRecords: status.skipped.length,
    endpoints,
  };
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
