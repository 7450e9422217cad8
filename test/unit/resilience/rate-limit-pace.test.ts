import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meterOf } from '../../support/limit-meter.ts';

const DAY_MS = 86_400_000;
const THREE_YEARS_MS = 3 * 365 * DAY_MS;
/** Times are told apart to a quarter of a microsecond; some of them make no difference to anybody. */
const TICKS_MS = 0.000_6;

/** A limit, and times in units of its step from some moment of the uptime on, in order. */
const rates = fc.record({
  count: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1_000_000 })),
  periodMs: fc.constantFrom(1000, 60_000, 3_600_000, DAY_MS),
  burst: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 100 })),
  startMs: fc.oneof(fc.constant(0), fc.double({ min: 0, max: THREE_YEARS_MS, noNaN: true })),
});
const gaps = fc.array(
  fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.2, noNaN: true }), fc.double({ min: 0, max: 30, noNaN: true })),
  { minLength: 1, maxLength: 120 },
);

describe('a token bucket', () => {
  it.each(
    [
      // 10 a second, 3 at once: time → delay, remaining, reset
      [0, 0, 2, 100],
      [0, 0, 1, 100],
      [10, 0, 0, 90],
      [10, -90, 0, 90],
      [99, -1, 0, 1],
      [100, 0, 0, 100],
      [150, -50, 0, 50],
      [250, 0, 0, 50],
      [1000, 0, 2, 100],
      [5000, 0, 2, 100],
    ].map((row, at, rows) => [rows.slice(0, at).map(([ms]) => ms), ...row] as const),
  )(
    'after requests at %j answers one at %d ms: delay %d, remaining %d, reset %d',
    (before, nowMs, delayMs, remaining, resetMs) => {
      const { request } = meterOf({ algorithm: 'token_bucket', count: 10, periodMs: 1000, burst: 3 });
      for (const ms of before) request(ms ?? 0);
      const verdict = request(nowMs ?? 0);
      expect(verdict.delayMs).toBeCloseTo(delayMs ?? 0, 2);
      expect(verdict.remaining).toBe(remaining);
      expect(verdict.resetMs).toBeCloseTo(resetMs ?? 0, 2);
    },
  );

  it('admits its count at once when no burst is named', () => {
    const { request } = meterOf({ algorithm: 'token_bucket', count: 5, periodMs: 1000 });
    const verdicts = Array.from({ length: 6 }, () => request(0).delayMs >= 0);
    expect(verdicts).toEqual([true, true, true, true, true, false]);
  });

  it.each([
    [3, 1000, 0],
    [1_000_000, 1000, 0],
    [1_000_000, 1000, THREE_YEARS_MS],
    [7, 60_000, THREE_YEARS_MS],
    [1, DAY_MS, 12.345],
    [1001, DAY_MS, THREE_YEARS_MS],
  ])('does not drift: %d in %d ms from %d ms on', (count, periodMs, startMs) => {
    const { request } = meterOf({ algorithm: 'token_bucket', count, periodMs, burst: 1 });
    const steps = 100_000;
    let admitted = 0;
    for (let third = 0; third <= 3 * steps; third++) {
      if (request(startMs + (third * periodMs) / (3 * count)).delayMs === 0) admitted++;
    }
    expect(Math.abs(admitted - 1 - steps)).toBeLessThanOrEqual(1);
  });

  it('never admits more than burst + rate × time, whatever the pattern', () => {
    fc.assert(
      fc.property(rates, gaps, ({ count, periodMs, burst, startMs }, steps) => {
        const stepMs = periodMs / count;
        const { request } = meterOf({ algorithm: 'token_bucket', count, periodMs, burst });
        const admitted = timesOf(startMs, stepMs, steps).filter((nowMs) => request(nowMs).delayMs === 0);
        for (const [first, fromMs] of admitted.entries()) {
          for (const [more, toMs] of admitted.slice(first).entries()) {
            expect(more + 1).toBeLessThanOrEqual(burst + (toMs - fromMs + TICKS_MS) / stepMs);
          }
        }
      }),
    );
  });

  it('never refuses a client that keeps the rate, nor anybody while the bound has room for one more', () => {
    fc.assert(
      fc.property(rates, gaps, ({ count, periodMs, burst, startMs }, steps) => {
        const stepMs = periodMs / count;
        const { request } = meterOf({ algorithm: 'token_bucket', count, periodMs, burst });
        const admitted: number[] = [];
        for (const nowMs of timesOf(startMs, stepMs, steps)) {
          const hasRoom = admitted.every(
            (fromMs, at) => admitted.length - at + 1 <= burst + (nowMs - fromMs - TICKS_MS) / stepMs,
          );
          const isAdmitted = request(nowMs).delayMs === 0;
          if (hasRoom) expect(isAdmitted).toBe(true);
          if (isAdmitted) admitted.push(nowMs);
        }
      }),
    );
  });

  it('tells the first moment at which a retry succeeds, and how much is left', () => {
    fc.assert(
      fc.property(rates, gaps, ({ count, periodMs, burst, startMs }, steps) => {
        const options = { algorithm: 'token_bucket', count, periodMs, burst } as const;
        const times = timesOf(startMs, periodMs / count, steps);
        const replay = () => {
          const meter = meterOf(options);
          return { meter, last: times.map((nowMs) => meter.request(nowMs)).at(-1) };
        };
        const lastMs = times.at(-1) ?? 0;
        const { meter, last } = replay();
        for (let more = 0; more < (last?.remaining ?? 0); more++) expect(meter.request(lastMs).delayMs).toBe(0);
        expect(meter.request(lastMs).delayMs).toBeLessThan(0);
        if (last === undefined || last.delayMs >= 0) return;
        expect(replay().meter.request(lastMs - last.delayMs + TICKS_MS).delayMs).toBe(0);
        expect(replay().meter.request(Math.max(lastMs, lastMs - last.delayMs - TICKS_MS)).delayMs).toBeLessThan(0);
      }),
    );
  });

  it('holds its bound when requests are decided in another order than their times', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 200 }), (timesMs) => {
        const { request } = meterOf({ algorithm: 'token_bucket', count: 100, periodMs: 1000, burst: 2 });
        const admitted = timesMs.filter((nowMs) => request(nowMs).delayMs === 0);
        for (const fromMs of admitted) {
          for (const toMs of admitted) {
            const between = admitted.filter((ms) => ms >= fromMs && ms <= toMs).length;
            expect(between).toBeLessThanOrEqual(2 + Math.max(0, (toMs - fromMs + TICKS_MS) / 10));
          }
        }
      }),
    );
  });
});

