// The counts of one route: requests by method and status class, durations, what is under way, degraded answers.
import { allocateCell, Cell, type CellLayout } from './cell.ts';
import { HISTOGRAM_NUMBERS, type HistogramTotals, histogramTotals, observe } from './histogram.ts';
import { DEGRADED_REASONS, type DegradedReason } from './service-cell.ts';

/** The methods that have a series of their own; all others are counted as `other`. */
export const COUNTED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'other'] as const;
export const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
export const DEGRADED_SOURCES = ['upstream', 'respond'] as const;
export type DegradedSource = (typeof DEGRADED_SOURCES)[number];

const IN_FLIGHT = 0;
const FIRST_REQUEST = 1;
const FIRST_DEGRADED = FIRST_REQUEST + COUNTED_METHODS.length * STATUS_CLASSES.length;
const DURATION = FIRST_DEGRADED + DEGRADED_SOURCES.length * DEGRADED_REASONS.length;

const LAYOUT: CellLayout = { headWords: 0, laneNumbers: DURATION + HISTOGRAM_NUMBERS };

const METHOD_ROW: ReadonlyMap<string, number> = new Map(COUNTED_METHODS.map((method, at) => [method, at]));
const OTHER_ROW = COUNTED_METHODS.length - 1;

export function allocateRouteCell(lanes: number): SharedArrayBuffer {
  return allocateCell(LAYOUT, lanes);
}

/** One thread's view of a route's counts. */
export class RouteCell {
  readonly #cell: Cell;

  constructor(buffer: SharedArrayBuffer, lane: number) {
    this.#cell = new Cell(buffer, LAYOUT, lane);
  }

  requestStarted(): void {
    this.#cell.add(IN_FLIGHT, 1);
  }

  requestEnded(method: string, status: number, seconds: number): void {
    this.#cell.add(IN_FLIGHT, -1);
    const statusClass = Math.min(5, Math.max(1, Math.floor(status / 100))) - 1;
    this.#cell.add(FIRST_REQUEST + (METHOD_ROW.get(method) ?? OTHER_ROW) * STATUS_CLASSES.length + statusClass, 1);
    observe(this.#cell, DURATION, seconds);
  }

  countDegraded(source: DegradedSource, reason: DegradedReason): void {
    this.#cell.add(degradedField(source, reason), 1);
  }

  inFlight(): number {
    return this.#cell.sum(IN_FLIGHT);
  }

  /** `method` and `statusClass` are positions in COUNTED_METHODS and STATUS_CLASSES. */
  requests(method: number, statusClass: number): number {
    return this.#cell.sum(FIRST_REQUEST + method * STATUS_CLASSES.length + statusClass);
  }

  degradedAnswers(source: DegradedSource, reason: DegradedReason): number {
    return this.#cell.sum(degradedField(source, reason));
  }

  durations(): HistogramTotals {
    return histogramTotals(this.#cell, DURATION);
  }

  /** Forgets what a dead worker had under way. */
  abandonLane(lane: number): void {
    this.#cell.clear(lane, IN_FLIGHT);
  }
}

function degradedField(source: DegradedSource, reason: DegradedReason): number {
  return FIRST_DEGRADED + DEGRADED_SOURCES.indexOf(source) * DEGRADED_REASONS.length + DEGRADED_REASONS.indexOf(reason);
}
