import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allocateCell, Cell, type CellLayout, createCellSource } from '../../../gateway/shared/cell.ts';

const LAYOUT: CellLayout = { headWords: 4, laneNumbers: 3 };

describe('a cell', () => {
  it('begins with nothing', () => {
    const cell = new Cell(allocateCell(LAYOUT, 3), LAYOUT, 0);
    expect([cell.lanes, cell.own(0), cell.sum(2), Atomics.load(cell.words, cell.firstWord + 3)]).toEqual([3, 0, 0, 0]);
  });

  it('gives each worker a lane of its own, and everybody the sum', () => {
    const place = allocateCell(LAYOUT, 3);
    const [one, two, reader] = [new Cell(place, LAYOUT, 0), new Cell(place, LAYOUT, 2), new Cell(place, LAYOUT, -1)];
    one.add(1, 5);
    two.add(1, 2.5);
    two.set(2, 7);
    expect([one.own(1), two.own(1), reader.sum(1), reader.sum(2), reader.sum(0)]).toEqual([5, 2.5, 7.5, 7, 0]);
    expect([reader.at(0, 1), reader.at(1, 1), reader.at(2, 1)]).toEqual([5, 0, 2.5]);
    reader.clear(2, 1);
    expect([two.own(1), reader.sum(1)]).toEqual([0, 5]);
  });

  it('keeps the lanes of two workers on different cache lines', () => {
    const place = allocateCell({ headWords: 2, laneNumbers: 9 }, 4);
    expect(place.buffer.byteLength).toBe(64 + 4 * 128);
  });
});

describe('cells that share a buffer', () => {
  it('never overlap, whatever their layout and number', () => {
    const sizes = fc.record({
      headWords: fc.integer({ min: 0, max: 12 }).map((pairs) => 2 * pairs),
      laneNumbers: fc.integer({ min: 1, max: 20 }),
      lanes: fc.integer({ min: 1, max: 5 }),
      expected: fc.integer({ min: 0, max: 150 }),
      wanted: fc.integer({ min: 1, max: 150 }),
    });
    fc.assert(
      fc.property(sizes, ({ headWords, laneNumbers, lanes, expected, wanted }) => {
        const layout = { headWords, laneNumbers };
        const next = createCellSource(layout, lanes, expected);
        const places = Array.from({ length: wanted }, next);
        const cells = places.map((place) => new Cell(place, layout, lanes - 1));
        for (const [number, cell] of cells.entries()) {
          for (let word = 0; word < headWords; word++) Atomics.add(cell.words, cell.firstWord + word, number + 1);
          for (let lane = 0; lane < lanes; lane++) {
            const owner = new Cell(places[number] ?? next(), layout, lane);
            for (let field = 0; field < laneNumbers; field++) owner.add(field, 1000 * number + lane + 1);
          }
        }
        for (const [number, cell] of cells.entries()) {
          for (let word = 0; word < headWords; word++) {
            expect(Atomics.load(cell.words, cell.firstWord + word)).toBe(number + 1);
          }
          for (let lane = 0; lane < lanes; lane++) {
            for (let field = 0; field < laneNumbers; field++) {
              expect(cell.at(lane, field)).toBe(1000 * number + lane + 1);
            }
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('are at most 64 a buffer, and no more than are expected', () => {
    const buffersOf = (expected: number, wanted: number) => {
      const next = createCellSource(LAYOUT, 1, expected);
      return new Set(Array.from({ length: wanted }, next).map(({ buffer }) => buffer));
    };
    expect(buffersOf(64, 64).size).toBe(1);
    expect(buffersOf(65, 65).size).toBe(2);
    expect([...buffersOf(3, 3)][0]?.byteLength).toBe(3 * 128);
    expect(buffersOf(1, 4).size).toBe(4);
  });

  it('have the same views in one thread', () => {
    const next = createCellSource(LAYOUT, 1, 2);
    expect(new Cell(next(), LAYOUT, 0).words).toBe(new Cell(next(), LAYOUT, 0).words);
  });
});
