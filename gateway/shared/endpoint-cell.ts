// What all workers know of one endpoint: whether it is set aside and until when, its failures, its load, its counts.
import { type Failure, OUTCOMES, type Outcome } from '../core/failure.ts';
import { Cell, type CellLayout, type CellPlace, createCellSource } from './cell.ts';
import { fadedLatencyMs, LATENCY_NUMBERS, latencySeen, meanLatencyMs } from './lane-latency.ts';
import {
  countInWindow,
  eventsInWindow,
  markedInWindow,
  markInWindow,
  tickInEpoch,
  WINDOW_NUMBERS,
} from './lane-window.ts';

/** What made traffic set an endpoint aside. */
export const EJECTION_TRIGGERS = ['consecutive_failures', 'failure_percent', 'slow'] as const;
export type EjectionTrigger = (typeof EJECTION_TRIGGERS)[number];

/** What an operator may say of an endpoint; `none` is nothing. */
export const OPERATOR_WORDS = ['none', 'drain', 'eject'] as const;
export type OperatorWord = (typeof OPERATOR_WORDS)[number];

/** State and deadline in one word, so that one compare-and-exchange is a whole transition. */
const STATE = 0;
const CONSECUTIVE_FAILURES = 1;
const BACKOFF_STEP = 2;
const RETURNED_AT = 3;
const EJECTED_FOR = 4;
const EJECTED_BY = 5;
const EJECTION_FIGURE = 6;
const OPERATOR = 7;
const WARMING_SINCE = 8;
/** Averages and windows of an earlier epoch are forgotten. */
const EPOCH = 9;
const FIRST_EJECTIONS = 10;

const IN_FLIGHT = 0;
const LATENCY = 1;
const WINDOW = LATENCY + LATENCY_NUMBERS;
const FIRST_OUTCOME = WINDOW + WINDOW_NUMBERS;

const LAYOUT: CellLayout = { headWords: 16, laneNumbers: FIRST_OUTCOME + OUTCOMES.length };

const ACTIVE = 0;
const EJECTED = 1;
const PROBING = 2;
const STATE_BITS = 2;
/** Deadlines are kept in tenths of a second since the start of the process: good for three years of uptime. */
const TICK_MS = 100;

const OUTCOME_FIELD = Object.fromEntries(OUTCOMES.map((outcome, at) => [outcome, FIRST_OUTCOME + at]));

/** Gives places for the cells of endpoints that appear together. */
export function createEndpointCellSource(lanes: number, expected: number): () => CellPlace {
  return createCellSource(LAYOUT, lanes, expected);
}

export type TrafficState = { readonly state: 'active' | 'probing' } | { readonly state: 'ejected'; untilMs: number };

/** Why an endpoint was set aside: the failure seen last, the trigger, and the figure that it is about. */
export interface EjectionReason {
  readonly why: Failure;
  readonly trigger: EjectionTrigger;
  /** Failures in a row; failures in percent; or tenths of the pool's median latency. */
  readonly figure: number;
}

/** One thread's view of an endpoint's shared state. */
export class EndpointCell {
  readonly #cell: Cell;
  readonly #words: Int32Array;
  readonly #first: number;
  readonly #lane: number;

  constructor(place: CellPlace, lane: number) {
    this.#cell = new Cell(place, LAYOUT, lane);
    this.#words = this.#cell.words;
    this.#first = this.#cell.firstWord;
    this.#lane = lane;
  }

  /** Whether traffic has set it aside. */
  isEjected(): boolean {
    return this.#load(STATE) !== ACTIVE;
  }

  traffic(): TrafficState {
    const word = this.#load(STATE);
    const state = word & 3;
    if (state === ACTIVE) return { state: 'active' };
    if (state === PROBING) return { state: 'probing' };
    return { state: 'ejected', untilMs: (word >>> STATE_BITS) * TICK_MS };
  }

