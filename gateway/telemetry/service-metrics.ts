// The metrics of services and their endpoints: attempts, retries, ejections, and whether a service is degraded.
import type { Registry } from 'prom-client';
import type { Clock } from '../core/clock.ts';
import { OUTCOMES } from '../core/failure.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import { ENDPOINT_STATES, type EndpointView } from '../pool/view.ts';
import { BREAKER_STATES } from '../resilience/breaker.ts';
import { RETRY_DENIALS } from '../resilience/retry.ts';
import { EJECTION_TRIGGERS, EndpointCell } from '../shared/endpoint-cell.ts';
import { RETRY_REASONS, ServiceCell } from '../shared/service-cell.ts';
import { counter, gauge, type Sample } from './metric-kinds.ts';
import { SharedHistogram } from './shared-histogram.ts';

export interface ServiceMetricsSources {
  readonly snapshots: () => readonly ServiceSnapshot[];
  readonly endpoints: (snapshot: ServiceSnapshot) => readonly EndpointView[];
  readonly clock: Clock;
}

/** Registers them. */
export function serviceMetrics(registry: Registry, { snapshots, endpoints, clock }: ServiceMetricsSources): void {
  const perService = (sample: (cell: ServiceCell, service: string) => Sample[]): Sample[] =>
    snapshots().flatMap(({ service, cell }) => sample(new ServiceCell(cell, -1), service));
  counter(registry, {
    name: 'weir_upstream_attempts_total',
    help: 'Attempts at endpoints by how they ended',
    labels: ['service', 'endpoint', 'outcome'],
    read: () => snapshots().flatMap(attempts),
  });
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
  counter(registry, {
    name: 'weir_retries_total',
    help: 'Attempts made again',
    labels: ['service', 'reason'],
    read: () =>
      perService((cell, service) => RETRY_REASONS.map((reason) => [cell.retries(reason), { service, reason }])),
  });
  counter(registry, {
    name: 'weir_retries_denied_total',
    help: 'Attempts that the policy wanted and that could not be made again',
    labels: ['service', 'reason'],
    read: () =>
      perService((cell, service) => RETRY_DENIALS.map((reason) => [cell.denials(reason), { service, reason }])),
  });
  gauge(registry, {
    name: 'weir_breaker_state',
    help: 'The breaker of a service: 0 closed, 1 open, 2 half-open',
    labels: ['service'],
    read: () =>
      perService((cell, service) => [[BREAKER_STATES.indexOf(cell.breaker(clock.nowMs()).state), { service }]]),
  });
  counter(registry, {
    name: 'weir_breaker_opened_total',
    help: 'How often the breaker of a service opened',
    labels: ['service'],
    read: () => perService((cell, service) => [[cell.timesOpened(), { service }]]),
  });
  counter(registry, {
    name: 'weir_ejections_total',
    help: 'Endpoints set aside',
    labels: ['service', 'reason'],
    read: () =>
      perService((cell, service) => EJECTION_TRIGGERS.map((reason) => [cell.ejections(reason), { service, reason }])),
  });
  gauge(registry, {
    name: 'weir_endpoints',
    help: 'Endpoints by state',
    labels: ['service', 'state'],
    read: () =>
      snapshots().flatMap((snapshot) => {
        const views = endpoints(snapshot);
        return ENDPOINT_STATES.map((wanted): Sample => {
          const count = views.filter((view) => view.state === wanted).length;
          return [count, { service: snapshot.service, state: wanted }];
        });
      }),
  });
  gauge(registry, {
    name: 'weir_degraded',
    help: 'Whether a service answers without its pool',
    labels: ['service'],
    read: () => perService((cell, service) => [[cell.degraded() === null ? 0 : 1, { service }]]),
  });
}

/** The first outcome is there from the start, so that a rate can be taken over the first failure. */
function attempts({ service, endpoints }: ServiceSnapshot): Sample[] {
  return endpoints.flatMap(({ key, cell }) => {
    const counts = new EndpointCell(cell, -1);
    return OUTCOMES.map((outcome): Sample => [counts.outcomes(outcome), { service, endpoint: key, outcome }]).filter(
      ([count], at) => at === 0 || count > 0,
    );
  });
}
