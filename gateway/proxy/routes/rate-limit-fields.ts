// What answers say of rate limits: RateLimit-Policy, RateLimit (draft-ietf-httpapi-ratelimit-headers-11), Retry-After.
import type { LimitVerdict, RateLimit } from '../../resilience/rate-limit.ts';

/** A limit under the name that clients see. */
export interface NamedLimit {
  /** Unique among the limits of a route; characters that a field cannot carry become `_`. */
  readonly name: string;
  readonly limit: RateLimit;
}

/** The fields of the limits of one route; prepared once. */
export interface RateLimitFields {
  /** The RateLimit-Policy line with its CRLF; empty without limits. */
  readonly policyLine: string;
  /** How the item of each limit begins, up to its remaining quota. */
  readonly items: readonly string[];
}

/**
 * Prepares the fields. A policy is the rate: `q` requests in `w` whole seconds. What the draft has no word for are
 * parameters of Weir's own: `weir-burst` for a token bucket whose burst is not its count, `weir-queue` for the requests
 * that may wait in a leaky bucket.
 */
export function prepareRateLimitFields(limits: readonly NamedLimit[]): RateLimitFields {
  const policies = limits.map(({ name, limit }) => `${quoted(name)}${rateOf(limit)}${extraOf(limit)}`);
  const policyLine = policies.length === 0 ? '' : `RateLimit-Policy: ${policies.join(', ')}\r\n`;
  return { policyLine, items: limits.map(({ name }) => `${quoted(name)};r=`) };
}

/** The RateLimit line with its CRLF, an item for each limit; `verdicts` are those of the request. */
export function rateLimitLine(fields: RateLimitFields, verdicts: readonly LimitVerdict[]): string {
  const { items } = fields;
  let line = '';
  for (let at = 0; at < items.length; at++) {
    const verdict = verdicts[at];
    if (verdict === undefined) break;
    line += `${at === 0 ? 'RateLimit: ' : ', '}${items[at]}${verdict.remaining};t=${wholeSeconds(verdict.resetMs)}`;
  }
  return line === '' ? '' : `${line}\r\n`;
}

/** Seconds for Retry-After of a request that can succeed after `waitMs`: rounded up, at least 1. */
export function retryAfterSeconds(waitMs: number): number {
  return wholeSeconds(waitMs);
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** A quota over whole seconds, the only windows that the draft knows. */
function rateOf({ count, periodMs }: RateLimit): string {
  const seconds = wholeSeconds(periodMs);
  return `;q=${Math.floor((count * 1000 * seconds) / periodMs)};w=${seconds}`;
}

function extraOf(limit: RateLimit): string {
  switch (limit.algorithm) {
    case 'token_bucket':
      return limit.burst === limit.count ? '' : `;weir-burst=${limit.burst}`;
    case 'leaky_bucket':
      return `;weir-queue=${limit.burst}`;
    case 'sliding_window':
      return '';
  }
}

/** A String of RFC 9651. */
function quoted(name: string): string {
  return `"${name.replaceAll(/[^\x20-\x7e]/gu, '_').replaceAll(/["\\]/g, '\\$&')}"`;
}
