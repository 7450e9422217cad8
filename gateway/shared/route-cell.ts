// What all workers share of one route: its turns, its places for requests at once, and its counts.
import { MAX_BRANCHES } from '../core/split.ts';
import { allocateCell, Cell, type CellLayout, type CellPlace } from './cell.ts';
import { DEGRADED_REASONS, type DegradedReason } from './degraded-words.ts';
import { HISTOGRAM_NUMBERS, type HistogramTotals, histogramTotals, observe } from './histogram.ts';

/** The methods that have a series of their own; all others are counted as `other`. */
export const COUNTED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'other'] as const;
export const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;
export const DEGRADED_SOURCES = ['stale', 'upstream', 'respond'] as const;
/** Why a request may not come in: by its address, for want of credentials, by the word of another service, or because nobody can tell. */
export const ACCESS_REFUSALS = ['address', 'credentials', 'service', 'unavailable'] as const;
export type AccessRefusal = (typeof ACCESS_REFUSALS)[number];
export type DegradedSource = (typeof DEGRADED_SOURCES)[number];

/** Requests that hold a place, requests that wait for one, and a word that wakes the waiting. */
const PLACES = 0;
const WAITING = 1;
const WAKE = 2;
const SPLIT_TURN = 3;
const FIRST_GROUP_TURN = 4;
const FALLBACK_TURN = FIRST_GROUP_TURN + MAX_BRANCHES;
const HEAD_WORDS = FALLBACK_TURN + 1;

const IN_FLIGHT = 0;
const OWN_PLACES = 1;
const OWN_WAITING = 2;
const RATE_LIMITED = 3;
const FIRST_REFUSED = 4;
const FIRST_REQUEST = FIRST_REFUSED + ACCESS_REFUSALS.length;
const FIRST_DEGRADED = FIRST_REQUEST + COUNTED_METHODS.length * STATUS_CLASSES.length;
const DURATION = FIRST_DEGRADED + DEGRADED_SOURCES.length * DEGRADED_REASONS.length;

const LAYOUT: CellLayout = { headWords: HEAD_WORDS, laneNumbers: DURATION + HISTOGRAM_NUMBERS };

const METHOD_ROW: ReadonlyMap<string, number> = new Map(COUNTED_METHODS.map((method, at) => [method, at]));
const OTHER_ROW = COUNTED_METHODS.length - 1;

export function allocateRouteCell(lanes: number): CellPlace {
  return allocateCell(LAYOUT, lanes);
}

/** One thread's view of a route's shared state. */
export class RouteCell {
  readonly #cell: Cell;

  constructor(place: CellPlace, lane: number) {
    this.#cell = new Cell(place, LAYOUT, lane);
  }

  /** The next turn between the branches of the split, given out once over all workers. */
  nextSplitTurn(): number {
    return Atomics.add(this.#cell.words, SPLIT_TURN, 1) >>> 0;
  }

  /** The next turn of group `group` (0..MAX_BRANCHES-1). */
  nextGroupTurn(group: number): number {
    return Atomics.add(this.#cell.words, FIRST_GROUP_TURN + group, 1) >>> 0;
  }

  /** The next turn between the servers of the fallback. */
  nextFallbackTurn(): number {
    return Atomics.add(this.#cell.words, FALLBACK_TURN, 1) >>> 0;
  }

  /** Takes one of `max` places for requests at once; false when all are taken. */
  takePlace(max: number): boolean {
    if (!this.#countUpTo(max, PLACES)) return false;
    this.#cell.add(OWN_PLACES, 1);
    return true;
  }

  /** Gives the place back and wakes one of those that wait. */
  givePlace(): void {
    Atomics.sub(this.#cell.words, PLACES, 1);
    this.#cell.add(OWN_PLACES, -1);
    this.#wakeWaiting();
  }

  /** Joins those that wait for a place; false when `max` are waiting. */
  beginWaiting(max: number): boolean {
    if (!this.#countUpTo(max, WAITING)) return false;
    this.#cell.add(OWN_WAITING, 1);
    return true;
  }

  endWaiting(): void {
    Atomics.sub(this.#cell.words, WAITING, 1);
    this.#cell.add(OWN_WAITING, -1);
  }

  /** Changes with every place that is given back: to be read before `takePlace`, and given to `placeGiven`. */
  wakeWord(): number {
    return Atomics.load(this.#cell.words, WAKE);
  }

  /** Resolves when a place was given back since `seen` was read, at once if that is so already. */
  placeGiven(seen: number): Promise<unknown> | null {
    const waiting = Atomics.waitAsync(this.#cell.words, WAKE, seen);
    return waiting.async ? waiting.value : null;
  }

  /** Requests that hold a place, and requests that wait for one, of all workers. */
  concurrency(): { readonly running: number; readonly waiting: number } {
    return { running: this.#cell.sum(OWN_PLACES), waiting: this.#cell.sum(OWN_WAITING) };
  }

  countRateLimited(): void {
    this.#cell.add(RATE_LIMITED, 1);
  }

  rateLimited(): number {
    return this.#cell.sum(RATE_LIMITED);
  }

  countRefused(reason: AccessRefusal): void {
    this.#cell.add(FIRST_REFUSED + ACCESS_REFUSALS.indexOf(reason), 1);
  }

  refused(reason: AccessRefusal): number {
    return this.#cell.sum(FIRST_REFUSED + ACCESS_REFUSALS.indexOf(reason));
  }

  requestStarted(): void {
    this.#cell.add(IN_FLIGHT, 1);
  }

  /** It goes on as a request that is started anew. */
  requestHandedOn(): void {
    this.#cell.add(IN_FLIGHT, -1);
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
    Atomics.sub(this.#cell.words, PLACES, this.#cell.at(lane, OWN_PLACES));
    Atomics.sub(this.#cell.words, WAITING, this.#cell.at(lane, OWN_WAITING));
    for (const field of [IN_FLIGHT, OWN_PLACES, OWN_WAITING]) this.#cell.clear(lane, field);
    this.#wakeWaiting();
  }

  /** Adds one unless there are `max`; never more for a moment, for another worker would take a free place for taken. */
  #countUpTo(max: number, word: number): boolean {
    let count = Atomics.load(this.#cell.words, word);
    while (count < max) {
      const seen = Atomics.compareExchange(this.#cell.words, word, count, count + 1);
      if (seen === count) return true;
      count = seen;
    }
    return false;
  }

  #wakeWaiting(): void {
    if (Atomics.load(this.#cell.words, WAITING) === 0) return;
    Atomics.add(this.#cell.words, WAKE, 1);
    Atomics.notify(this.#cell.words, WAKE);
  }
}

function degradedField(source: DegradedSource, reason: DegradedReason): number {
  return FIRST_DEGRADED + DEGRADED_SOURCES.indexOf(source) * DEGRADED_REASONS.length + DEGRADED_REASONS.indexOf(reason);
}
