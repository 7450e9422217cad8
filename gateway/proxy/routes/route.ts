// A route as the request path uses it: everything that its file fixes, prepared once.
import type { Gatekeeper } from '../../access/gatekeeper.ts';
import type { RouteConfig } from '../../config/route-schema.ts';
import type { Pool } from '../../pool/pool.ts';
import type { CellPlace } from '../../shared/cell.ts';
import type { DegradedReason } from '../../shared/degraded-words.ts';
import type { LimitTable } from '../../shared/limit-table.ts';
import { RouteCell } from '../../shared/route-cell.ts';
import { type Compression, prepareCompression } from '../answers/compression.ts';
import { prepareSecurityHeaders, type SecurityHeaders } from '../answers/security-headers.ts';
import { type FieldRewrite, prepareFieldRewrite } from '../forwarded-fields.ts';
import type { UpstreamTarget } from '../upstream/upstream.ts';
import { ConcurrencyGate } from './concurrency-gate.ts';
import { RouteChoice } from './route-choice.ts';
import { RouteLimits } from './route-limits.ts';

/** One step of a fallback chain. */
export type FallbackStep =
  | { readonly kind: 'stale'; readonly maxAgeMs: number }
  | { readonly kind: 'upstream'; readonly targets: readonly UpstreamTarget[] }
  | {
      readonly kind: 'respond';
      readonly status: number;
      readonly lines: string;
      readonly content: Buffer;
      /** The media type without parameters. */
      readonly mediaType: string;
    };

export interface Route {
  readonly name: string;
  readonly service: string;
  readonly pool: Pool;
  readonly choice: RouteChoice;
  /** Null where there are none. */
  readonly limits: RouteLimits | null;
  readonly gate: ConcurrencyGate | null;
  /** Whether good answers are kept for the fallback. */
  readonly keepsStale: boolean;
  readonly counts: RouteCell;
  /** Null where nobody is checked, nothing is taken out of requests, and answers get no CORS fields. */
  readonly gatekeeper: Gatekeeper | null;
  /** Null where answers go as they are. */
  readonly compression: Compression | null;
  /** Null where the service says all. */
  readonly securityHeaders: SecurityHeaders | null;
  readonly config: RouteConfig;
  readonly maxBodyBytes: number;
  readonly requestRewrite: FieldRewrite;
  readonly responseRewrite: FieldRewrite;
  /** Whether the endpoints speak HTTP/2. */
  readonly isHttp2: boolean;
  /** null where the endpoints speak without TLS. */
  readonly tls: { readonly servername: string } | null;
  /** Statuses that count against the endpoint, and those for which another one is tried. */
  readonly failureStatuses: ReadonlySet<number>;
  readonly retryStatuses: ReadonlySet<number>;
  readonly fallback: { readonly on: ReadonlySet<DegradedReason>; readonly chain: readonly FallbackStep[] } | null;
}

export interface RouteParts {
  readonly config: RouteConfig;
  readonly pool: Pool;
  readonly cell: CellPlace;
  readonly lane: number;
  readonly gatekeeper: Gatekeeper | null;
  /** For the rate limits; null where no route has any. */
  readonly limitTable: LimitTable | null;
  /** The target for a server of a fallback, the same for the same address. */
  readonly targetOf: (host: string, port: number) => UpstreamTarget;
  /** The gateway's own limit, for routes that name none. */
  readonly maxBodyBytes: number;
}

/** Prepares a route for the request path. */
export function prepareRoute(parts: RouteParts): Route {
  const { config, pool, cell, lane, gatekeeper, limitTable, targetOf, maxBodyBytes } = parts;
  const { fallback, concurrency, rateLimit } = config;
  const counts = new RouteCell(cell, lane);
  const securityHeaders = config.securityHeaders === null ? null : prepareSecurityHeaders(config.securityHeaders);
  return {
    name: config.name,
    service: config.service,
    pool,
    choice: new RouteChoice(config, pool, counts),
    limits: limitTable === null || rateLimit.length === 0 ? null : new RouteLimits(config, limitTable),
    gate: concurrency === null ? null : new ConcurrencyGate(counts, concurrency),
    keepsStale: fallback?.chain.some(({ kind }) => kind === 'stale') ?? false,
    counts,
    gatekeeper,
    compression: config.compress === null ? null : prepareCompression(config.compress),
    securityHeaders,
    config,
    maxBodyBytes: config.bodyBytes ?? maxBodyBytes,
    requestRewrite: prepareFieldRewrite(config.rewrite.requestHeaders, gatekeeper?.ownFields),
    responseRewrite: prepareFieldRewrite(config.rewrite.responseHeaders, [
      ...(gatekeeper?.cors?.dropResponseFields ?? []),
      ...(securityHeaders?.dropResponseFields ?? []),
    ]),
    isHttp2: speaksHttp2(config),
    tls:
      config.protocol === 'https' || config.protocol === 'h2'
        ? { servername: servernameOf(config.rewrite.host) }
        : null,
    failureStatuses: new Set(config.ejection.statuses),
    retryStatuses: new Set(config.retry.statuses),
    fallback:
      fallback === null
        ? null
        : { on: new Set(fallback.on), chain: fallback.chain.map((step) => prepareStep(step, targetOf)) },
  };
}

function prepareStep(
  step: NonNullable<RouteConfig['fallback']>['chain'][number],
  targetOf: RouteParts['targetOf'],
): FallbackStep {
  if (step.kind === 'upstream') {
    return { kind: 'upstream', targets: step.origins.map(({ host, port }) => targetOf(host, port)) };
  }
  if (step.kind === 'stale') return step;
  const content = Buffer.from(step.content);
  // A 204 or 304 has neither content nor a length of it (RFC 9110 section 8.6).
  const length = step.status === 204 || step.status === 304 ? '' : `Content-Length: ${content.length}\r\n`;
  const lines = `Content-Type: ${step.contentType}\r\n${length}Cache-Control: no-store\r\n`;
  const [mediaType = ''] = step.contentType.toLowerCase().split(';');
  return { kind: 'respond', status: step.status, lines, content, mediaType: mediaType.trim() };
}

/** Whether the endpoints of a route speak HTTP/2. */
export function speaksHttp2({ protocol }: Pick<RouteConfig, 'protocol'>): boolean {
  return protocol === 'h2' || protocol === 'h2c';
}

/** The name that all endpoints share if the route gives one; otherwise each endpoint's own counts. */
function servernameOf(host: RouteConfig['rewrite']['host']): string {
  return typeof host === 'string' ? '' : host.literal.replace(/:\d+$/, '');
}

/** The Host field for an attempt. */
export function hostFor(route: Route, received: string, endpoint: string): string {
  const { host } = route.config.rewrite;
  if (host === 'client') return received;
  return host === 'upstream' ? endpoint : host.literal;
}
