// What spans tell, in the words of the OpenTelemetry semantic conventions for HTTP (1.40), and a few of Weir's own.
import { type Attributes, type SpanStatus, SpanStatusCode } from '@opentelemetry/api';
import type { AccessRecord } from '../core/access-record.ts';
import { isFailure, type Outcome } from '../core/failure.ts';
import type { AttemptTarget, TraceArrival } from '../core/tracing.ts';

/** What a span tells when it ends. */
export interface SpanEnd {
  readonly attributes: Attributes;
  readonly status: SpanStatus;
}

const KNOWN_METHODS: ReadonlySet<string> = new Set([
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY'],
]);

const LONGEST_TEXT = 1024;
const UNSET: SpanStatus = { code: SpanStatusCode.UNSET };
const ERROR: SpanStatus = { code: SpanStatusCode.ERROR };

/** The name of the span of a request: few names, whatever clients send. */
export function requestSpanName(method: string, route: string | null): string {
  const verb = KNOWN_METHODS.has(method) ? method : 'HTTP';
  return route === null ? verb : `${verb} ${route}`;
}

/** The attributes of the span of a request (SERVER), which ended as `record` says. */
export function requestSpanEnd({ peerAddress, scheme }: TraceArrival, record: AccessRecord): SpanEnd {
  const { status, error, route, service, branch, degraded, userAgent } = record;
  // That a client left is no error of the gateway.
  const isBroken = error !== null && error !== 'client_gone' && (status === 0 || status < 400);
  const isError = status >= 500 || isBroken;
  const attributes: Attributes = {
    ...methodAttributes(record.method),
    ...authorityAttributes(record.host),
    'url.scheme': scheme,
    'url.path': cut(record.path),
    'network.protocol.version': record.version,
    'network.peer.address': peerAddress,
    'client.address': record.client,
    'weir.request_id': record.requestId,
    'weir.attempts': record.attempts.length,
  };
  if (userAgent !== null) attributes['user_agent.original'] = cut(userAgent);
  if (status !== 0) attributes['http.response.status_code'] = status;
  if (isError) attributes['error.type'] = error ?? String(status);
  if (route !== null) attributes['weir.route'] = route;
  if (service !== null) attributes['weir.service'] = service;
  if (branch !== null) attributes['weir.branch'] = branch;
  if (degraded !== null) attributes['weir.degraded'] = degraded;
  if (error !== null) attributes['weir.error'] = error;
  return { attributes, status: isError ? ERROR : UNSET };
}

/** The attributes of the span of an attempt (CLIENT) when it begins; `resends` counts the sendings before it. */
export function attemptAttributes(method: string, to: AttemptTarget, resends: number): Attributes {
  const { key, host, port, isTls, target } = to;
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  const scheme = isTls ? 'https' : 'http';
  return {
    ...methodAttributes(method),
    ...(resends > 0 && { 'http.request.resend_count': resends }),
    'server.address': host,
    'server.port': port,
    'url.scheme': scheme,
    // Queries carry secrets now and then.
    'url.full': cut(`${scheme}://${key}${path}`),
  };
}

/** What is added at the end of an attempt; `status` is 0 when there was no answer. */
export function attemptSpanEnd(status: number, outcome: Outcome): SpanEnd {
  const attributes: Attributes = { 'weir.outcome': outcome };
  if (status !== 0) attributes['http.response.status_code'] = status;
  const isError = status >= 400 || isFailure(outcome);
  if (!isError) return { attributes, status: UNSET };
  const hasBadStatus = outcome === 'success' || outcome === 'status' || outcome === 'client_gone';
  attributes['error.type'] = hasBadStatus ? String(status) : outcome;
  return { attributes, status: ERROR };
}

function methodAttributes(method: string): Attributes {
  if (KNOWN_METHODS.has(method)) return { 'http.request.method': method };
  return { 'http.request.method': '_OTHER', 'http.request.method_original': cut(method) };
}

/** Of `shop.example.com:8443`, `[::1]:80` and the like. */
function authorityAttributes(authority: string): Attributes {
  const [, host, port] = /^(.+?)(?::(\d{1,5}))?$/.exec(cut(authority)) ?? [];
  if (host === undefined) return {};
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return port === undefined
    ? { 'server.address': address }
    : { 'server.address': address, 'server.port': Number(port) };
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}
