import { describe, expect, it } from 'vitest';
import { allocateCell, Cell, type CellLayout } from '../../../gateway/shared/cell.ts';
import {
  fadedLatencyMs,
  LATENCY_NUMBERS,
  type LatencySample,
  latencySeen,
  meanLatencyMs,
} from '../../../gateway/shared/lane-latency.ts';

const FIELD = 1;
const LAYOUT: CellLayout = { headWords: 0, laneNumbers: FIELD + LATENCY_NUMBERS + 1 };

function scene() {
  const place = allocateCell(LAYOUT, 2);
  const [one, two] = [new Cell(place, LAYOUT, 0), new Cell(place, LAYOUT, 1)];
  const sees = (cell: Cell, ms: number, part: Partial<LatencySample> = {}) => {
    latencySeen(cell, FIELD, { ms, nowMs: 1000, epoch: 0, isPeakSensitive: true, ...part });
  };
  return { one, two, sees };
}

describe('the latency of an endpoint', () => {
  it('is unknown before the first answer', () => {
    const { one } = scene();
    expect([meanLatencyMs(one, FIELD, 0), fadedLatencyMs(one, FIELD, { epoch: 0, nowMs: 1000 })]).toEqual([0, 0]);
  });

  it('is the mean of all samples, whichever worker saw them, as long as there are few', () => {
    const { one, two, sees } = scene();
    const seen: number[] = [];
    for (const [cell, ms] of [
      [one, 10],
      [two, 30],
      [one, 20],
      [one, 100],
      [two, 40],
    ] as const) {
      sees(cell, ms);
      seen.push(meanLatencyMs(two, FIELD, 0));
    }
    expect(seen).toEqual([10, 20, 20, 40, 40]);
  });

  it('moves by a tenth of the newest when there are many', () => {
    const { one, sees } = scene();
    for (let at = 0; at < 10; at++) sees(one, at < 5 ? 10 : 30);
    expect(meanLatencyMs(one, FIELD, 0)).toBeCloseTo(20);
    sees(one, 120);
    expect(meanLatencyMs(one, FIELD, 0)).toBeCloseTo(30);
  });

  it('is not that of a worker which saw little', () => {
    const { one, two, sees } = scene();
    for (let at = 0; at < 1000; at++) sees(one, 20);
    sees(two, 350);
    expect(meanLatencyMs(one, FIELD, 0)).toBeCloseTo(50);
  });

  it('writes nothing but its own numbers', () => {
    const { one, sees } = scene();
    sees(one, 10);
    expect([one.own(FIELD - 1), one.own(FIELD + LATENCY_NUMBERS)]).toEqual([0, 0]);
  });

  it('for a balancer is the worst of the workers, and fades while nothing is seen', () => {
    const { one, two, sees } = scene();
    sees(one, 10);
    sees(two, 100);
    const fadedAt = (nowMs: number) => fadedLatencyMs(one, FIELD, { epoch: 0, nowMs });
    expect(fadedAt(1000)).toBe(100);
    expect(fadedAt(11_000)).toBeCloseTo(100 / Math.E);
    expect(fadedAt(62_000)).toBe(0);
  });

  it('believes a peak at once for a balancer, and hardly in the mean: one slow answer is no slow endpoint', () => {
    const { one, sees } = scene();
    for (let at = 0; at < 50; at++) sees(one, 10);
    sees(one, 500);
    expect(fadedLatencyMs(one, FIELD, { epoch: 0, nowMs: 1000 })).toBe(500);
    expect(meanLatencyMs(one, FIELD, 0)).toBe(59);
  });

  it('costs nothing for peaks where nobody asks for them', () => {
    const { one, sees } = scene();
    sees(one, 10, { isPeakSensitive: false });
    expect([meanLatencyMs(one, FIELD, 0), fadedLatencyMs(one, FIELD, { epoch: 0, nowMs: 1000 })]).toEqual([10, 0]);
  });

  it('of an earlier epoch is forgotten, lane by lane', () => {
    const { one, two, sees } = scene();
    sees(one, 900);
    sees(two, 700);
    expect([meanLatencyMs(one, FIELD, 1), fadedLatencyMs(one, FIELD, { epoch: 1, nowMs: 1000 })]).toEqual([0, 0]);
    sees(one, 20, { epoch: 1, nowMs: 2000 });
    expect([meanLatencyMs(two, FIELD, 1), fadedLatencyMs(two, FIELD, { epoch: 1, nowMs: 2000 })]).toEqual([20, 20]);
  });
});