describe('a leaky bucket', () => {
  it.each(
    [
      // 10 a second, 2 wait: time → delay, remaining, reset
      [0, 0, 2, 100],
      [0, 100, 1, 100],
      [0, 200, 0, 100],
      [0, -100, 0, 100],
      [50, -50, 0, 50],
      [120, 180, 0, 80],
      [120, -80, 0, 80],
      [900, 0, 2, 100],
    ].map((row, at, rows) => [rows.slice(0, at).map(([ms]) => ms), ...row] as const),
  )(
    'after requests at %j answers one at %d ms: delay %d, remaining %d, reset %d',
    (before, nowMs, delayMs, remaining, resetMs) => {
      const { request } = meterOf({ algorithm: 'leaky_bucket', count: 10, periodMs: 1000, burst: 2 });
      for (const ms of before) request(ms ?? 0);
      const verdict = request(nowMs ?? 0);
      expect(verdict.delayMs).toBeCloseTo(delayMs ?? 0, 2);
      expect(verdict.remaining).toBe(remaining);
      expect(verdict.resetMs).toBeCloseTo(resetMs ?? 0, 2);
    },
  );

  it('refuses what cannot go at once when nothing may wait', () => {
    const { request } = meterOf({ algorithm: 'leaky_bucket', count: 10, periodMs: 1000, burst: 0 });
    expect([0, 0, 99, 100].map((nowMs) => request(nowMs).delayMs >= 0)).toEqual([true, false, false, true]);
  });

  it('lets requests leave no faster than the rate, in order, and no more of them wait than its queue is long', () => {
    fc.assert(
      fc.property(rates, gaps, ({ count, periodMs, burst, startMs }, steps) => {
        const stepMs = periodMs / count;
        const { request } = meterOf({ algorithm: 'leaky_bucket', count, periodMs, burst });
        const departures: number[] = [];
        for (const nowMs of timesOf(startMs, stepMs, steps)) {
          const { delayMs } = request(nowMs);
          const waiting = (sinceMs: number) => departures.filter((ms) => ms > sinceMs).length;
          if (delayMs < 0) {
            expect(waiting(nowMs - TICKS_MS)).toBeGreaterThanOrEqual(burst);
            continue;
          }
          if (delayMs > TICKS_MS) expect(waiting(nowMs + TICKS_MS)).toBeLessThan(burst);
          else expect(waiting(nowMs + TICKS_MS)).toBe(0);
          departures.push(nowMs + delayMs);
        }
        for (const [at, ms] of departures.entries()) {
          if (at > 0) expect(ms - (departures[at - 1] ?? 0)).toBeGreaterThanOrEqual(stepMs - TICKS_MS);
        }
      }),
    );
  });
});

function timesOf(startMs: number, stepMs: number, steps: readonly number[]): number[] {
  let nowMs = startMs;
  return steps.map((step) => {
    nowMs += step * stepMs;
    return nowMs;
  });
}
