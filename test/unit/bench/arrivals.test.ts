// Arrivals at a fixed rate, and that latency from when requests were due leaves nothing out.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dueMs, dueUntil } from '../../../bench/stats/arrivals.ts';
import { median } from '../../../bench/stats/statistics.ts';

describe('dueUntil', () => {
  it('counts the first request at once and the others at equal distances', () => {
    const schedule = { perSecond: 1000, seconds: 1 };
    expect(dueUntil(0, schedule)).toBe(1);
    expect(dueUntil(0.9, schedule)).toBe(1);
    expect(dueUntil(1, schedule)).toBe(2);
    expect(dueUntil(9.5, schedule)).toBe(10);
  });

  it('is never more than the schedule has, and none before the start', () => {
    expect(dueUntil(60_000, { perSecond: 100, seconds: 2 })).toBe(200);
    expect(dueUntil(-1, { perSecond: 100, seconds: 2 })).toBe(0);
  });

  it('counts exactly the requests whose time has come', () => {
    const rates = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(rates, fc.double({ min: 0, max: 900, noNaN: true }), (perSecond, elapsedMs) => {
        const due = dueUntil(elapsedMs, { perSecond, seconds: 1 });
        const rounding = 1e-6;
        if (due > 0) expect(dueMs(due - 1, perSecond)).toBeLessThanOrEqual(elapsedMs + rounding);
        if (due < perSecond) expect(dueMs(due, perSecond)).toBeGreaterThan(elapsedMs - rounding);
      }),
    );
  });
});

describe('latency from when a request was due', () => {
  it('shows a stall that the same requests, counted from their sending, hide', () => {
    // One connection, answers in 1 ms, but a stall of 500 ms in the middle of a second with 100 requests.
    const sentAndAnswered: { due: number; sent: number; answered: number }[] = [];
    let freeMs = 0;
    for (let number = 0; number < 100; number++) {
      const due = dueMs(number, 100);
      const sent = Math.max(due, freeMs);
      const answered = number === 40 ? sent + 500 : sent + 1;
      freeMs = answered;
      sentAndAnswered.push({ due, sent, answered });
    }
    const fromDue = sentAndAnswered.map(({ due, answered }) => answered - due);
    const fromSend = sentAndAnswered.map(({ sent, answered }) => answered - sent);
    expect(fromSend.filter((latency) => latency > 100)).toHaveLength(1);
    expect(fromDue.filter((latency) => latency > 100).length).toBeGreaterThan(40);
    expect(median(fromDue)).toBeGreaterThan(median(fromSend));
  });
});
