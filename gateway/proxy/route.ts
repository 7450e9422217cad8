// A route as the request path uses it: everything that its file fixes, prepared once.
import type { RouteConfig } from '../config/route-schema.ts';
import { formatAddress } from '../core/address.ts';
import type { Pool } from '../pool/pool.ts';
import { RouteCell } from '../shared/route-cell.ts';
import type { DegradedReason } from '../shared/service-cell.ts';
import { type FieldRewrite, prepareFieldRewrite } from './forwarded-fields.ts';
import type { UpstreamTarget } from './upstream.ts';

/** One step of a fallback chain. */
export type FallbackStep =
  | { readonly kind: 'upstream'; readonly targets: readonly UpstreamTarget[] }
  | { readonly kind: 'respond'; readonly status: number; readonly lines: string; readonly content: Buffer };

export interface Route {
  readonly name: string;
  readonly service: string;
  readonly pool: Pool;
  readonly counts: RouteCell;
  readonly config: RouteConfig;
  readonly maxBodyBytes: number;
  readonly requestRewrite: FieldRewrite;
  readonly responseRewrite: FieldRewrite;
  /** null where the endpoints speak plain HTTP. */
  readonly tls: { readonly servername: string } | null;
  /** Statuses that count against the endpoint, and those for which another one is tried. */
  readonly failureStatuses: ReadonlySet<number>;
  readonly retryStatuses: ReadonlySet<number>;
  readonly fallback: { readonly on: ReadonlySet<DegradedReason>; readonly chain: readonly FallbackStep[] } | null;
}

export interface RouteParts {
  readonly config: RouteConfig;
  readonly pool: Pool;
  readonly cell: SharedArrayBuffer;
  readonly lane: number;
  /** The gateway's own limit, for routes that name none. */
  readonly maxBodyBytes: number;
}

/** Prepares a route for the request path. */
export function prepareRoute({ config, pool, cell, lane, maxBodyBytes }: RouteParts): Route {
  const { fallback } = config;
  return {
    name: config.name,
    service: config.service,
    pool,
    counts: new RouteCell(cell, lane),
    config,
    maxBodyBytes: config.bodyBytes ?? maxBodyBytes,
    requestRewrite: prepareFieldRewrite(config.rewrite.requestHeaders),
    responseRewrite: prepareFieldRewrite(config.rewrite.responseHeaders),
    tls: config.protocol === 'https' ? { servername: servernameOf(config.rewrite.host) } : null,
    failureStatuses: new Set(config.ejection.statuses),
    retryStatuses: new Set(config.retry.statuses),
    fallback: fallback === null ? null : { on: new Set(fallback.on), chain: fallback.chain.map(prepareStep) },
  };
}

function prepareStep(step: NonNullable<RouteConfig['fallback']>['chain'][number]): FallbackStep {
  if (step.kind === 'upstream') {
    const targets = step.origins.map(({ host, port }) => ({ key: formatAddress(host, port), host, port }));
    return { kind: 'upstream', targets };
  }
  const content = Buffer.from(step.body);
  const lines = `Content-Type: ${step.contentType}\r\nContent-Length: ${content.length}\r\nCache-Control: no-store\r\n`;
  return { kind: 'respond', status: step.status, lines, content };
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
