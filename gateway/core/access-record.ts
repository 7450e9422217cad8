// What is known of a request when it has ended: the matter of one line of the access log.
import type { Outcome } from './failure.ts';

/** One try at one endpoint. */
export interface AttemptRecord {
  readonly endpoint: string;
  readonly outcome: Outcome;
  readonly ms: number;
}

export interface AccessRecord {
  readonly requestId: string;
  /** Absent where nothing is traced. */
  readonly traceId?: string | undefined;
  readonly client: string;
  /** Whom the route's authentication has verified, never what a client claims; null for nobody. */
  readonly user: string | null;
  readonly method: string;
  /** The HTTP version, like 1.1; empty when there was no valid request. */
  readonly version: string;
  /** How the client speaks to the listener, whatever a proxy says of the way before it. */
  readonly scheme: 'http' | 'https';
  readonly host: string;
  /** Without the query. */
  readonly path: string;
  /** 0 when the client left before there was an answer. */
  readonly status: number;
  /** Bytes of content sent to the client. */
  readonly bytes: number;
  readonly durationMs: number;
  readonly route: string | null;
  readonly service: string | null;
  /** The branch of the route's split that served it; null without a split. */
  readonly branch: string | null;
  readonly attempts: readonly AttemptRecord[];
  /** `<reason>; source=<source>` for a degraded answer. */
  readonly degraded: string | null;
  /** The situation for which Weir answered itself, or what broke the exchange off. */
  readonly error: string | null;
  readonly userAgent: string | null;
}
