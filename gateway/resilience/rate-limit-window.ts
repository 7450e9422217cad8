// Whether a request fits a sliding window: counts of pieces of the period, in bounded space however large the limit.
import type { WindowLimit } from './rate-limit.ts';
import type { PaceReading } from './rate-limit-pace.ts';

/** As for a bucket, but `untilMs` is when the newest piece has left the window, 0 for a new key. */
export type WindowReading = PaceReading & {
  /** The counters of the key are `limit.pieces` from `first` on. */
  counters: Uint8Array | Uint16Array | Uint32Array;
  first: number;
  /** The newest piece that has been counted, and the one that this request belongs to. */
  newestPiece: number;
  piece: number;
};

/**
 * Decides on a request at `nowMs`. A request counts from its time until the whole of its piece is a period old. So
 * there are never more than `count` in any span of one period, whatever the pattern; the price is that a request counts
 * up to one piece longer than a period: a 55th of it for counts up to 255, a 27th up to 65 535, a 13th above. A client
 * that keeps to `count` in a period and a piece is never refused.
 */
export function decideInWindow(limit: WindowLimit, reading: WindowReading, nowMs: number): void {
  const { count, pieces, stepTicks, ticksPerMs, msPerTick } = limit;
  const now = Math.round(nowMs * ticksPerMs);
  const newest = Math.round((reading.untilMs * ticksPerMs) / stepTicks) - pieces;
  // Another thread may have counted for a later time already.
  const piece = Math.max(newest, Math.floor(now / stepTicks));
  let used = 0;
  let earliest = piece;
  let at = Math.max(0, piece - pieces + 1);
  for (let counter = at % pieces; at <= newest; at++) {
    const seen = reading.counters[reading.first + counter] ?? 0;
    if (used === 0 && seen > 0) earliest = at;
    used += seen;
    counter = counter + 1 === pieces ? 0 : counter + 1;
  }
  reading.resetMs = ((earliest + pieces) * stepTicks - now) * msPerTick;
  reading.remaining = Math.max(0, count - used - 1);
  reading.delayMs = used < count ? 0 : -reading.resetMs;
  if (used >= count) return;
  reading.newestPiece = newest;
  reading.piece = piece;
  reading.untilMs = (piece + pieces) * stepTicks * msPerTick;
}

/** Counts the request that `decideInWindow` admitted. */
export function countInWindow(limit: WindowLimit, reading: WindowReading): void {
  const { counters, first, piece, newestPiece } = reading;
  const { pieces } = limit;
  for (let at = Math.max(newestPiece, piece - pieces, -1) + 1; at <= piece; at++) counters[first + (at % pieces)] = 0;
  const own = first + (piece % pieces);
  counters[own] = (counters[own] ?? 0) + 1;
}
