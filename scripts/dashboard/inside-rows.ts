// The rows of the dashboard about what the gateway does: endpoints, degraded answers, discovery, limits, the process.
import { by, curves, GATEWAY, percentile, ROUTE, rate, SERVICE, SHARE, timeline } from './figures.ts';
import type { Row, Steps } from './grafana-panels.ts';

const AGE: Steps = [
  [null, 'green'],
  [300, 'orange'],
  [900, 'red'],
];
const LAG: Steps = [
  [null, 'green'],
  [0.1, 'orange'],
  [0.5, 'red'],
];

const degradedAnswers = rate('weir_degraded_responses_total', ROUTE);

export const endpointRow: Row = {
  title: 'Endpoints, ejections, breakers',
  panels: [
    curves({
      title: 'Endpoints by state',
      meaning:
        'active, warming and probing take traffic. unhealthy is what their source says, ejected what traffic does.',
      unit: 'short',
      queries: [by('state', `weir_endpoints{${SERVICE}}`)],
      isStacked: true,
    }),
    curves({
      title: 'Endpoints in use by service',
      meaning: 'Endpoints that take traffic. At 0 the fallback answers, or 503.',
      unit: 'short',
      queries: [by('service', `weir_endpoints{${SERVICE}, state=~"active|warming|probing"}`)],
    }),
    curves({
      title: 'Attempts by endpoint',
      meaning: 'The twenty busiest. Under weighted round robin their shares follow the weights.',
      unit: 'ops',
      queries: [
        {
          expr: `topk(20, sum by (service, endpoint) (${rate('weir_upstream_attempts_total', SERVICE)}))`,
          legend: '{{service}} {{endpoint}}',
        },
      ],
    }),
    curves({
      title: 'Ejections in 10 minutes',
      meaning: 'Endpoints set aside, by the rule that did it.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (service, reason) (increase(weir_ejections_total{${SERVICE}}[10m])) > 0`,
          legend: '{{service}} {{reason}}',
        },
      ],
    }),
    timeline({
      title: 'Breakers',
      meaning: 'Open: requests go to the fallback, or get 503. Half-open: a few requests probe.',
      unit: 'short',
      queries: [{ expr: `max by (service) (weir_breaker_state{${SERVICE}})`, legend: '{{service}}' }],
      names: { 0: ['closed', 'green'], 1: ['open', 'red'], 2: ['half-open', 'orange'] },
    }),
    curves({
      title: 'Breakers opened in 10 minutes',
      meaning: 'Again and again: the service as a whole fails.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (service) (increase(weir_breaker_opened_total{${SERVICE}}[10m])) > 0`,
          legend: '{{service}}',
        },
      ],
    }),
  ],
};

export const degradedRow: Row = {
  title: 'Degraded',
  panels: [
    timeline({
      title: 'Services',
      meaning: 'Degraded: the service answers without its pool, from its fallback.',
      unit: 'short',
      queries: [{ expr: `max by (service) (weir_degraded{${SERVICE}})`, legend: '{{service}}' }],
      names: { 0: ['its pool', 'green'], 1: ['degraded', 'red'] },
    }),
    curves({
      title: 'Degraded answers',
      meaning: 'Answers that did not come from the pool: what gave them, and why.',
      unit: 'reqps',
      queries: [{ expr: `sum by (source, reason) (${degradedAnswers}) > 0`, legend: '{{source}}: {{reason}}' }],
      isStacked: true,
    }),
    curves({
      title: 'Share of degraded answers',
      meaning: 'Of all answers of a route.',
      unit: 'percentunit',
      queries: [
        {
          expr: `sum by (route) (${degradedAnswers}) / sum by (route) (${rate('weir_requests_total', ROUTE)})`,
          legend: '{{route}}',
        },
      ],
      steps: SHARE,
    }),
  ],
};

export const discoveryRow: Row = {
  title: 'Discovery',
  panels: [
    curves({
      title: 'Age',
      meaning:
        'Time since the source last confirmed the pool. It grows to the wait of a blocking query, then falls to 0.',
      unit: 's',
      queries: [{ expr: `max by (service) (weir_discovery_age_seconds{${SERVICE}})`, legend: '{{service}}' }],
      steps: AGE,
    }),
    timeline({
      title: 'Stale',
      meaning: 'Stale: the last answer was none, or one that cannot be trusted; the last good pool serves.',
      unit: 'short',
      queries: [{ expr: `max by (service) (weir_discovery_stale{${SERVICE}})`, legend: '{{service}}' }],
      names: { 0: ['confirmed', 'green'], 1: ['stale', 'orange'] },
    }),
    curves({
      title: 'Queries',
      meaning: 'Questions to the sources a second, by how they ended.',
      unit: 'ops',
      queries: [
        {
          expr: `sum by (source, result) (${rate('weir_discovery_queries_total', GATEWAY)})`,
          legend: '{{source}} {{result}}',
        },
      ],
    }),
    curves({
      title: 'p99 of query time',
      meaning: 'A blocking query takes as long as it blocks: that is no fault.',
      unit: 's',
      queries: [percentile(99, 'weir_discovery_query_duration_seconds', GATEWAY, 'source')],
    }),
    curves({
      title: 'Changes of pools in 10 minutes',
      meaning: 'Much of it without deployments: instances that flap in the source.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (service) (increase(weir_discovery_updates_total{${SERVICE}}[10m])) > 0`,
          legend: '{{service}}',
        },
      ],
    }),
    curves({
      title: 'Term of the leader',
      meaning: 'Grows by one when another worker takes over discovery: a worker died, or stalled for 3s.',
      unit: 'short',
      queries: [{ expr: `weir_leader_term{${GATEWAY}}`, legend: '{{instance}}' }],
    }),
  ],
};

