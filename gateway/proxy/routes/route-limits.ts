// The rate limits of a route: what each request counts under, and what its answer says of them.
import type { RouteConfig } from '../../config/route-schema.ts';
import { compileLimit, type LimitOptions, type RateLimit } from '../../resilience/rate-limit.ts';
import { limitKeyOfIp } from '../../resilience/rate-limit-key.ts';
import type { LimitTable } from '../../shared/limit-table.ts';
import type { RequestDescription } from '../exchange.ts';
import { prepareRateLimitFields, type RateLimitFields, rateLimitLine, retryAfterSeconds } from './rate-limit-fields.ts';
import { type KeyPart, requestKey } from './request-key.ts';

/** What the limits say of one request. */
export interface LimitOutcome {
  /** Milliseconds to wait before it goes on; 0 for at once; below 0 it is refused. */
  readonly delayMs: number;
  /** Field lines for its answer, each with its CRLF. */
  readonly lines: string;
}

export class RouteLimits {
  readonly #table: LimitTable;
  readonly #limits: readonly RateLimit[];
  readonly #parts: readonly KeyPart[];
  /** The keys of the request at hand: one list for all of them. */
  readonly #keys: string[];
  readonly #fields: RateLimitFields;

  constructor({ name: route, rateLimit }: Pick<RouteConfig, 'name' | 'rateLimit'>, table: LimitTable) {
    this.#table = table;
    const names = rateLimit.map((limit, at) => nameOf(limit, at, rateLimit.length));
    this.#limits = rateLimit.map((limit, at) => compileLimit(optionsOf(limit, `${route} ${names[at]}`)));
    this.#parts = rateLimit.map(({ key, name }) => ({ on: key, name }));
    this.#keys = rateLimit.map(() => '');
    this.#fields = prepareRateLimitFields(this.#limits.map((limit, at) => ({ limit, name: names[at] ?? String(at) })));
  }

  /** Counts a request under all limits, or under none when one refuses. Requests without a key count together. */
  take(request: Pick<RequestDescription, 'target' | 'header'>, client: string, nowMs: number): LimitOutcome {
    for (let at = 0; at < this.#parts.length; at++) {
      const part = this.#parts[at];
      if (part === undefined) continue;
      this.#keys[at] = part.on === 'client_ip' ? limitKeyOfIp(client) : (requestKey(part, request, client) ?? '');
    }
    const delayMs = this.#table.takeAll(this.#limits, this.#keys, nowMs);
    const lines = this.#fields.policyLine + rateLimitLine(this.#fields, this.#table.verdicts);
    return { delayMs, lines: delayMs < 0 ? `${lines}Retry-After: ${retryAfterSeconds(-delayMs)}\r\n` : lines };
  }
}

type Configured = RouteConfig['rateLimit'][number];

function optionsOf({ algorithm, count, periodMs, burst }: Configured, id: string): LimitOptions {
  if (algorithm === 'sliding_window') return { algorithm, id, count, periodMs };
  return { algorithm, id, count, periodMs, ...(burst !== null && { burst }) };
}

/** What clients see: by what it counts, numbered where there are several. */
function nameOf({ key, name }: Configured, at: number, of: number): string {
  const word = name === null ? key : `${key}:${name}`;
  return of === 1 ? word : `${at + 1}:${word}`;
}
