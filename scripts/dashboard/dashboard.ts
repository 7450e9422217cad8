// The Grafana dashboard: which figures of the gateway stand where, and what each of them means.
import { GATEWAY } from './figures.ts';
import { DATA_SOURCE, placed, type Row } from './grafana-panels.ts';
import { degradedRow, discoveryRow, endpointRow, limitsRow, processRow } from './inside-rows.ts';
import { tlsRow } from './tls-row.ts';
import { errorRow, latencyRow, overviewRow, trafficRow } from './traffic-rows.ts';

const ROWS: readonly Row[] = [
  overviewRow,
  trafficRow,
  latencyRow,
  errorRow,
  endpointRow,
  degradedRow,
  discoveryRow,
  limitsRow,
  tlsRow,
  processRow,
];

/** The dashboard as Grafana (11 or newer) imports it. */
export function grafanaDashboard(): object {
  return {
    title: 'Weir',
    uid: 'weir-gateway',
    description: 'A Weir gateway, or several: traffic, latency, errors, endpoints, discovery, limits, TLS, process.',
    tags: ['weir'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    templating: { list: VARIABLES },
    annotations: { list: ANNOTATIONS },
    panels: placed(ROWS),
  };
}

const VARIABLES: readonly object[] = [
  { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {}, refresh: 1 },
  labelVariable('job', 'Job', 'label_values(weir_leader_term, job)'),
  labelVariable('instance', 'Gateway', 'label_values(weir_leader_term{job=~"$job"}, instance)'),
  labelVariable('route', 'Route', `label_values(weir_requests_in_flight{${GATEWAY}}, route)`),
  labelVariable('service', 'Service', `label_values(weir_degraded{${GATEWAY}}, service)`),
];

const ANNOTATIONS: readonly object[] = [
  mark('Configuration applied', 'blue', `increase(weir_config_reloads_total{${GATEWAY}, result="applied"}[1m]) > 0`),
  mark('Worker died', 'red', `increase(weir_worker_restarts_total{${GATEWAY}}[1m]) > 0`),
];

function labelVariable(name: string, label: string, query: string): object {
  return {
    name,
    label,
    type: 'query',
    datasource: DATA_SOURCE,
    definition: query,
    query: { query, refId: name },
    includeAll: true,
    allValue: '.*',
    multi: true,
    current: { text: ['All'], value: ['$__all'] },
    refresh: 2,
    sort: 1,
  };
}

function mark(name: string, iconColor: string, expr: string): object {
  return {
    name,
    iconColor,
    expr,
    datasource: DATA_SOURCE,
    enable: true,
    titleFormat: name,
    textFormat: '{{instance}}',
    step: '30s',
  };
}
