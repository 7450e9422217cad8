// What all workers know of one endpoint: whether it is set aside and until when, its failures, its load, its counts.
import { type Failure, OUTCOMES, type Outcome } from '../core/failure.ts';
import { allocateCell, Cell, type CellLayout } from './cell.ts';

/** State and deadline in one word, so that one compare-and-exchange is a whole transition. */
const STATE = 0;
const CONSECUTIVE_FAILURES = 1;
const BACKOFF_STEP = 2;
const RETURNED_AT = 3;
const EJECTED_FOR = 4;
const FAILURES_AT_EJECTION = 5;
const EJECTIONS = 6;

const IN_FLIGHT = 0;
const LATENCY_MS = 1;
const FIRST_OUTCOME = 2;

const LAYOUT: CellLayout = { headWords: 8, laneNumbers: FIRST_OUTCOME + OUTCOMES.length };

const ACTIVE = 0;
const EJECTED = 1;
const PROBING = 2;
const STATE_BITS = 2;
/** Deadlines are kept in tenths of a second since the start of the process: good for three years of uptime. */
const TICK_MS = 100;

/** The weight of the newest latency in the moving average. */
const LATENCY_SHARE = 0.1;

const OUTCOME_FIELD = Object.fromEntries(OUTCOMES.map((outcome, at) => [outcome, FIRST_OUTCOME + at]));

export function allocateEndpointCell(lanes: number): SharedArrayBuffer {
  return allocateCell(LAYOUT, lanes);
}

export type TrafficState = { readonly state: 'active' | 'probing' } | { readonly state: 'ejected'; untilMs: number };

/** One thread's view of an endpoint's shared state. */
export class EndpointCell {
  readonly #cell: Cell;
  readonly #words: Int32Array;
  readonly #lane: number;

  constructor(buffer: SharedArrayBuffer, lane: number) {
    this.#cell = new Cell(buffer, LAYOUT, lane);
    this.#words = this.#cell.words;
    this.#lane = lane;
  }

