// The metrics: everything that the shared cells count, for all workers together, as Prometheus text.
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { OUTCOMES } from '../core/failure.ts';
import type { GatewayState } from '../core/gateway-state.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import type { EndpointView } from '../pool/view.ts';
import { EndpointCell } from '../shared/endpoint-cell.ts';
import { COUNTED_METHODS, DEGRADED_SOURCES, RouteCell, STATUS_CLASSES } from '../shared/route-cell.ts';
import { DEGRADED_REASONS, RETRY_REASONS, ServiceCell } from '../shared/service-cell.ts';
import { SharedHistogram } from './shared-histogram.ts';

export interface MetricsSources {
  readonly state: () => GatewayState;
  readonly snapshots: () => readonly ServiceSnapshot[];
  readonly endpoints: (snapshot: ServiceSnapshot) => readonly EndpointView[];
  readonly routeCells: ReadonlyMap<string, SharedArrayBuffer>;
}

/** A registry whose every scrape reads the cells anew. Series of endpoints that are gone go with them. */
export function createMetrics(sources: MetricsSources): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const routes = [...sources.routeCells].map(([route, cell]) => ({ route, cell: new RouteCell(cell, -1) }));
  routeMetrics(registry, routes);
  serviceMetrics(registry, sources);
  processMetrics(registry, sources);
  return registry;
}

type Routes = readonly { readonly route: string; readonly cell: RouteCell }[];
type Labels = Readonly<Record<string, string>>;
type Sample = readonly [value: number, labels?: Labels];

function routeMetrics(registry: Registry, routes: Routes): void {
  counter(registry, 'weir_requests_total', 'Requests answered', ['route', 'method', 'status'], () =>
    routes.flatMap(({ route, cell }) =>
      COUNTED_METHODS.flatMap((method, row) =>
        STATUS_CLASSES.map((status, column): Sample => [cell.requests(row, column), { route, method, status }]),
      ).filter(([count]) => count > 0),
    ),
  );
  gauge(registry, 'weir_requests_in_flight', 'Requests under way', ['route'], () =>
    routes.map(({ route, cell }) => [cell.inFlight(), { route }]),
  );
  counter(
    registry,
    'weir_degraded_responses_total',
    'Answers that did not come from the pool',
    ['route', 'source', 'reason'],
    () =>
      routes.flatMap(({ route, cell }) =>
        DEGRADED_SOURCES.flatMap((source) =>
          DEGRADED_REASONS.map((reason): Sample => [cell.degradedAnswers(source, reason), { route, source, reason }]),
        ),
      ),
  );
  registry.registerMetric(
    new SharedHistogram(
      'weir_request_duration_seconds',
      'Time from the request to the end of its answer',
      'route',
      () => routes.map(({ route, cell }) => ({ label: route, totals: cell.durations() })),
    ),
  );
}

function serviceMetrics(registry: Registry, { snapshots, endpoints, state }: MetricsSources): void {
  const perService = (sample: (cell: ServiceCell, service: string) => Sample[]): Sample[] =>
    snapshots().flatMap(({ service, cell }) => sample(new ServiceCell(cell, -1), service));
  counter(
    registry,
    'weir_upstream_attempts_total',
    'Attempts at endpoints by how they ended',
    ['service', 'endpoint', 'outcome'],
    () =>
      snapshots().flatMap((snapshot) =>
        snapshot.endpoints.flatMap(({ key, cell }) => {
          const counts = new EndpointCell(cell, -1);
          const labels = { service: snapshot.service, endpoint: key };
          return OUTCOMES.map((outcome): Sample => [counts.outcomes(outcome), { ...labels, outcome }]).filter(
            ([count], at) => at === 0 || count > 0,
          );
        }),
      ),
  );
  registry.registerMetric(
    new SharedHistogram(
      'weir_upstream_duration_seconds',
      'Time from an attempt to the head of its answer',
      'service',
      () =>
        snapshots().map(({ service, cell }) => ({
          label: service,
          totals: new ServiceCell(cell, -1).upstreamDurations(),
        })),
    ),
  );
  counter(registry, 'weir_retries_total', 'Attempts made again', ['service', 'reason'], () =>
    perService((cell, service) => RETRY_REASONS.map((reason) => [cell.retries(reason), { service, reason }])),
  );
  counter(registry, 'weir_ejections_total', 'Endpoints set aside', ['service', 'reason'], () =>
    snapshots().map((snapshot) => [
      endpoints(snapshot).reduce((sum, { ejections }) => sum + ejections, 0),
      { service: snapshot.service, reason: 'consecutive_failures' },
    ]),
  );
  gauge(registry, 'weir_endpoints', 'Endpoints by state', ['service', 'state'], () =>
    snapshots().flatMap((snapshot) => {
      const views = endpoints(snapshot);
      return (['active', 'ejected', 'probing', 'unhealthy'] as const).map(
        (wanted): Sample => [
          views.filter((view) => view.state === wanted).length,
          { service: snapshot.service, state: wanted },
        ],
      );
    }),
  );
  gauge(registry, 'weir_degraded', 'Whether a service answers without its pool', ['service'], () =>
    perService((cell, service) => [[cell.degraded() === null ? 0 : 1, { service }]]),
  );
  counter(registry, 'weir_discovery_updates_total', 'Changes of a pool', ['service'], () =>
    perService((cell, service) => [[cell.updates(), { service }]]),
  );
  counter(registry, 'weir_discovery_queries_total', 'What sources said', ['source', 'result'], () =>
    state().queries.map(({ source, result, count }) => [count, { source, result }]),
  );
  gauge(registry, 'weir_discovery_age_seconds', 'Time since the source last confirmed the pool', ['service'], () =>
    state().statuses.flatMap(({ service, lastSuccessMs }): Sample[] =>
      lastSuccessMs === null ? [] : [[(Date.now() - lastSuccessMs) / 1000, { service }]],
    ),
  );
}

function processMetrics(registry: Registry, { state }: MetricsSources): void {
  gauge(registry, 'weir_leader_term', 'The term of the leader; grows with every change', [], () => [
    [state().leader.term],
  ]);
  counter(registry, 'weir_worker_restarts_total', 'Workers that were replaced', [], () => [[state().workerRestarts]]);
  counter(registry, 'weir_log_lines_dropped_total', 'Lines of the log that could not be written', [], () => [
    [state().logLinesDropped],
  ]);
  gauge(registry, 'weir_connections', 'Open connections', ['side'], () => {
    const { workers } = state();
    return [
      [workers.reduce((sum, { connections }) => sum + connections, 0), { side: 'downstream' }],
      [workers.reduce((sum, { upstreamConnections }) => sum + upstreamConnections, 0), { side: 'upstream' }],
    ];
  });
}

function counter(registry: Registry, name: string, help: string, labelNames: string[], read: () => Sample[]): void {
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, labels] of read()) this.inc(labels ?? {}, value);
    },
  });
}

function gauge(registry: Registry, name: string, help: string, labelNames: string[], read: () => Sample[]): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, labels] of read()) this.set(labels ?? {}, value);
    },
  });
}
