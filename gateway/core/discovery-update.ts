// What the leader tells the supervisor about one service: how asking goes, and the pool when it changed.
import type { Endpoint } from './instance.ts';

/** How the discovery of one service stands. */
export interface ServiceStatus {
  readonly service: string;
  readonly source: string;
  /** The source's index of the last good answer, digit for digit; null where it has none. */
  readonly index: string | null;
  /** When the last good answer came, in milliseconds since the Unix epoch; null before the first. */
  readonly lastSuccessMs: number | null;
  /** Why the last answer was not good; null when it was. */
  readonly lastError: string | null;
  /** Since when the pool is held although the source says it is empty (milliseconds since the Unix epoch). */
  readonly doubtSinceMs: number | null;
  /** One sentence for each record of the last good answer that could not be used. */
  readonly skipped: readonly string[];
  /** One sentence for each oddity of it that was put right, such as an invalid weight. */
  readonly notes: readonly string[];
}

export interface DiscoveryUpdate {
  readonly status: ServiceStatus;
  /** The new pool; null when it did not change. */
  readonly endpoints: readonly Endpoint[] | null;
}

/** What is enough to know of a pool to see that another one differs from it. */
export interface PoolMark {
  readonly size: number;
  readonly digest: string;
}

/** Where a new leader takes up what another has left. */
export interface ResumePoint {
  readonly status: ServiceStatus;
  readonly pool: PoolMark;
}

/** The status of a service that nobody has asked for yet. */
export function unasked(service: string, source: string): ServiceStatus {
  return {
    service,
    source,
    index: null,
    lastSuccessMs: null,
    lastError: null,
    doubtSinceMs: null,
    skipped: [],
    notes: [],
  };
}

/** Whether the pool of a service may be out of date. */
export function isStale(status: ServiceStatus): boolean {
  return status.lastError !== null;
}
