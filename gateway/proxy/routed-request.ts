// A request that a route has taken, and what all requests of a worker share.
import type { AccessRecord } from '../core/access-record.ts';
import type { Clock } from '../core/clock.ts';
import type { RequestTrace } from '../core/tracing.ts';
import type { DegradedReason } from '../shared/degraded-words.ts';
import type { CompressedExchange } from './answers/compressed-exchange.ts';
import type { StaleCache } from './answers/stale-cache.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './routes/route.ts';
import type { LimitOutcome } from './routes/route-limits.ts';
import type { Upstream } from './upstream/upstream.ts';

export type TakeRecord = (record: AccessRecord, trace: RequestTrace | null) => void;

/** What all requests of a worker share. */
export interface TransactionServices {
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** Takes the record of every request, with its trace if it has one; null when nobody wants it. */
  readonly onFinished: TakeRecord | null;
  /** Null where no route answers from it. */
  readonly staleCache: StaleCache | null;
  readonly onDegraded: (service: string, reason: DegradedReason | null) => void;
}

/** Who sent a request, the id it goes by, and when its head was read. */
export interface RequestIdentity {
  readonly startedMs: number;
  readonly requestId: string;
  readonly client: string;
  /** How clients of the listener speak to it. */
  readonly scheme: 'http' | 'https';
  /** Null where nothing is traced. */
  readonly trace: RequestTrace | null;
}

/** A request as its route sends it upstream. */
export interface Described extends RequestIdentity {
  readonly route: Route;
  /** Whom the route's authentication has verified; null for nobody. */
  readonly user: string | null;
  readonly target: string;
  /** Field lines, each with its CRLF, without Host. */
  readonly lines: string;
  /** The number of the branch of the route's split. */
  readonly branch: number;
  /** Of its key, for consistent hashing. */
  readonly hash: number | undefined;
  /** What the route's rate limits say; null where it has none. */
  readonly limited: LimitOutcome | null;
}

/** Under what answers to the request are kept: routes and branches of a split may differ by more than Vary names. */
export function staleKey({ route, branch }: Described): string {
  return route.choice.branches.length === 1 ? route.name : `${route.name} ${branch}`;
}

/** A request that a route has taken. */
export interface RoutedRequest extends Described {
  readonly exchange: Exchange;
  /** The exchange where the route compresses; else null. */
  readonly compressed: CompressedExchange | null;
}
