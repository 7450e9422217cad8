// The admin address wired to the running gateway: what it shows, and what an operator may do there.
import { AdminServer } from './admin/admin-server.ts';
import { configDocument } from './admin/config-document.ts';
import type { GatewayConfig } from './config/gateway-schema.ts';
import { systemClock as clock } from './core/clock.ts';
import type { Log } from './core/log.ts';
import type { DiscoveryBook } from './discovery/discovery-book.ts';
import type { GatewayView } from './gateway-view.ts';
import { CERTIFICATE_RELOADS, type ListenerCertificates } from './listener-certificates.ts';
import { createExplainer } from './live-explanation.ts';
import type { Maintenance } from './maintenance.ts';
import { operate } from './pool/operator.ts';
import type { ServiceSnapshot } from './pool/snapshot.ts';
import { viewEndpoints } from './pool/view.ts';
import { RELOAD_RESULTS, type Reloader } from './reloader.ts';
import type { RoutesInForce } from './routes-in-force.ts';
import type { CellPlace } from './shared/cell.ts';
import { createMetrics } from './telemetry/metrics.ts';
import type { Crew } from './threads/crew.ts';

export interface AdminParts {
  readonly gateway: GatewayConfig;
  readonly view: GatewayView;
  readonly book: DiscoveryBook;
  readonly routes: RoutesInForce;
  readonly crew: Crew;
  readonly maintenance: Maintenance;
  readonly log: Log;
  readonly gatewayInForce: () => GatewayConfig;
  readonly notReady: () => string | null;
  /** Absent where the gateway has no files to be loaded anew. */
  readonly reloader: Reloader | undefined;
  readonly certificates: ListenerCertificates;
  readonly tlsCell: CellPlace;
}

export function createAdmin(parts: AdminParts): AdminServer {
  const { gateway, view, book, routes, crew, maintenance, log, reloader } = parts;
  const metrics = createMetrics({
    state: () => view.state(),
    snapshots: () => book.snapshots(),
    endpoints: (snapshot) => viewEndpoints(snapshot, view.viewOf(snapshot.service)),
    routeCells: () => routes.cells,
    sourceCells: () => routes.usedSourceCells(),
    limitTable: () => routes.limitTable,
    reloads: () => RELOAD_RESULTS.map((result) => ({ result, count: reloader?.count(result) ?? 0 })),
    tlsCell: parts.tlsCell,
    certificateReloads: () =>
      CERTIFICATE_RELOADS.map((result) => ({ result, count: parts.certificates.count(result) })),
    quarantinedFiles: () => reloader?.quarantined.length ?? 0,
    clock,
  });
  const snapshotOf = (service: string): ServiceSnapshot | undefined => {
    return book.snapshots().find((snapshot) => snapshot.service === service);
  };
  return new AdminServer({
    ...gateway.admin,
    upstreams: () => view.upstreams(),
    metrics: async () => ({ contentType: metrics.contentType, text: await metrics.metrics() }),
    notReady: parts.notReady,
    restartWorker: (id, isAbrupt) => crew.restart(id, isAbrupt),
    config: () => configDocument(parts.gatewayInForce(), routes.routes, reloader?.quarantined ?? []),
    explain: createExplainer(parts),
    operate(service, endpoint, action) {
      const snapshot = snapshotOf(service);
      if (snapshot === undefined || !operate(snapshot, endpoint, action, clock.nowMs())) return false;
      log.warn({ service, endpoint, action }, 'an operator has spoken');
      return true;
    },
    setMaintenance(service, reason) {
      const snapshot = snapshotOf(service);
      if (snapshot === undefined) return false;
      if (reason === null) maintenance.end(snapshot);
      else maintenance.begin(snapshot, reason);
      return true;
    },
    reload: async () => reloader?.reload('an operator') ?? null,
  });
}
