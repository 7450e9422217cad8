import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLimit, WINDOW_BYTES } from '../../../gateway/resilience/rate-limit.ts';
import { meterOf } from '../../support/limit-meter.ts';

const TICKS_MS = 0.000_6;

const windows = fc.record({
  count: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(255, 256, 65_535, 65_536)),
  periodMs: fc.constantFrom(1000, 60_000, 86_400_000),
  startMs: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e11, noNaN: true })),
});
/** Parts of a period between requests; many at once, so that also large counts are reached. */
const arrivals = fc.array(
  fc.record({
    gap: fc.oneof(
      fc.double({ min: 0, max: 0.1, noNaN: true }),
      fc.double({ min: 0.9, max: 1.1, noNaN: true }),
      fc.double({ min: 0, max: 1.5, noNaN: true }),
    ),
    requests: fc.integer({ min: 1, max: 8 }),
  }),
  { minLength: 1, maxLength: 60 },
);

describe('a sliding window', () => {
  it.each(
    [
      // 3 a second, in pieces of 1000/55 ms: time → delay, remaining, reset
      [0, 0, 2, 1018.2],
      [10, 0, 1, 1008.2],
      [500, 0, 0, 518.2],
      [500, -518.2, 0, 518.2],
      [1018, -0.2, 0, 0.2],
      [1018.2, 0, 1, 490.9],
      [1018.2, 0, 0, 490.9],
      [1018.2, -490.9, 0, 490.9],
      [9000, 0, 2, 1018.2],
    ].map((row, at, rows) => [rows.slice(0, at).map(([ms]) => ms), ...row] as const),
  )(
    'after requests at %j answers one at %d ms: delay %d, remaining %d, reset %d',
    (before, nowMs, delayMs, remaining, resetMs) => {
      const { request } = meterOf({ algorithm: 'sliding_window', count: 3, periodMs: 1000 });
      for (const ms of before) request(ms ?? 0);
      const verdict = request(nowMs ?? 0);
      expect(verdict.delayMs).toBeCloseTo(delayMs ?? 0, 0);
      expect(verdict.remaining).toBe(remaining);
      expect(verdict.resetMs).toBeCloseTo(resetMs ?? 0, 0);
    },
  );

  it.each([
    [1, 56, 1],
    [255, 56, 1],
    [256, 28, 2],
    [65_535, 28, 2],
    [65_536, 14, 4],
  ])('counts up to %d in %d pieces of %d bytes', (count, pieces, counterBytes) => {
    const limit = compileLimit({ id: 'test', algorithm: 'sliding_window', count, periodMs: 1000 });
    expect(limit).toMatchObject({ pieces, counterBytes });
    expect(pieces * counterBytes).toBe(WINDOW_BYTES);
  });

  it.each([1, 7, 255, 256, 65_536])('never admits more than its %d in any span of one period', (count) => {
    fc.assert(
      fc.property(fc.nat(1e10), arrivals, (startMs, steps) => {
        const periodMs = 1000;
        const { request } = meterOf({ algorithm: 'sliding_window', count, periodMs });
        const many = Math.ceil(count / 4);
        const admitted = timesOf(startMs, periodMs, steps).map((nowMs): readonly [number, number] => {
          let sum = 0;
          for (let at = 0; at < many; at++) if (request(nowMs).delayMs === 0) sum++;
          return [nowMs, sum];
        });
        for (const [endMs] of admitted) {
          const inSpan = admitted.filter(([ms]) => ms <= endMs && ms > endMs - periodMs + TICKS_MS);
          expect(inSpan.reduce((sum, [, requests]) => sum + requests, 0)).toBeLessThanOrEqual(count);
        }
      }),
      { numRuns: count > 1000 ? 5 : 50 },
    );
  });

  it('never refuses while fewer than its count were admitted in the last period and a piece', () => {
    fc.assert(
      fc.property(windows, arrivals, ({ count, periodMs, startMs }, steps) => {
        const { request, limit } = meterOf({ algorithm: 'sliding_window', count, periodMs });
        const spanMs = periodMs + limit.stepTicks * limit.msPerTick + TICKS_MS;
        const admitted: number[] = [];
        for (const nowMs of timesOf(startMs, periodMs, steps)) {
          const isAdmitted = request(nowMs).delayMs === 0;
          if (isAdmitted) admitted.push(nowMs);
          else expect(admitted.filter((ms) => ms > nowMs - spanMs).length).toBeGreaterThanOrEqual(count);
        }
      }),
    );
  });

  it('tells the first moment at which a retry succeeds, and how much is left', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.nat(1e10), arrivals, (count, startMs, steps) => {
        const times = timesOf(startMs, 1000, steps);
        const replay = () => {
          const meter = meterOf({ algorithm: 'sliding_window', count, periodMs: 1000 });
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

  it('counts a request that comes late with the newest piece', () => {
    const { request } = meterOf({ algorithm: 'sliding_window', count: 2, periodMs: 1000 });
    expect([2000, 1500, 2000].map((nowMs) => request(nowMs).delayMs >= 0)).toEqual([true, true, false]);
    expect([2999, 3100].map((nowMs) => request(nowMs).delayMs >= 0)).toEqual([false, true]);
  });
});

function timesOf(startMs: number, periodMs: number, steps: readonly { gap: number; requests: number }[]): number[] {
  let nowMs = startMs;
  return steps.flatMap(({ gap, requests }) => {
    nowMs += gap * periodMs;
    return new Array<number>(requests).fill(nowMs);
  });
}
