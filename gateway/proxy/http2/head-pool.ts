// Parsers for the heads of requests: each is in use as long as its request, many are at a time.
import type { HeadLimits } from '../../http1/head-limits.ts';
import { RequestHead } from '../../http1/request-head.ts';

/** More are not kept. */
const MAX_KEPT = 256;

const pools = new WeakMap<HeadLimits, RequestHead[]>();

/** A parser for a head within these limits. */
export function takeHead(limits: HeadLimits): RequestHead {
  return pools.get(limits)?.pop() ?? new RequestHead(limits);
}

/** The request is over: its fields are nobody's any more. */
export function returnHead(limits: HeadLimits, head: RequestHead): void {
  const pool = pools.get(limits) ?? [];
  if (pool.length === 0) pools.set(limits, pool);
  if (pool.length >= MAX_KEPT) return;
  // Lets go of the text.
  head.fields.parse('', 0, 0);
  pool.push(head);
}
