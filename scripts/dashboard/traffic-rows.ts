// The rows of the dashboard about requests: at a glance, traffic, latency, errors.
import {
  by,
  curves,
  GATEWAY,
  NEARLY_ZERO,
  percentile,
  percentiles,
  ROUTE,
  rate,
  SERVICE,
  SHARE,
  stat,
  WAIT,
  ZERO,
} from './figures.ts';
import type { Row } from './grafana-panels.ts';

const answers = rate('weir_requests_total', ROUTE);
const errors = rate('weir_requests_total', `${ROUTE}, status="5xx"`);
const failedAttempts = rate('weir_upstream_attempts_total', `${SERVICE}, outcome!~"success|client_gone"`);
const inUse = `weir_endpoints{${SERVICE}, state=~"active|warming|probing"}`;

export const overviewRow: Row = {
  title: 'At a glance',
  panels: [
    stat({ title: 'Requests', meaning: 'Requests answered a second.', unit: 'reqps', expr: `sum(${answers})` }),
    stat({
      title: '5xx',
      meaning: 'Share of the answers that are 5xx, whoever gave them.',
      unit: 'percentunit',
      expr: `(sum(${errors}) or vector(0)) / sum(${answers})`,
      steps: SHARE,
    }),
    stat({
      title: 'p99',
      meaning: 'Time to the end of the answer. Set the colours to your own objective.',
      unit: 's',
      expr: percentile(99, 'weir_request_duration_seconds', ROUTE).expr,
      steps: WAIT,
    }),
    stat({
      title: 'Empty pools',
      meaning: 'Services of which no endpoint takes traffic: clients get the fallback, or 503.',
      unit: 'short',
      expr: `count(sum by (job, instance, service) (${inUse}) == 0) or vector(0)`,
      steps: ZERO,
    }),
    stat({
      title: 'Degraded',
      meaning: 'Services that answer without their pool.',
      unit: 'short',
      expr: `sum(weir_degraded{${SERVICE}})`,
      steps: ZERO,
    }),
    stat({
      title: 'Ejected',
      meaning: 'Endpoints set aside by what their traffic showed, or by an operator.',
      unit: 'short',
      expr: `sum(weir_endpoints{${SERVICE}, state=~"ejected|probing"})`,
      steps: NEARLY_ZERO,
    }),
    stat({
      title: 'Open breakers',
      meaning: 'Services whose breaker is open or half-open.',
      unit: 'short',
      expr: `count(weir_breaker_state{${SERVICE}} > 0) or vector(0)`,
      steps: ZERO,
    }),
    stat({
      title: 'Stale pools',
      meaning: 'Services served from their last good pool: their source gives no answer that can be trusted.',
      unit: 'short',
      expr: `sum(weir_discovery_stale{${SERVICE}})`,
      steps: NEARLY_ZERO,
    }),
  ],
};

export const trafficRow: Row = {
  title: 'Traffic',
  panels: [
    curves({
      title: 'Requests by route',
      meaning: 'Requests answered a second. Those that no route takes are in the access log only.',
      unit: 'reqps',
      queries: [by('route', answers)],
    }),
    curves({
      title: 'Requests by status',
      meaning: 'Requests answered a second, by class of status.',
      unit: 'reqps',
      queries: [by('status', answers)],
      isStacked: true,
    }),
    curves({
      title: 'Requests by method',
      meaning: 'Requests answered a second.',
      unit: 'reqps',
      queries: [by('method', answers)],
      isStacked: true,
    }),
    curves({
      title: 'In flight',
      meaning: 'Requests under way. At the same traffic they grow with latency.',
      unit: 'short',
      queries: [by('route', `weir_requests_in_flight{${ROUTE}}`)],
      width: 12,
    }),
    curves({
      title: 'Connections',
      meaning: 'Open connections of clients (downstream) and to endpoints. limits.connections bounds those of clients.',
      unit: 'short',
      queries: [by('side', `weir_connections{${GATEWAY}}`)],
      width: 12,
    }),
  ],
};

export const latencyRow: Row = {
  title: 'Latency',
  panels: [
    curves({
      title: 'Duration of requests',
      meaning: 'Time from the request to the end of its answer, slow clients included.',
      unit: 's',
      queries: percentiles('weir_request_duration_seconds', ROUTE),
      steps: WAIT,
    }),
    curves({
      title: 'p99 by route',
      meaning: 'Time from the request to the end of its answer.',
      unit: 's',
      queries: [percentile(99, 'weir_request_duration_seconds', ROUTE, 'route')],
      steps: WAIT,
    }),
    {
      kind: 'heatmap',
      title: 'Requests by duration',
      meaning: 'How many requests took how long. Two bands are two kinds of requests, or one bad endpoint.',
      unit: 'reqps',
      width: 8,
      queries: [by('le', rate('weir_request_duration_seconds_bucket', ROUTE))],
    },
    curves({
      title: 'Duration of attempts',
      meaning:
        'Time from an attempt to the head of its answer. Where requests take far longer, queues, bodies or clients are slow, not the service.',
      unit: 's',
      queries: percentiles('weir_upstream_duration_seconds', SERVICE),
      width: 12,
    }),
    curves({
      title: 'p99 of attempts by service',
      meaning: 'Time from an attempt to the head of its answer.',
      unit: 's',
      queries: [percentile(99, 'weir_upstream_duration_seconds', SERVICE, 'service')],
      width: 12,
    }),
  ],
};

export const errorRow: Row = {
  title: 'Errors and retries',
  panels: [
    curves({
      title: '5xx by route',
      meaning: 'Share of the answers that are 5xx.',
      unit: 'percentunit',
      queries: [{ expr: `sum by (route) (${errors}) / sum by (route) (${answers})`, legend: '{{route}}' }],
      steps: SHARE,
    }),
    curves({
      title: '4xx by route',
      meaning: 'Answers a second; what rate limits refuse is among them.',
      unit: 'reqps',
      queries: [by('route', rate('weir_requests_total', `${ROUTE}, status="4xx"`))],
    }),
    curves({
      title: 'Requests of no route',
      meaning: 'no_route: nothing matches, answered 404. refused: malformed, too large or too slow heads.',
      unit: 'reqps',
      queries: [by('reason', rate('weir_unrouted_requests_total', GATEWAY))],
      isStacked: true,
    }),
    curves({
      title: 'Failed attempts by outcome',
      meaning:
        'status: an answer whose status counts as a failure. truncated: one that broke off. The others are of the connection.',
      unit: 'ops',
      queries: [by('outcome', failedAttempts)],
      isStacked: true,
    }),
    curves({
      title: 'Failed attempts by endpoint',
      meaning: 'The ten worst. One alone: eject it. All alike: the service, or what it depends on.',
      unit: 'ops',
      queries: [
        { expr: `topk(10, sum by (service, endpoint) (${failedAttempts}))`, legend: '{{service}} {{endpoint}}' },
      ],
    }),
    curves({
      title: 'Retries',
      meaning: 'Attempts made again, by what had failed.',
      unit: 'ops',
      queries: [by('reason', rate('weir_retries_total', SERVICE))],
      isStacked: true,
    }),
    curves({
      title: 'Retries denied',
      meaning:
        'Attempts that the policy wanted again and that could not be: method (not repeatable), body (not kept), budget (so much fails that retries would only add load).',
      unit: 'ops',
      queries: [by('reason', rate('weir_retries_denied_total', SERVICE))],
      isStacked: true,
    }),
  ],
};
