// The metrics of the process: the leader, the workers, the connections and the log.
import type { Registry } from 'prom-client';
import type { GatewayState } from '../core/gateway-state.ts';
import { limitEvictions } from '../shared/limit-table.ts';
import { counter, gauge } from './metric-kinds.ts';

export interface ProcessMetricsSources {
  readonly state: () => GatewayState;
  readonly limitTable: () => SharedArrayBuffer | null;
  readonly reloads: () => readonly { readonly result: string; readonly count: number }[];
  readonly quarantinedFiles: () => number;
}

/** Registers them. */
export function processMetrics(
  registry: Registry,
  { state, limitTable, reloads, quarantinedFiles }: ProcessMetricsSources,
): void {
  gauge(registry, {
    name: 'weir_leader_term',
    help: 'The term of the leader; grows with every change',
    read: () => [[state().leader.term]],
  });
  counter(registry, {
    name: 'weir_worker_restarts_total',
    help: 'Workers that were replaced',
    read: () => [[state().workerRestarts]],
  });
  counter(registry, {
    name: 'weir_log_lines_dropped_total',
    help: 'Lines of the log that could not be written',
    read: () => [[state().logLinesDropped]],
  });
  counter(registry, {
    name: 'weir_rate_limit_evictions_total',
    help: 'Keys of rate limits that were forgotten while they mattered, for want of room',
    read: () => {
      const table = limitTable();
      return [[table === null ? 0 : limitEvictions(table)]];
    },
  });
  counter(registry, {
    name: 'weir_config_reloads_total',
    help: 'Reloads of the configuration by what came of them',
    labels: ['result'],
    read: () => reloads().map(({ result, count }) => [count, { result }]),
  });
  counter(registry, {
    name: 'weir_unrouted_requests_total',
    help: 'Requests of no route: none matched them, or they were refused before',
    labels: ['reason'],
    read: () => state().unrouted.map(({ reason, count }) => [count, { reason }]),
  });
  counter(registry, {
    name: 'weir_proxy_header_failures_total',
    help: 'Connections of peers in proxyProtocol that were closed for want of a valid PROXY header',
    labels: ['reason'],
    read: () => state().proxyHeaderFailures.map(({ reason, count }) => [count, { reason }]),
  });
  counter(registry, {
    name: 'weir_trace_spans_total',
    help: 'Spans of traces: exported, failed to be exported, or dropped for want of room',
    labels: ['result'],
    read: () => state().spans.map(({ fate, count }) => [count, { result: fate }]),
  });
  gauge(registry, {
    name: 'weir_worker_event_loop_lag_seconds',
    help: 'How late the event loop of a worker ran at its last heartbeat',
    labels: ['worker'],
    read: () => state().workers.map(({ id, eventLoopLagMs }) => [eventLoopLagMs / 1000, { worker: String(id) }]),
  });
  gauge(registry, {
    name: 'weir_config_quarantined_files',
    help: 'Configuration files that are not in force as they are written',
    read: () => [[quarantinedFiles()]],
  });
  gauge(registry, {
    name: 'weir_connections',
    help: 'Open connections',
    labels: ['side'],
    read: () => {
      const { workers } = state();
      return [
        [workers.reduce((sum, { connections }) => sum + connections, 0), { side: 'downstream' }],
        [workers.reduce((sum, { upstreamConnections }) => sum + upstreamConnections, 0), { side: 'upstream' }],
      ];
    },
  });
}