  /** Sets an active endpoint aside until `untilMs`; false when it was not active (another worker came first). */
  eject(untilMs: number, reason: EjectionReason): boolean {
    if (!this.#exchange(STATE, ACTIVE, ejectedUntil(untilMs))) return false;
    this.#noteEjection(reason);
    return true;
  }

  /** Takes back an ejection that turned out to be one too many. */
  undoEjection(untilMs: number, { trigger }: EjectionReason): void {
    if (this.#exchange(STATE, ejectedUntil(untilMs), ACTIVE)) this.#add(ejectionsOf(trigger), -1);
  }

  /** Lets this worker send the one request that may bring an ejected endpoint back; false unless it is overdue. */
  beginProbe(nowMs: number): boolean {
    const word = this.#load(STATE);
    if ((word & 3) !== EJECTED || (word >>> STATE_BITS) * TICK_MS > nowMs) return false;
    return this.#exchange(STATE, word, probingBy(this.#lane));
  }

  /** The probe of this worker was good: the endpoint is active again; false when somebody has decided otherwise. */
  probeSucceeded(nowMs: number): boolean {
    if (this.#load(STATE) !== probingBy(this.#lane)) return false;
    this.#return(nowMs);
    return this.#exchange(STATE, probingBy(this.#lane), ACTIVE);
  }

  /** The probe of this worker failed: ejected again until `untilMs`; false when somebody has decided otherwise. */
  probeFailed(untilMs: number, reason: EjectionReason): boolean {
    if (!this.#exchange(STATE, probingBy(this.#lane), ejectedUntil(untilMs))) return false;
    this.#noteEjection(reason);
    return true;
  }

  /** The probe of this worker ended without a verdict: the next request may probe. */
  probeAbandoned(nowMs: number): void {
    this.#exchange(STATE, probingBy(this.#lane), ejectedUntil(nowMs - TICK_MS));
  }

  /** An operator brings it back, whatever set it aside. */
  restore(nowMs: number): void {
    this.#store(OPERATOR, 0);
    if (!this.isEjected()) return;
    this.#return(nowMs);
    this.#store(STATE, ACTIVE);
  }

  operatorWord(): OperatorWord {
    return OPERATOR_WORDS[this.#load(OPERATOR)] ?? 'none';
  }

  setOperatorWord(word: OperatorWord): void {
    this.#store(OPERATOR, OPERATOR_WORDS.indexOf(word));
  }

  /** Counts a failure and returns how many there were in a row. */
  countFailure(): number {
    return this.#add(CONSECUTIVE_FAILURES, 1) + 1;
  }

  /** A success ends a row of failures. Written only when there was one, to leave the cache line alone. */
  countSuccess(): void {
    if (this.#load(CONSECUTIVE_FAILURES) !== 0) this.#store(CONSECUTIVE_FAILURES, 0);
  }

  /** Counts an attempt in the window whose present tick is given. */
  countInWindow(tick: number, isFailure: boolean): void {
    countInWindow(this.#cell, WINDOW, { tick: this.#tick(tick), isMarked: isFailure });
  }

  /** An attempt that was counted as good has failed after all. */
  failedInWindow(tick: number): void {
    markInWindow(this.#cell, WINDOW, this.#tick(tick));
  }

  attemptsInWindow(tick: number): number {
    return eventsInWindow(this.#cell, WINDOW, this.#tick(tick));
  }

  failuresInWindow(tick: number): number {
    return markedInWindow(this.#cell, WINDOW, this.#tick(tick));
  }

  /** How often the ejection time was doubled, and since when the endpoint has been in service without an ejection. */
  backoff(): { readonly step: number; readonly returnedAtMs: number } {
    return { step: this.#load(BACKOFF_STEP), returnedAtMs: this.#load(RETURNED_AT) * TICK_MS };
  }

  setBackoffStep(step: number): void {
    this.#store(BACKOFF_STEP, step);
  }

  /** The newest reason for which traffic set it aside. */
  ejection(): EjectionReason {
    const why = OUTCOMES[this.#load(EJECTED_FOR)];
    return {
      why: why === undefined || why === 'success' || why === 'client_gone' ? 'status' : why,
      trigger: EJECTION_TRIGGERS[this.#load(EJECTED_BY)] ?? 'consecutive_failures',
      figure: this.#load(EJECTION_FIGURE),
    };
  }

  /** How often traffic set it aside, by what made it do so. */
  ejections(trigger: EjectionTrigger): number {
    return this.#load(ejectionsOf(trigger));
  }

  /** From now on it gets more and more traffic, if the policy of its service wants that. */
  startWarming(nowMs: number): void {
    this.#store(WARMING_SINCE, Math.max(1, Math.floor(nowMs / TICK_MS)));
  }

  /** When it appeared or came back; null for one that was there from the start. */
  warmingSinceMs(): number | null {
    const since = this.#load(WARMING_SINCE);
    return since === 0 ? null : since * TICK_MS;
  }

  requestStarted(): void {
    this.#cell.add(IN_FLIGHT, 1);
  }

  requestEnded(outcome: Outcome): void {
    this.#cell.add(IN_FLIGHT, -1);
    this.#cell.add(OUTCOME_FIELD[outcome] ?? FIRST_OUTCOME, 1);
  }

  /** Moves this worker's average times to the response head. */
  latencySeen(ms: number, nowMs: number, isPeakSensitive: boolean): void {
    latencySeen(this.#cell, LATENCY, { ms, nowMs, epoch: this.#load(EPOCH), isPeakSensitive });
  }

  /** Requests on their way, of all workers. */
  inFlight(): number {
    return this.#cell.sum(IN_FLIGHT);
  }

  /** Attempts that ended so, of all workers since the endpoint appeared. */
  outcomes(outcome: Outcome): number {
    return this.#cell.sum(OUTCOME_FIELD[outcome] ?? FIRST_OUTCOME);
  }

  /** The average over the workers of the time to the response head, in ms; 0 before the first answer. */
  latencyMs(): number {
    return meanLatencyMs(this.#cell, LATENCY, this.#load(EPOCH));
  }

  /** The latency as a balancer should see it at this moment: the worst of the workers', and what is long ago fades. */
  fadedLatencyMs(nowMs: number): number {
    return fadedLatencyMs(this.#cell, LATENCY, { epoch: this.#load(EPOCH), nowMs });
  }

  /** Forgets what a dead worker had under way: its requests and its probe. */
  abandonLane(lane: number, nowMs: number): void {
    this.#cell.clear(lane, IN_FLIGHT);
    this.#exchange(STATE, probingBy(lane), ejectedUntil(nowMs - TICK_MS));
  }

  /** Back in service: what was held against it before does not count any more. */
  #return(nowMs: number): void {
    this.#store(CONSECUTIVE_FAILURES, 0);
    this.#store(RETURNED_AT, Math.floor(nowMs / TICK_MS));
    this.#add(EPOCH, 1);
    this.startWarming(nowMs);
  }

  #tick(tick: number): number {
    return tickInEpoch(tick, this.#load(EPOCH));
  }

  #noteEjection({ why, trigger, figure }: EjectionReason): void {
    this.#store(EJECTED_FOR, OUTCOMES.indexOf(why));
    this.#store(EJECTED_BY, EJECTION_TRIGGERS.indexOf(trigger));
    this.#store(EJECTION_FIGURE, figure);
    this.#add(ejectionsOf(trigger), 1);
  }

  #load(word: number): number {
    return Atomics.load(this.#words, this.#first + word);
  }

  #store(word: number, value: number): void {
    Atomics.store(this.#words, this.#first + word, value);
  }

  #add(word: number, by: number): number {
    return Atomics.add(this.#words, this.#first + word, by);
  }

  #exchange(word: number, from: number, to: number): boolean {
    return Atomics.compareExchange(this.#words, this.#first + word, from, to) === from;
  }
}

function ejectionsOf(trigger: EjectionTrigger): number {
  return FIRST_EJECTIONS + EJECTION_TRIGGERS.indexOf(trigger);
}

function ejectedUntil(untilMs: number): number {
  return (Math.max(0, Math.ceil(untilMs / TICK_MS)) << STATE_BITS) | EJECTED;
}

function probingBy(lane: number): number {
  return (lane << STATE_BITS) | PROBING;
}
