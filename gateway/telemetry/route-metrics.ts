// The metrics of routes: requests, their durations, and answers without the pool.
import type { Registry } from 'prom-client';
import { DEGRADED_REASONS } from '../shared/degraded-words.ts';
import {
  ACCESS_REFUSALS,
  COUNTED_METHODS,
  DEGRADED_SOURCES,
  type RouteCell,
  STATUS_CLASSES,
} from '../shared/route-cell.ts';
import { counter, gauge, type Sample } from './metric-kinds.ts';
import { SharedHistogram } from './shared-histogram.ts';

type Routes = () => readonly { readonly route: string; readonly cell: RouteCell }[];

/** Registers them; `routes` gives the routes of the moment. */
export function routeMetrics(registry: Registry, routes: Routes): void {
  counter(registry, {
    name: 'weir_requests_total',
    help: 'Requests answered',
    labels: ['route', 'method', 'status'],
    read: () =>
      routes().flatMap(({ route, cell }) =>
        COUNTED_METHODS.flatMap((method, row) =>
          STATUS_CLASSES.map((status, column): Sample => [cell.requests(row, column), { route, method, status }]),
        ).filter(([count]) => count > 0),
      ),
  });
  gauge(registry, {
    name: 'weir_requests_in_flight',
    help: 'Requests under way',
    labels: ['route'],
    read: () => routes().map(({ route, cell }) => [cell.inFlight(), { route }]),
  });
  counter(registry, {
    name: 'weir_rate_limited_total',
    help: 'Requests refused by a rate limit',
    labels: ['route'],
    read: () => routes().map(({ route, cell }) => [cell.rateLimited(), { route }]),
  });
  counter(registry, {
    name: 'weir_access_refused_total',
    help: 'Requests that may not come in',
    labels: ['route', 'reason'],
    read: () =>
      routes().flatMap(({ route, cell }) =>
        ACCESS_REFUSALS.map((reason): Sample => [cell.refused(reason), { route, reason }]),
      ),
  });
  gauge(registry, {
    name: 'weir_concurrency',
    help: 'Requests that hold a place of the concurrency limit, and that wait for one',
    labels: ['route', 'state'],
    read: () =>
      routes().flatMap(({ route, cell }): Sample[] => {
        const { running, waiting } = cell.concurrency();
        return [
          [running, { route, state: 'running' }],
          [waiting, { route, state: 'waiting' }],
        ];
      }),
  });
  counter(registry, {
    name: 'weir_degraded_responses_total',
    help: 'Answers that did not come from the pool',
    labels: ['route', 'source', 'reason'],
    read: () =>
      routes().flatMap(({ route, cell }) =>
        DEGRADED_SOURCES.flatMap((source) =>
          DEGRADED_REASONS.map((reason): Sample => [cell.degradedAnswers(source, reason), { route, source, reason }]),
        ),
      ),
  });
  registry.registerMetric(
    new SharedHistogram(
      'weir_request_duration_seconds',
      'Time from the request to the end of its answer',
      'route',
      () => routes().map(({ route, cell }) => ({ label: route, totals: cell.durations() })),
    ),
  );
}
