// The metrics that a gateway has, with the labels of each, and the values that labels with fixed values may have.
import { sourceName } from '../../gateway/config/discovery-schema.ts';
import { systemClock } from '../../gateway/core/clock.ts';
import { OUTCOMES } from '../../gateway/core/failure.ts';
import { SPAN_FATES } from '../../gateway/core/tracing.ts';
import { CERTIFICATE_RELOADS } from '../../gateway/listener-certificates.ts';
import { ENDPOINT_STATES } from '../../gateway/pool/view.ts';
import { RELOAD_RESULTS } from '../../gateway/reloader.ts';
import { RETRY_DENIALS } from '../../gateway/resilience/retry.ts';
import { DEGRADED_REASONS } from '../../gateway/shared/degraded-words.ts';
import { EJECTION_TRIGGERS } from '../../gateway/shared/endpoint-cell.ts';
import { PROXY_HEADER_FAILURES, UNROUTED_REASONS } from '../../gateway/shared/gateway-cell.ts';
import { ACCESS_REFUSALS, DEGRADED_SOURCES, STATUS_CLASSES } from '../../gateway/shared/route-cell.ts';
import { RETRY_REASONS } from '../../gateway/shared/service-cell.ts';
import { QUERY_RESULTS } from '../../gateway/shared/source-cell.ts';
import { allocateTlsCell, HANDSHAKE_FAILURES, TLS_VERSIONS } from '../../gateway/shared/tls-cell.ts';
import { createMetrics } from '../../gateway/telemetry/metrics.ts';
import { readPromql } from './promql.ts';

/** Labels that every series gets when it is scraped. */
const SCRAPED: readonly string[] = ['job', 'instance'];

/** Labels with fixed values, by metric and label. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'weir_requests_total status': STATUS_CLASSES,
  'weir_upstream_attempts_total outcome': OUTCOMES,
  'weir_endpoints state': ENDPOINT_STATES,
  'weir_ejections_total reason': EJECTION_TRIGGERS,
  'weir_retries_total reason': RETRY_REASONS,
  'weir_retries_denied_total reason': RETRY_DENIALS,
  'weir_access_refused_total reason': ACCESS_REFUSALS,
  'weir_degraded_responses_total reason': DEGRADED_REASONS,
  'weir_degraded_responses_total source': DEGRADED_SOURCES,
  'weir_discovery_queries_total result': QUERY_RESULTS,
  'weir_discovery_queries_total source': ['static', ...sourceName.options],
  'weir_config_reloads_total result': RELOAD_RESULTS,
  'weir_tls_certificate_reloads_total result': CERTIFICATE_RELOADS,
  'weir_tls_handshakes_total version': TLS_VERSIONS,
  'weir_tls_handshakes_total resumed': ['true', 'false'],
  'weir_tls_handshake_failures_total reason': HANDSHAKE_FAILURES,
  'weir_unrouted_requests_total reason': UNROUTED_REASONS,
  'weir_proxy_header_failures_total reason': PROXY_HEADER_FAILURES,
  'weir_trace_spans_total result': SPAN_FATES,
  'weir_concurrency state': ['running', 'waiting'],
  'weir_connections side': ['downstream', 'upstream'],
};

/** The labels of every series by its name, those of histograms with `_bucket`, `_sum` and `_count`. */
export function knownSeries(): ReadonlyMap<string, readonly string[]> {
  const registry = createMetrics({
    state: () => {
      throw new Error('nobody scrapes');
    },
    snapshots: () => [],
    endpoints: () => [],
    routeCells: () => new Map(),
    sourceCells: () => new Map(),
    limitTable: () => null,
    reloads: () => [],
    quarantinedFiles: () => 0,
    tlsCell: allocateTlsCell(1),
    certificateReloads: () => [],
    clock: systemClock,
  });
  const series = new Map<string, readonly string[]>([['up', SCRAPED]]);
  for (const metric of registry.getMetricsAsArray()) {
    const labels = [...labelsOf(metric), ...SCRAPED];
    const isHistogram = 'buckets' in metric;
    if (!isHistogram) series.set(metric.name, labels);
    else
      for (const part of ['bucket', 'sum', 'count'])
        series.set(`${metric.name}_${part}`, [...labels, ...(part === 'bucket' ? ['le'] : [])]);
  }
  return series;
}

/** What is wrong with the metrics and labels of an expression, a sentence each; none when all of them exist. */
export function faultsOf(expr: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  const { selections, grouping } = readPromql(expr);
  if (selections.length === 0) return [`no metric in ${expr}`];
  const used = selections.flatMap(({ metric }) => known.get(metric) ?? []);
  return [
    ...selections.flatMap(({ metric, matchers }) => {
      const labels = known.get(metric);
      if (labels === undefined) return [`there is no metric ${metric}`];
      return matchers.flatMap(({ label, operator, value }) => {
        if (!labels.includes(label)) return [`${metric} has no label ${label}`];
        return unknownValues(`${metric} ${label}`, operator, value);
      });
    }),
    ...grouping.filter((label) => !used.includes(label)).map((label) => `no metric of ${expr} has the label ${label}`),
  ];
}

function unknownValues(place: string, operator: string, value: string): string[] {
  const values = VALUES[place];
  if (values === undefined)
    return SCRAPED.some((label) => place.endsWith(` ${label}`)) || value.startsWith('$')
      ? []
      : [`${place} has no fixed values`];
  const wanted = operator.includes('~') ? value.split('|') : [value];
  return wanted.filter((each) => !values.includes(each)).map((each) => `${place} is never ${each}`);
}

function labelsOf(metric: object): readonly string[] {
  const names = 'labelNames' in metric ? metric.labelNames : [];
  return Array.isArray(names) ? names.map(String) : [];
}
