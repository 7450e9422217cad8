// The metrics of discovery: the queries of each source, and how fresh what is known of each service is.
import type { Registry } from 'prom-client';
import { isStale } from '../core/discovery-update.ts';
import type { GatewayState } from '../core/gateway-state.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import { ServiceCell } from '../shared/service-cell.ts';
import { QUERY_RESULTS, type SourceCell } from '../shared/source-cell.ts';
import { counter, gauge, type Sample } from './metric-kinds.ts';
import { SharedHistogram } from './shared-histogram.ts';

export interface DiscoveryMetricsSources {
  readonly state: () => GatewayState;
  readonly snapshots: () => readonly ServiceSnapshot[];
  readonly sources: () => readonly { readonly source: string; readonly cell: SourceCell }[];
}

/** Registers them. */
export function discoveryMetrics(registry: Registry, { state, snapshots, sources }: DiscoveryMetricsSources): void {
  counter(registry, {
    name: 'weir_discovery_updates_total',
    help: 'Changes of a pool',
    labels: ['service'],
    read: () => snapshots().map(({ service, cell }) => [new ServiceCell(cell, -1).updates(), { service }]),
  });
  counter(registry, {
    name: 'weir_discovery_queries_total',
    help: 'Queries of a source by how they ended',
    labels: ['source', 'result'],
    read: () =>
      sources().flatMap(({ source, cell }) =>
        QUERY_RESULTS.map((result): Sample => [cell.queries(result), { source, result }]),
      ),
  });
  registry.registerMetric(
    new SharedHistogram(
      'weir_discovery_query_duration_seconds',
      'Time of a query, of a blocking one with the time that it blocked',
      'source',
      () => sources().map(({ source, cell }) => ({ label: source, totals: cell.durations() })),
    ),
  );
  gauge(registry, {
    name: 'weir_discovery_age_seconds',
    help: 'Time since the source last confirmed the pool',
    labels: ['service'],
    read: () =>
      // What the configuration lists does not grow old.
      state().statuses.flatMap(({ service, source, lastSuccessMs }): Sample[] =>
        lastSuccessMs === null || source === 'static' ? [] : [[(Date.now() - lastSuccessMs) / 1000, { service }]],
      ),
  });
  gauge(registry, {
    name: 'weir_discovery_stale',
    help: 'Whether the last good pool is held because the last answer was none or in doubt',
    labels: ['service'],
    read: () => state().statuses.map((status) => [isStale(status) ? 1 : 0, { service: status.service }]),
  });
}
