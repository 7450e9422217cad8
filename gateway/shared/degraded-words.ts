// Whether a service answers without its pool, since when and why: a few words of its cell.

/** Why a service answers without its pool. */
export const DEGRADED_REASONS = ['empty', 'unreachable', 'breaker', 'status-5xx', 'maintenance'] as const;
export type DegradedReason = (typeof DEGRADED_REASONS)[number];

const SINCE = 0;
const REASON = 1;
const LAST = 2;
/** Stands beside the reason of a service that good answers may come from in between. */
const WAVERING = 2 ** 8;

/** How many words these are. */
export const DEGRADED_WORDS = 3;

/** How long no degraded answer must have been given before a good one ends it: a service that wavers is degraded. */
const CALM_SECONDS = 2;

export interface Degraded {
  /** Milliseconds since the Unix epoch, in whole seconds. */
  readonly sinceMs: number;
  readonly reason: DegradedReason;
}

/** Marks the service degraded; true for the one caller that found it healthy. `wallMs` is the time of day. */
export function enterDegraded(words: Int32Array, at: number, entered: EnterDegraded): boolean {
  const { reason, wallMs, isWavering } = entered;
  const seconds = Math.floor(wallMs / 1000) | 0;
  if (Atomics.load(words, at + LAST) !== seconds) Atomics.store(words, at + LAST, seconds);
  const isNew = Atomics.compareExchange(words, at + SINCE, 0, seconds) === 0;
  if (isNew) Atomics.store(words, at + REASON, DEGRADED_REASONS.indexOf(reason) | (isWavering ? WAVERING : 0));
  return isNew;
}

export interface EnterDegraded {
  readonly reason: DegradedReason;
  readonly wallMs: number;
  readonly isWavering: boolean;
}

/** Marks the service healthy; true for the one caller that found it degraded, once it has been calm. */
export function leaveDegraded(words: Int32Array, at: number, wallMs: number): boolean {
  if (Atomics.load(words, at + SINCE) === 0) return false;
  const isWavering = (Atomics.load(words, at + REASON) & WAVERING) !== 0;
  const calmSeconds = (wallMs / 1000 - (Atomics.load(words, at + LAST) >>> 0)) | 0;
  // A pool that is filled again is no wavering one; a clock that was set back says nothing.
  if (isWavering && calmSeconds >= 0 && calmSeconds < CALM_SECONDS) return false;
  return Atomics.exchange(words, at + SINCE, 0) !== 0;
}

/** Marks the service healthy whatever its answers say, if it is degraded for this reason. */
export function endDegraded(words: Int32Array, at: number, reason: DegradedReason): void {
  if (degradedOf(words, at)?.reason === reason) Atomics.store(words, at + SINCE, 0);
}

/** Since when and why the service is degraded; null when it is not. */
export function degradedOf(words: Int32Array, at: number): Degraded | null {
  const since = Atomics.load(words, at + SINCE) >>> 0;
  if (since === 0) return null;
  return { sinceMs: since * 1000, reason: DEGRADED_REASONS[Atomics.load(words, at + REASON) & ~WAVERING] ?? 'empty' };
}