export const limitsRow: Row = {
  title: 'Limits',
  panels: [
    curves({
      title: 'Refused by rate limits',
      meaning: 'Requests a second that got 429.',
      unit: 'reqps',
      queries: [by('route', rate('weir_rate_limited_total', ROUTE))],
    }),
    curves({
      title: 'May not come in',
      meaning:
        'Requests a second, by what refused them: address, credentials, the service that is asked, or nobody knows.',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (route, reason) (${rate('weir_access_refused_total', ROUTE)}) > 0`,
          legend: '{{route}} {{reason}}',
        },
      ],
    }),
    curves({
      title: 'Concurrency',
      meaning: 'Requests of routes with a limit that run, and that wait for a place.',
      unit: 'short',
      queries: [{ expr: `sum by (route, state) (weir_concurrency{${ROUTE}}) > 0`, legend: '{{route}} {{state}}' }],
    }),
    curves({
      title: 'Evicted keys in 10 minutes',
      meaning: 'Keys of rate limits forgotten while they mattered: more are active than the table holds.',
      unit: 'short',
      queries: [{ expr: `increase(weir_rate_limit_evictions_total{${GATEWAY}}[10m])`, legend: '{{instance}}' }],
    }),
  ],
};

export const processRow: Row = {
  title: 'Process',
  panels: [
    curves({
      title: 'CPU',
      meaning: 'Cores in use, of all threads together.',
      unit: 'short',
      queries: [{ expr: rate('process_cpu_seconds_total', GATEWAY), legend: '{{instance}}' }],
    }),
    curves({
      title: 'Memory',
      meaning: 'Resident memory of the process; of the heaps only that of the main thread is known.',
      unit: 'bytes',
      queries: [
        { expr: `process_resident_memory_bytes{${GATEWAY}}`, legend: '{{instance}} resident' },
        { expr: `nodejs_heap_size_used_bytes{${GATEWAY}}`, legend: '{{instance}} main heap' },
      ],
    }),
    curves({
      title: 'File descriptors',
      meaning: 'Every connection takes one, on either side.',
      unit: 'percentunit',
      queries: [{ expr: `process_open_fds{${GATEWAY}} / process_max_fds{${GATEWAY}}`, legend: '{{instance}}' }],
      steps: [
        [null, 'green'],
        [0.8, 'red'],
      ],
    }),
    curves({
      title: 'Event loops of the workers',
      meaning: 'How late each ran at its last heartbeat: requests wait for it.',
      unit: 's',
      queries: [{ expr: `weir_worker_event_loop_lag_seconds{${GATEWAY}}`, legend: '{{instance}} worker {{worker}}' }],
      steps: LAG,
    }),
    curves({
      title: 'Event loop of the main thread',
      meaning: 'How late it is: it orders snapshots and answers the admin address.',
      unit: 's',
      queries: [
        { expr: `nodejs_eventloop_lag_p50_seconds{${GATEWAY}}`, legend: '{{instance}} p50' },
        { expr: `nodejs_eventloop_lag_p99_seconds{${GATEWAY}}`, legend: '{{instance}} p99' },
      ],
      steps: LAG,
    }),
    curves({
      title: 'Workers that died, log lines dropped',
      meaning: 'In 10 minutes. Both should be 0.',
      unit: 'short',
      queries: [
        { expr: `increase(weir_worker_restarts_total{${GATEWAY}}[10m])`, legend: '{{instance}} workers' },
        { expr: `increase(weir_log_lines_dropped_total{${GATEWAY}}[10m])`, legend: '{{instance}} log lines' },
      ],
    }),
    curves({
      title: 'Spans of traces',
      meaning: 'exported: the collector has them. failed: it could not be given them. dropped: no room to wait for it.',
      unit: 'ops',
      queries: [by('result', rate('weir_trace_spans_total', GATEWAY))],
      isStacked: true,
    }),
    curves({
      title: 'Files that are not in force as written',
      meaning: 'Quarantined: their last good version serves. /debug/config names them and their problems.',
      unit: 'short',
      queries: [{ expr: `weir_config_quarantined_files{${GATEWAY}}`, legend: '{{instance}}' }],
    }),
    curves({
      title: 'Reloads in 10 minutes',
      meaning: 'quarantined: a file is not in force as it is written, see /debug/config.',
      unit: 'short',
      queries: [
        {
          expr: `sum by (instance, result) (increase(weir_config_reloads_total{${GATEWAY}}[10m])) > 0`,
          legend: '{{instance}} {{result}}',
        },
      ],
    }),
  ],
};
