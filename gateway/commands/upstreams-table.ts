// The pools of a running gateway as lines for a terminal.
import type { ServiceDocument } from '../admin/upstreams-document.ts';
import { printable } from '../core/printable.ts';
import type { EndpointView } from '../pool/view.ts';
import { listenerLines } from './listener-lines.ts';
import { alignRows, type Cell, type Paint, type Style } from './terminal.ts';
import type { UpstreamsPage } from './upstreams-page.ts';

const STATE_STYLES: Readonly<Record<string, Style>> = {
  active: 'green',
  warming: 'yellow',
  probing: 'yellow',
  draining: 'cyan',
  ejected: 'red',
  unhealthy: 'red',
  healthy: 'green',
  stale: 'yellow',
  empty: 'red',
  open: 'red',
  half_open: 'yellow',
};

const COLUMNS: readonly Cell[] = [
  { text: '  ENDPOINT' },
  { text: 'WEIGHT', isNumber: true },
  { text: 'STATE' },
  { text: 'IN-FLIGHT', isNumber: true },
  { text: 'REQUESTS', isNumber: true },
  { text: 'FAILURES', isNumber: true },
  { text: 'LATENCY', isNumber: true },
  { text: 'WHY' },
];

/** The lines: one about the gateway, then each of the services with its endpoints, all columns of a width. */
export function upstreamsLines(page: UpstreamsPage, services: readonly ServiceDocument[], paint: Paint): string[] {
  const { startedAt, uptimeSeconds } = page.gateway;
  const nowMs = Date.parse(startedAt) + uptimeSeconds * 1000;
  const rows = services.map(({ endpoints }) => endpoints.map((endpoint) => endpointCells(endpoint, nowMs)));
  const [header = '', ...aligned] = alignRows(
    [COLUMNS.map((cell) => ({ ...cell, style: 'dim' as const })), ...rows.flat()],
    paint,
  );
  const lines = [gatewayLine(page), ...listenerLines(page.gateway.listeners, nowMs, paint), '', header];
  let at = 0;
  for (const service of services) {
    const end = at + service.endpoints.length;
    lines.push(serviceLine(service, paint), ...troubleLines(service, nowMs).map((line) => paint(line, 'yellow')));
    lines.push(...aligned.slice(at, end), '');
    at = end;
  }
  return page.services.length === 0 ? [...lines, 'no route has a service'] : lines.slice(0, -1);
}

function gatewayLine({ gateway, snapshot }: UpstreamsPage): string {
  const { version, pid, uptimeSeconds, workers, leader } = gateway;
  const leads = leader.worker === null ? 'nobody leads discovery' : `worker ${leader.worker} leads discovery`;
  const from = snapshot.from === null ? '' : ` from ${snapshot.from}`;
  const crew = `${workers.length} worker${workers.length === 1 ? '' : 's'}`;
  return printable(
    `weir ${version}, pid ${pid}, up ${spanWords(uptimeSeconds)}, ${crew}, ${leads}, snapshot ${snapshot.version}${from}`,
  );
}

function serviceLine({ service, state, source, ageSeconds, policy, breaker }: ServiceDocument, paint: Paint): string {
  const age = ageSeconds === null ? 'no answer yet' : `${ageSeconds} s ago`;
  return [
    paint(printable(service), 'bold'),
    painted(state, paint),
    printable(source === 'static' ? source : `${source}, ${age}`),
    printable(policy),
    ...(breaker === 'off' ? [] : [`breaker ${painted(breaker, paint)}`]),
  ].join('  ');
}

/** What an operator should know of a service, a line each. */
function troubleLines(service: ServiceDocument, nowMs: number): string[] {
  const { lastError, maintenance, breakerUntil, degradedSince, degradedReason, skippedRecords, endpoints } = service;
  const lines = [
    ...(maintenance === null
      ? []
      : [`in maintenance since ${maintenance.since}: ${maintenance.reason || 'no reason given'}`]),
    ...(degradedSince === null ? [] : [`degraded since ${degradedSince}: ${degradedReason}`]),
    ...(breakerUntil === null ? [] : [`the breaker lets nothing through, ${leftWords(breakerUntil, nowMs)}`]),
    ...(lastError === null ? [] : [`discovery fails: ${lastError}`]),
    ...(skippedRecords === 0 ? [] : [`${skippedRecords} records of its source cannot be used`]),
    ...(endpoints.length === 0 ? ['no endpoints'] : []),
  ];
  return lines.map((line) => `  ${printable(line)}`);
}

function endpointCells(endpoint: EndpointView, nowMs: number): Cell[] {
  const { weight, effectiveWeight, state, inFlight, requests, failures, latencyMs, why, until } = endpoint;
  const left = until === null ? '' : `, ${leftWords(until, nowMs)}`;
  return [
    { text: `  ${printable(endpoint.endpoint)}` },
    { text: `${weight}/${effectiveWeight}`, isNumber: true },
    { text: printable(state), style: STATE_STYLES[state] ?? null },
    { text: String(inFlight), isNumber: true },
    { text: String(requests), isNumber: true },
    { text: String(failures), isNumber: true, style: failures > 0 ? 'yellow' : null },
    { text: latencyMs === null ? '-' : `${latencyMs} ms`, isNumber: true },
    { text: why === null ? '' : printable(`${why}${left}`) },
  ];
}

function painted(word: string, paint: Paint): string {
  return paint(printable(word), STATE_STYLES[word] ?? null);
}

/** How long it is until then, by the clock of the gateway. */
function leftWords(until: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(until) - nowMs) / 1000);
  return seconds > 0 ? `for ${spanWords(seconds)} more` : 'its time is up';
}

/** Like `12s`, `3m 12s`, `2h 5m`, `3d 4h`. */
function spanWords(seconds: number): string {
  const whole = Math.floor(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
  return `${Math.floor(whole / 86_400)}d ${Math.floor((whole % 86_400) / 3600)}h`;
}
