// The waits between failures: growing, spread, bounded.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MAX_DELAY_MS, nextDelayMs } from '../../../gateway/discovery/backoff.ts';

it('begins below 250 ms, doubles, and ends between 15 and 30 s', () => {
  const bounds = [0, 1, 2, 3, 6, 7, 50, 5000].map((attempt) => [
    nextDelayMs(attempt, () => 0),
    nextDelayMs(attempt, () => 1),
  ]);
  expect(bounds).toEqual([
    [125, 250],
    [250, 500],
    [500, 1000],
    [1000, 2000],
    [8000, 16_000],
    [15_000, 30_000],
    [15_000, 30_000],
    [15_000, 30_000],
  ]);
});

it('never exceeds its bound, whatever the attempt and the chance', () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, chance) => {
      const delayMs = nextDelayMs(attempt, () => chance);
      expect(delayMs).toBeGreaterThanOrEqual(125);
      expect(delayMs).toBeLessThanOrEqual(MAX_DELAY_MS);
    }),
  );
});
