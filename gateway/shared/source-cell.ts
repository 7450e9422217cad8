// What all workers count of one discovery source: its queries by result, and how long they took.
import { allocateCell, Cell, type CellLayout, type CellPlace } from './cell.ts';
import { HISTOGRAM_NUMBERS, type HistogramTotals, histogramTotals, observe } from './histogram.ts';

/** How a query ended: with an answer that could be read, or without one. */
export const QUERY_RESULTS = ['answer', 'failure'] as const;
export type QueryResult = (typeof QUERY_RESULTS)[number];

const DURATION = QUERY_RESULTS.length;

const LAYOUT: CellLayout = { headWords: 0, laneNumbers: DURATION + HISTOGRAM_NUMBERS };

export function allocateSourceCell(lanes: number): CellPlace {
  return allocateCell(LAYOUT, lanes);
}

/** One thread's view of a source's counts. */
export class SourceCell {
  readonly #cell: Cell;

  constructor(place: CellPlace, lane: number) {
    this.#cell = new Cell(place, LAYOUT, lane);
  }

  /** Counts a query; a blocking one took as long as it blocked. */
  countQuery(result: QueryResult, tookMs: number): void {
    this.#cell.add(QUERY_RESULTS.indexOf(result), 1);
    observe(this.#cell, DURATION, tookMs / 1000);
  }

  queries(result: QueryResult): number {
    return this.#cell.sum(QUERY_RESULTS.indexOf(result));
  }

  durations(): HistogramTotals {
    return histogramTotals(this.#cell, DURATION);
  }
}