  isActive(): boolean {
    return Atomics.load(this.#words, STATE) === ACTIVE;
  }

  traffic(): TrafficState {
    const word = Atomics.load(this.#words, STATE);
    const state = word & 3;
    if (state === ACTIVE) return { state: 'active' };
    if (state === PROBING) return { state: 'probing' };
    return { state: 'ejected', untilMs: (word >>> STATE_BITS) * TICK_MS };
  }

  /** Sets an active endpoint aside until `untilMs`; false when it was not active (another worker came first). */
  eject(untilMs: number, why: Failure, failures: number): boolean {
    const ejected = ejectedUntil(untilMs);
    if (Atomics.compareExchange(this.#words, STATE, ACTIVE, ejected) !== ACTIVE) return false;
    this.#noteEjection(why, failures);
    return true;
  }

  /** Takes back an ejection that turned out to be one too many. */
  undoEjection(untilMs: number): void {
    const ejected = ejectedUntil(untilMs);
    if (Atomics.compareExchange(this.#words, STATE, ejected, ACTIVE) === ejected) {
      Atomics.sub(this.#words, EJECTIONS, 1);
    }
  }

  /** Lets this worker send the one request that may bring an ejected endpoint back; false unless it is overdue. */
  beginProbe(nowMs: number): boolean {
    const word = Atomics.load(this.#words, STATE);
    if ((word & 3) !== EJECTED || (word >>> STATE_BITS) * TICK_MS > nowMs) return false;
    return Atomics.compareExchange(this.#words, STATE, word, probingBy(this.#lane)) === word;
  }

  /** The probe of this worker was good: the endpoint is active again. */
  probeSucceeded(nowMs: number): void {
    Atomics.store(this.#words, CONSECUTIVE_FAILURES, 0);
    Atomics.store(this.#words, RETURNED_AT, Math.floor(nowMs / TICK_MS));
    Atomics.compareExchange(this.#words, STATE, probingBy(this.#lane), ACTIVE);
  }

  /** The probe of this worker failed: ejected again until `untilMs`. */
  probeFailed(untilMs: number, why: Failure): void {
    const probing = probingBy(this.#lane);
    if (Atomics.compareExchange(this.#words, STATE, probing, ejectedUntil(untilMs)) === probing) {
      this.#noteEjection(why, Atomics.load(this.#words, CONSECUTIVE_FAILURES));
    }
  }

  /** The probe of this worker ended without a verdict: the next request may probe. */
  probeAbandoned(nowMs: number): void {
    Atomics.compareExchange(this.#words, STATE, probingBy(this.#lane), ejectedUntil(nowMs - TICK_MS));
  }

  /** Counts a failure and returns how many there were in a row. */
  countFailure(): number {
    return Atomics.add(this.#words, CONSECUTIVE_FAILURES, 1) + 1;
  }

  /** A success ends a row of failures. Written only when there was one, to leave the cache line alone. */
  countSuccess(): void {
    if (Atomics.load(this.#words, CONSECUTIVE_FAILURES) !== 0) Atomics.store(this.#words, CONSECUTIVE_FAILURES, 0);
  }

  /** How often the ejection time was doubled, and since when the endpoint has been in service without an ejection. */
  backoff(): { readonly step: number; readonly returnedAtMs: number } {
    return {
      step: Atomics.load(this.#words, BACKOFF_STEP),
      returnedAtMs: Atomics.load(this.#words, RETURNED_AT) * TICK_MS,
    };
  }

  setBackoffStep(step: number): void {
    Atomics.store(this.#words, BACKOFF_STEP, step);
  }

  /** Why it was ejected last, and how many failures in a row that were. */
  ejection(): { readonly why: Failure; readonly failures: number; readonly count: number } {
    const why = OUTCOMES[Atomics.load(this.#words, EJECTED_FOR)];
    return {
      why: why === undefined || why === 'success' || why === 'client_gone' ? 'status' : why,
      failures: Atomics.load(this.#words, FAILURES_AT_EJECTION),
      count: Atomics.load(this.#words, EJECTIONS),
    };
  }

  requestStarted(): void {
    this.#cell.add(IN_FLIGHT, 1);
  }

  requestEnded(outcome: Outcome): void {
    this.#cell.add(IN_FLIGHT, -1);
    this.#cell.add(OUTCOME_FIELD[outcome] ?? FIRST_OUTCOME, 1);
  }

  /** Moves the average time to the response head. */
  latencySeen(ms: number): void {
    const average = this.#cell.own(LATENCY_MS);
    this.#cell.set(LATENCY_MS, average === 0 ? ms : average + (ms - average) * LATENCY_SHARE);
  }

  /** Requests on their way, of all workers. */
  inFlight(): number {
    return this.#cell.sum(IN_FLIGHT);
  }

  /** Attempts that ended so, of all workers since the endpoint appeared. */
  outcomes(outcome: Outcome): number {
    return this.#cell.sum(OUTCOME_FIELD[outcome] ?? FIRST_OUTCOME);
  }

  /** The average over `lanes` lanes of the time to the response head, in ms; null before the first answer. */
  latencyMs(lanes: number): number | null {
    let sum = 0;
    let seen = 0;
    for (let lane = 0; lane < lanes; lane++) {
      const average = this.#cell.at(lane, LATENCY_MS);
      if (average > 0) seen++;
      sum += average;
    }
    return seen === 0 ? null : sum / seen;
  }

  /** Forgets what a dead worker had under way: its requests and its probe. */
  abandonLane(lane: number, nowMs: number): void {
    this.#cell.clear(lane, IN_FLIGHT);
    Atomics.compareExchange(this.#words, STATE, probingBy(lane), ejectedUntil(nowMs - TICK_MS));
  }

  #noteEjection(why: Failure, failures: number): void {
    Atomics.store(this.#words, EJECTED_FOR, OUTCOMES.indexOf(why));
    Atomics.store(this.#words, FAILURES_AT_EJECTION, failures);
    Atomics.add(this.#words, EJECTIONS, 1);
  }
}

function ejectedUntil(untilMs: number): number {
  return (Math.max(0, Math.ceil(untilMs / TICK_MS)) << STATE_BITS) | EJECTED;
}

function probingBy(lane: number): number {
  return (lane << STATE_BITS) | PROBING;
}
