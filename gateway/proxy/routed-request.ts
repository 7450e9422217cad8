// A request that a route has taken, and what all requests of a worker share.
import type { AccessRecord } from '../core/access-record.ts';
import type { Clock } from '../core/clock.ts';
import type { DegradedReason } from '../shared/service-cell.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './route.ts';
import type { Upstream } from './upstream.ts';

/** What all requests of a worker share. */
export interface TransactionServices {
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** Takes the record of every request; null when nobody wants it. */
  readonly onFinished: ((record: AccessRecord) => void) | null;
  readonly onDegraded: (service: string, reason: DegradedReason | null) => void;
}

/** A request that a route has taken. */
export interface RoutedRequest {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly requestId: string;
  readonly client: string;
  /** The target as it goes upstream. */
  readonly target: string;
  /** The field lines as they go upstream, each with its CRLF, without Host. */
  readonly lines: string;
}
