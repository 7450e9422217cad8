// Whether a request fits a token or leaky bucket: GCRA on one number a key, the theoretical arrival time.
import type { LimitVerdict, PacedLimit } from './rate-limit.ts';

/** The state of a key, and where the verdict on a request goes; written over for every request. */
export type PaceReading = { -readonly [Field in keyof LimitVerdict]: LimitVerdict[Field] } & {
  /** The theoretical arrival time in ms, 0 for a new key; after an admitted request, the one to store. */
  untilMs: number;
};

/**
 * Decides on a request at `nowMs`. A token bucket admits `burst` + `count` × t / period requests in any time t at most,
 * and refuses none that keeps the rate. Requests may be decided in another order than their times: the bounds hold for
 * the times that they gave.
 */
export function decideByPace(limit: PacedLimit, reading: PaceReading, nowMs: number): void {
  const { stepTicks, ticksPerMs, msPerTick } = limit;
  const now = Math.round(nowMs * ticksPerMs);
  const arrival = Math.max(now, Math.round(reading.untilMs * ticksPerMs));
  const left = now + limit.capacityTicks - arrival - stepTicks;
  if (left < 0) {
    reading.remaining = 0;
    reading.resetMs = -left * msPerTick;
    reading.delayMs = -reading.resetMs;
    return;
  }
  reading.remaining = Math.floor(left / stepTicks);
  reading.resetMs = ((reading.remaining + 1) * stepTicks - left) * msPerTick;
  reading.delayMs = limit.algorithm === 'leaky_bucket' ? (arrival - now) * msPerTick : 0;
  reading.untilMs = (arrival + stepTicks) * msPerTick;
}
