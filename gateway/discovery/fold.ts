// What an event of a source means for a service: a new pool, the same one, or the last good one held on to.
import type { DiscoveryUpdate, PoolMark, ResumePoint } from '../core/discovery-update.ts';
import type { InstanceStatus } from '../core/instance.ts';
import { mergeInstances } from './merge-instances.ts';
import { poolMark } from './pool-mark.ts';
import type { SourceEvent } from './source.ts';

export interface FoldOptions {
  /** The statuses whose instances may take traffic. */
  readonly accept: readonly InstanceStatus[];
  /** The time of day, in milliseconds since the Unix epoch. */
  readonly wallMs: number;
  /** How long an empty answer that cannot be trusted leaves the pool as it was. */
  readonly holdLastGoodMs: number;
}

/** What an event makes of a service: what is to be told, and where the next event goes on. */
export interface Folded extends DiscoveryUpdate {
  readonly pool: PoolMark;
}

/**
 * The state of a service after an event (SPEC section 5). A failure never changes the pool; neither does a doubtful
 * answer without anybody well, until it has lasted for `holdLastGoodMs`.
 */
export function foldEvent(before: ResumePoint, event: SourceEvent, options: FoldOptions): Folded {
  const { status } = before;
  const unchanged = { pool: before.pool, endpoints: null };
  if (event.kind === 'failure') return { ...unchanged, status: { ...status, lastError: event.error } };
  const { wallMs } = options;
  const endpoints = mergeInstances(event.instances, options.accept);
  if (event.doubt !== null && !endpoints.some(({ healthy }) => healthy) && before.pool.size > 0) {
    const doubtSinceMs = status.doubtSinceMs ?? wallMs;
    if (wallMs - doubtSinceMs < options.holdLastGoodMs) {
      return { ...unchanged, status: { ...status, lastError: event.doubt, doubtSinceMs } };
    }
  }
  const pool = poolMark(endpoints);
  return {
    pool,
    status: {
      ...status,
      index: event.index,
      lastSuccessMs: wallMs,
      lastError: null,
      doubtSinceMs: null,
      skipped: event.skipped,
      notes: event.notes,
    },
    endpoints: pool.digest === before.pool.digest ? null : endpoints,
  };
}
