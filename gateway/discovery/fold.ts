// What an event of a source means for a service: a new pool, the same one, or the last good one held on to.
import type { DiscoveryUpdate, ResumePoint } from '../core/discovery-update.ts';
import type { InstanceStatus } from '../core/instance.ts';
import { equalEndpoints, mergeInstances } from './merge-instances.ts';
import type { SourceEvent } from './source.ts';

export interface FoldOptions {
  /** The statuses whose instances may take traffic. */
  readonly accept: readonly InstanceStatus[];
  /** The time of day, in milliseconds since the Unix epoch. */
  readonly wallMs: number;
  /** How long an empty answer that cannot be trusted leaves the pool as it was. */
  readonly holdLastGoodMs: number;
}

/**
 * The state of a service after an event (SPEC section 5). A failure never changes the pool; neither does a doubtful
 * empty answer, until it has lasted for `holdLastGoodMs`.
 */
export function foldEvent(before: ResumePoint, event: SourceEvent, options: FoldOptions): DiscoveryUpdate {
  const { status } = before;
  if (event.kind === 'failure') return { status: { ...status, lastError: event.error }, endpoints: null };
  const { wallMs } = options;
  const endpoints = mergeInstances(event.instances, options.accept);
  if (event.doubt !== null && endpoints.length === 0 && before.endpoints.length > 0) {
    const doubtSinceMs = status.doubtSinceMs ?? wallMs;
    if (wallMs - doubtSinceMs < options.holdLastGoodMs) {
      return { status: { ...status, lastError: event.doubt, doubtSinceMs }, endpoints: null };
    }
  }
  return {
    status: {
      ...status,
      index: event.index,
      lastSuccessMs: wallMs,
      lastError: null,
      doubtSinceMs: null,
      skipped: event.skipped,
      notes: event.notes,
    },
    endpoints: equalEndpoints(endpoints, before.endpoints) ? null : endpoints,
  };
}
