// What a gateway under comparison is told, and how it is started: equal features for each, or a word on why not.
import type { Certificate } from '../support/certificate.ts';
import type { Running } from '../support/process.ts';

export type BalancePolicy = 'weighted_round_robin' | 'random' | 'least_request' | 'peak_ewma' | 'consistent_hash';
export type DegradedSource = 'stale' | 'upstream' | 'respond';

/** What a gateway does besides relaying with kept upstream connections. */
export interface Features {
  /** Ports of the endpoints of every route, on 127.0.0.1. */
  readonly upstreamPorts: readonly number[];
  /** How many routes there are, each for `/rN/` with a pool of its own; 1 is one route for all paths. */
  readonly routes?: number;
  /** Whether all routes are of one service; only Weir tells the difference. */
  readonly isOneService?: boolean;
  readonly balance?: BalancePolicy;
  /** Whether requests are counted by client address, against a limit that none reaches. */
  readonly hasRateLimit?: boolean;
  readonly hasAccessLog?: boolean;
  readonly isWebSocket?: boolean;
  /**
   * Whether it listens with TLS 1.3 alone and `certificate`, for HTTP/2 and HTTP/1.1. All are told the same curve and
   * cipher, tickets are as each has them by itself.
   */
  readonly isTls?: boolean;
  readonly certificate?: Certificate;
  /** Who answers while no endpoint does; `upstream` asks `fallbackPort`. */
  readonly degraded?: DegradedSource;
  readonly fallbackPort?: number;
}

export interface PeerOptions {
  readonly core: number;
  /** Where it listens; the port after it is free for its own use. */
  readonly port: number;
  /** A folder of this peer's own; it is there. */
  readonly folder: string;
  readonly features: Features;
}

export interface Peer {
  readonly name: string;
  /** What is missing to run it; null when nothing is. */
  missing(): string | null;
  /** Why it cannot do what is asked; null when it can. */
  lacks(features: Features): string | null;
  /** Its version, as a word or two. */
  version(): string;
  start(options: PeerOptions): Promise<Running>;
}

/** The body of a degraded answer that a gateway gives by itself. */
export const RESPOND_BODY = '{"error":"temporarily unavailable"}';

/** Requests a second that no run reaches. */
export const UNREACHED_RATE = 1_000_000;

/** The number of each route, from 0. */
export function routeNumbers({ routes = 1 }: Features): readonly number[] {
  return Array.from({ length: routes }, (_, at) => at);
}
