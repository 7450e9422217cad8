// The metrics: everything that the shared cells count, for all workers together, as Prometheus text.
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Clock } from '../core/clock.ts';
import type { GatewayState } from '../core/gateway-state.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import type { EndpointView } from '../pool/view.ts';
import type { CellPlace } from '../shared/cell.ts';
import { RouteCell } from '../shared/route-cell.ts';
import { SourceCell } from '../shared/source-cell.ts';
import { TlsCell } from '../shared/tls-cell.ts';
import { discoveryMetrics } from './discovery-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { routeMetrics } from './route-metrics.ts';
import { serviceMetrics } from './service-metrics.ts';
import { tlsMetrics } from './tls-metrics.ts';

export interface MetricsSources {
  readonly state: () => GatewayState;
  readonly snapshots: () => readonly ServiceSnapshot[];
  readonly endpoints: (snapshot: ServiceSnapshot) => readonly EndpointView[];
  readonly routeCells: () => ReadonlyMap<string, CellPlace>;
  readonly sourceCells: () => ReadonlyMap<string, CellPlace>;
  readonly limitTable: () => SharedArrayBuffer | null;
  readonly reloads: () => readonly { readonly result: string; readonly count: number }[];
  readonly quarantinedFiles: () => number;
  readonly tlsCell: CellPlace;
  readonly certificateReloads: () => readonly { readonly result: string; readonly count: number }[];
  readonly clock: Clock;
}

/** A registry whose every scrape reads the cells anew. Series of endpoints that are gone go with them. */
export function createMetrics(sources: MetricsSources): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  routeMetrics(registry, () =>
    [...sources.routeCells()].map(([route, cell]) => ({ route, cell: new RouteCell(cell, -1) })),
  );
  serviceMetrics(registry, sources);
  discoveryMetrics(registry, {
    ...sources,
    sources: () => [...sources.sourceCells()].map(([source, cell]) => ({ source, cell: new SourceCell(cell, -1) })),
  });
  processMetrics(registry, sources);
  tlsMetrics(registry, { ...sources, counts: new TlsCell(sources.tlsCell, -1) });
  return registry;
}
