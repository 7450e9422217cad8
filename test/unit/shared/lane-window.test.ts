import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allocateCell, Cell, type CellLayout } from '../../../gateway/shared/cell.ts';
import {
  countInWindow,
  eventsInWindow,
  markedInWindow,
  markInWindow,
  tickInEpoch,
  WINDOW_NUMBERS,
  windowTick,
} from '../../../gateway/shared/lane-window.ts';

const FIELD = 2;
const LAYOUT: CellLayout = { headWords: 0, laneNumbers: FIELD + WINDOW_NUMBERS + 1 };

function windows(lanes = 1): Cell[] {
  const place = allocateCell(LAYOUT, lanes);
  return Array.from({ length: lanes }, (_, lane) => new Cell(place, LAYOUT, lane));
}

function oneWindow(): Cell {
  const [cell] = windows();
  if (cell === undefined) throw new Error('no lane');
  return cell;
}

function count(cell: Cell, tick: number, isMarked = false): void {
  countInWindow(cell, FIELD, { tick, isMarked });
}

function seen(cell: Cell, tick: number): [events: number, marked: number] {
  return [eventsInWindow(cell, FIELD, tick), markedInWindow(cell, FIELD, tick)];
}

describe('the tick of a window', () => {
  it.each([
    [0, 10_000, 0],
    [1999.9, 10_000, 0],
    [2000, 10_000, 1],
    [1000, 1000, 5],
    [86_400_000, 600_000, 720],
  ])('at %d ms of a window of %d ms is %d', (nowMs, windowMs, tick) => {
    expect(windowTick(nowMs, windowMs)).toBe(tick);
  });
});

describe('a window', () => {
  it('has nothing at first, and writes nothing but its own numbers', () => {
    const cell = oneWindow();
    expect(seen(cell, 0)).toEqual([0, 0]);
    for (let tick = 0; tick < 20; tick++) count(cell, tick, true);
    expect([cell.own(FIELD - 1), cell.own(FIELD + WINDOW_NUMBERS)]).toEqual([0, 0]);
  });

  it('forgets a slot at a time', () => {
    const cell = oneWindow();
    for (let tick = 10; tick < 15; tick++) count(cell, tick, tick < 12);
    expect([14, 15, 16, 17, 18, 19].map((tick) => seen(cell, tick))).toEqual([
      [5, 2],
      [4, 1],
      [3, 0],
      [2, 0],
      [1, 0],
      [0, 0],
    ]);
  });

  it('adds the lanes up', () => {
    const [one, two, three] = windows(3);
    if (one === undefined || two === undefined || three === undefined) throw new Error('no lane');
    count(one, 7, true);
    count(two, 8);
    count(two, 8, true);
    expect([one, two, three].map((cell) => seen(cell, 8))).toEqual([
      [3, 2],
      [3, 2],
      [3, 2],
    ]);
  });

  it('sees no old slot again when the numbers of ticks wrap around', () => {
    const cell = oneWindow();
    count(cell, 3, true);
    for (const tick of [2 ** 16 + 3, 2 ** 16 + 7]) expect(seen(cell, tick)).toEqual([0, 0]);
    count(cell, 2 ** 16 + 1);
    expect([2 ** 16 + 1, 2 ** 16 + 5, 2 ** 16 + 6].map((tick) => seen(cell, tick)[0])).toEqual([1, 1, 0]);
  });

  it('goes on with the times in a slot that is full: half of what was before counts against what comes', () => {
    const cell = oneWindow();
    const full = 2 ** 18 - 1;
    for (let at = 0; at < full; at++) count(cell, 4);
    expect(seen(cell, 4)).toEqual([full, 0]);
    count(cell, 4, true);
    expect(seen(cell, 4)).toEqual([2 ** 17, 1]);
    for (let at = 0; at < full; at++) count(cell, 4, true);
    const [events, marked] = seen(cell, 4);
    expect(events).toBeLessThanOrEqual(full);
    expect(marked / events).toBeGreaterThan(0.7);
    count(cell, 5);
    expect(seen(cell, 5)).toEqual([events + 1, marked]);
  });

  it('marks an event that was counted before, or counts a marked one when its slot has none', () => {
    const cell = oneWindow();
    count(cell, 4);
    count(cell, 4);
    markInWindow(cell, FIELD, 4);
    expect(seen(cell, 4)).toEqual([2, 1]);
    markInWindow(cell, FIELD, 4);
    markInWindow(cell, FIELD, 4);
    expect(seen(cell, 4)).toEqual([3, 3]);
    markInWindow(cell, FIELD, 5);
    expect(seen(cell, 5)).toEqual([4, 4]);
  });

  it('of another epoch has nothing of those before', () => {
    const cell = oneWindow();
    for (let tick = 20; tick < 25; tick++) count(cell, tickInEpoch(tick, 3), true);
    expect(seen(cell, tickInEpoch(24, 3))).toEqual([5, 5]);
    expect(seen(cell, tickInEpoch(24, 4))).toEqual([0, 0]);
    count(cell, tickInEpoch(24, 4));
    expect(seen(cell, tickInEpoch(25, 4))).toEqual([1, 0]);
    expect(seen(cell, tickInEpoch(25, 9))).toEqual([0, 0]);
  });

  it('counts as a list of all events would, in any lanes and over any pauses', () => {
    const events = fc.array(
      fc.record({
        lane: fc.integer({ min: 0, max: 2 }),
        pause: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 12 })),
        isMarked: fc.boolean(),
      }),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 20 }), events, (start, all) => {
        const cells = windows(3);
        const log: { tick: number; isMarked: boolean }[] = [];
        let tick = start;
        for (const { lane, pause, isMarked } of all) {
          tick += pause;
          const cell = cells[lane];
          if (cell !== undefined) count(cell, tick, isMarked);
          log.push({ tick, isMarked });
          const current = log.filter((event) => event.tick > tick - WINDOW_NUMBERS);
          const expected = [current.length, current.filter((event) => event.isMarked).length];
          for (const reader of cells) expect(seen(reader, tick)).toEqual(expected);
        }
      }),
    );
  });
});
