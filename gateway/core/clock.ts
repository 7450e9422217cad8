// The clock of the process: one monotonic time that all threads agree on, and the time of day for people.

/** Milliseconds between the start of the process and this thread's own `performance.now()` origin. */
const THREAD_OFFSET_MS = process.uptime() * 1000 - performance.now();

/** Where time and chance come from; policies take one so that tests can script both. */
export interface Clock {
  /** Milliseconds since the process started: monotonic, and equal in every thread. */
  nowMs(): number;
  /** The time of day: milliseconds since the Unix epoch. */
  wallMs(): number;
  /** A random number in [0, 1). */
  random(): number;
}

export const systemClock: Clock = {
  nowMs: () => performance.now() + THREAD_OFFSET_MS,
  wallMs: () => Date.now(),
  random: () => Math.random(),
};

/** The time of day, in milliseconds since the Unix epoch, at which the monotonic clock showed `atMs`. */
export function wallAt(clock: Clock, atMs: number): number {
  return clock.wallMs() - (clock.nowMs() - atMs);
}
