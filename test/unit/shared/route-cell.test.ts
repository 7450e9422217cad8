import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_BRANCHES } from '../../../gateway/core/split.ts';
import { allocateRouteCell, RouteCell } from '../../../gateway/shared/route-cell.ts';

function workers(lanes: number): RouteCell[] {
  const place = allocateRouteCell(lanes);
  return Array.from({ length: lanes }, (_, lane) => new RouteCell(place, lane));
}

function pair(): [one: RouteCell, two: RouteCell] {
  const place = allocateRouteCell(2);
  return [new RouteCell(place, 0), new RouteCell(place, 1)];
}

describe('the turns of a route', () => {
  it('are given once over all workers, for the split, for each group and for the fallback on their own', () => {
    const [one, two] = pair();
    expect([one.nextSplitTurn(), two.nextSplitTurn(), one.nextSplitTurn()]).toEqual([0, 1, 2]);
    for (let group = 0; group < MAX_BRANCHES; group++) {
      expect([one.nextGroupTurn(group), two.nextGroupTurn(group)]).toEqual([0, 1]);
    }
    expect([one.nextFallbackTurn(), two.nextFallbackTurn(), two.nextSplitTurn()]).toEqual([0, 1, 3]);
  });
});

describe('the places of a route', () => {
  it('are limited over all workers', () => {
    const [one, two] = pair();
    expect([one.takePlace(2), two.takePlace(2), one.takePlace(2), two.takePlace(2)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    one.givePlace();
    expect([two.takePlace(2), one.takePlace(2)]).toEqual([true, false]);
    expect(one.concurrency()).toEqual({ running: 2, waiting: 0 });
  });

  it('have a queue that is limited as well', () => {
    const [one, two] = pair();
    expect([one.beginWaiting(2), two.beginWaiting(2), one.beginWaiting(2)]).toEqual([true, true, false]);
    expect(two.concurrency()).toEqual({ running: 0, waiting: 2 });
    two.endWaiting();
    expect(one.beginWaiting(2)).toBe(true);
    expect(one.beginWaiting(0)).toBe(false);
  });

  it('come back when their worker is dead, with its waiting requests, once', () => {
    const [one, two] = pair();
    for (let at = 0; at < 3; at++) one.takePlace(4);
    one.beginWaiting(2);
    one.requestStarted();
    two.takePlace(4);
    two.beginWaiting(2);
    for (let again = 0; again < 2; again++) two.abandonLane(0);
    expect([two.concurrency(), two.inFlight()]).toEqual([{ running: 1, waiting: 1 }, 0]);
    expect([1, 2, 3, 4].map(() => two.takePlace(4))).toEqual([true, true, true, false]);
    expect([two.beginWaiting(2), two.beginWaiting(2)]).toEqual([true, false]);
  });

  it('wake those that wait when one is given back, in whatever worker', async () => {
    const [one, two] = pair();
    one.takePlace(1);
    const seen = two.wakeWord();
    two.beginWaiting(1);
    const woken = two.placeGiven(seen);
    expect(woken).toBeInstanceOf(Promise);
    one.givePlace();
    await woken;
    expect(two.takePlace(1)).toBe(true);
  });

  it('do not keep one waiting for a place that was given before it looked', () => {
    const [one, two] = pair();
    one.takePlace(1);
    const seen = two.wakeWord();
    two.beginWaiting(1);
    one.givePlace();
    expect(two.placeGiven(seen)).toBeNull();
  });

  it('wake those that wait when a worker dies', () => {
    const [one, two] = pair();
    one.takePlace(1);
    const seen = two.wakeWord();
    two.beginWaiting(1);
    two.abandonLane(0);
    expect(two.placeGiven(seen)).toBeNull();
  });

  it('are never more than there may be, and none is lost, in any order of events', () => {
    const events = fc.array(
      fc.record({
        lane: fc.integer({ min: 0, max: 2 }),
        what: fc.constantFrom('take', 'take', 'give', 'die'),
      }),
      { maxLength: 100 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), events, (max, all) => {
        const cells = workers(3);
        const held = [0, 0, 0];
        const total = () => held.reduce((sum, count) => sum + count, 0);
        for (const { lane, what } of all) {
          const cell = cells[lane];
          const own = held[lane] ?? 0;
          if (cell === undefined) continue;
          if (what === 'take') {
            const isFree = total() < max;
            expect(cell.takePlace(max)).toBe(isFree);
            if (isFree) held[lane] = own + 1;
          } else if (what === 'give' && own > 0) {
            cell.givePlace();
            held[lane] = own - 1;
          } else if (what === 'die') {
            cells[0]?.abandonLane(lane);
            held[lane] = 0;
          }
          expect(cell.concurrency().running).toBe(total());
        }
      }),
    );
  });
});

describe('the degraded answers of a route', () => {
  it('are counted by source and reason', () => {
    const [one, two] = pair();
    one.countDegraded('stale', 'maintenance');
    two.countDegraded('stale', 'maintenance');
    two.countDegraded('respond', 'empty');
    two.countRateLimited();
    expect([one.degradedAnswers('stale', 'maintenance'), one.degradedAnswers('respond', 'empty')]).toEqual([2, 1]);
    expect([one.degradedAnswers('upstream', 'empty'), one.rateLimited()]).toEqual([0, 1]);
  });
});
