// How long to wait before asking again after failures in a row.

/** Longest wait of any back-off, in milliseconds. */
export const MAX_DELAY_MS = 30_000;

const FIRST_DELAY_MS = 250;

/**
 * Milliseconds before the next try after failure number `attempt` in a row (0 = the first): the upper bound doubles
 * from 250 ms to 30 s, and `random` (a number in [0, 1)) chooses from its upper half, so that many askers spread.
 */
export function nextDelayMs(attempt: number, random: () => number): number {
  const bound = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt, 16));
  return bound * (0.5 + random() / 2);
}
