// What all workers share about one service: turns, who is out, its breaker, whether it is degraded, its counts.
import type { Failure } from '../core/failure.ts';
import type { BreakerPolicy } from '../resilience/breaker.ts';
import { BUDGET_WINDOW_MS, RETRY_DENIALS, type RetryDenial } from '../resilience/retry.ts';
import {
  admit,
  BREAKER_WORDS,
  type BreakerChange,
  type BreakerView,
  breakerEpoch,
  breakerOf,
  openBreaker,
  type ProbeEnd,
  probeEnded,
  timesOpened,
} from './breaker-words.ts';
import { allocateCell, Cell, type CellLayout, type CellPlace } from './cell.ts';
import {
  DEGRADED_WORDS,
  type Degraded,
  type DegradedReason,
  degradedOf,
  endDegraded,
  enterDegraded,
  leaveDegraded,
} from './degraded-words.ts';
import { EJECTION_TRIGGERS, type EjectionTrigger } from './endpoint-cell.ts';
import { HISTOGRAM_NUMBERS, type HistogramTotals, histogramTotals, observe } from './histogram.ts';
import {
  countInWindow,
  eventsInWindow,
  markedInWindow,
  markInWindow,
  tickInEpoch,
  WINDOW_NUMBERS,
  windowTick,
} from './lane-window.ts';

/** Why an attempt was made again: the keys of `retry.on`, and `status` for `retry.statuses`. */
export const RETRY_REASONS = ['connect', 'reset', 'timeout', 'status'] as const;
export type RetryReason = (typeof RETRY_REASONS)[number];

const TURN = 0;
const EPOCH = 1;
const MAINTENANCE = 2;
const DEGRADED = 3;
const BREAKER = DEGRADED + DEGRADED_WORDS;
const HEAD_WORDS = BREAKER + BREAKER_WORDS;

const UPDATES = 0;
const IN_FLIGHT = 1;
const FIRST_RETRY = 2;
const FIRST_DENIAL = FIRST_RETRY + RETRY_REASONS.length;
const FIRST_EJECTION = FIRST_DENIAL + RETRY_DENIALS.length;
const BREAKER_WINDOW = FIRST_EJECTION + EJECTION_TRIGGERS.length;
const BUDGET_WINDOW = BREAKER_WINDOW + WINDOW_NUMBERS;
const DURATION = BUDGET_WINDOW + WINDOW_NUMBERS;

const LAYOUT: CellLayout = { headWords: Math.ceil(HEAD_WORDS / 2) * 2, laneNumbers: DURATION + HISTOGRAM_NUMBERS };

export function allocateServiceCell(lanes: number): CellPlace {
  return allocateCell(LAYOUT, lanes);
}

/** One thread's view of a service's shared state. */
export class ServiceCell {
  readonly #cell: Cell;
  readonly #words: Int32Array;

  constructor(place: CellPlace, lane: number) {
    this.#cell = new Cell(place, LAYOUT, lane);
    this.#words = this.#cell.words;
  }

  /** The next turn of the round robin, 0..2^32-1, given out once over all workers. */
  nextTurn(): number {
    return Atomics.add(this.#words, TURN, 1) >>> 0;
  }

  /** Changes whenever an endpoint of the service is set aside or comes back. */
  epoch(): number {
    return Atomics.load(this.#words, EPOCH);
  }

  bumpEpoch(): void {
    Atomics.add(this.#words, EPOCH, 1);
  }

  /**
   * Marks the service degraded; true for the one caller that found it healthy. `wallMs` is the time of day; `isWavering`
   * says whether good answers may come in between, by default unless the pool is empty.
   */
  enterDegraded(reason: DegradedReason, wallMs: number, isWavering = reason !== 'empty'): boolean {
    return enterDegraded(this.#words, DEGRADED, { reason, wallMs, isWavering });
  }

  /** A good answer came: true for the one caller that thereby finds the service no longer degraded. */
  leaveDegraded(wallMs: number): boolean {
    return leaveDegraded(this.#words, DEGRADED, wallMs);
  }

  /** Since when and why it is degraded; null when it is not. */
  degraded(): Degraded | null {
    return degradedOf(this.#words, DEGRADED);
  }

  /** Whether an operator has taken the service out of service. */
  isInMaintenance(): boolean {
    return Atomics.load(this.#words, MAINTENANCE) === 1;
  }

  setMaintenance(isOn: boolean): void {
    Atomics.store(this.#words, MAINTENANCE, isOn ? 1 : 0);
    if (!isOn) endDegraded(this.#words, DEGRADED, 'maintenance');
  }

  /** Whether the breaker lets an attempt through: REFUSED, PASSED, or the token of a probe. */
  admit(policy: BreakerPolicy, nowMs: number): number {
    return admit(this.#words, BREAKER, { policy, nowMs });
  }

  /** Opens the breaker; false when it was not closed. */
  openBreaker(policy: BreakerPolicy, nowMs: number): boolean {
    return openBreaker(this.#words, BREAKER, { policy, nowMs });
  }

  /** A probe of the breaker has ended. */
  breakerProbeEnded(end: ProbeEnd): BreakerChange {
    return probeEnded(this.#words, BREAKER, end);
  }

  breaker(nowMs: number): BreakerView {
    return breakerOf(this.#words, BREAKER, nowMs);
  }

  /** How often the breaker has opened. */
  timesOpened(): number {
    return timesOpened(this.#words, BREAKER);
  }

  /** Counts an attempt for the breaker, in the tick of its window. */
  countForBreaker(tick: number, isFailure: boolean): void {
    countInWindow(this.#cell, BREAKER_WINDOW, { tick: this.#breakerTick(tick), isMarked: isFailure });
  }

  /** An attempt that was counted as good for the breaker has failed after all. */
  failedForBreaker(tick: number): void {
    markInWindow(this.#cell, BREAKER_WINDOW, this.#breakerTick(tick));
  }

  /** The attempts and failures that the breaker sees: those since it closed last. */
  breakerWindow(tick: number): { readonly attempts: number; readonly failures: number } {
    const own = this.#breakerTick(tick);
    return {
      attempts: eventsInWindow(this.#cell, BREAKER_WINDOW, own),
      failures: markedInWindow(this.#cell, BREAKER_WINDOW, own),
    };
  }

  /** Counts an attempt for the budget of retries. */
  countForBudget(nowMs: number, isRetry: boolean): void {
    countInWindow(this.#cell, BUDGET_WINDOW, { tick: windowTick(nowMs, BUDGET_WINDOW_MS), isMarked: isRetry });
  }

  /** The requests and retries of the last ten seconds. */
  budgetWindow(nowMs: number): { readonly requests: number; readonly retries: number } {
    const tick = windowTick(nowMs, BUDGET_WINDOW_MS);
    const retries = markedInWindow(this.#cell, BUDGET_WINDOW, tick);
    return { requests: eventsInWindow(this.#cell, BUDGET_WINDOW, tick) - retries, retries };
  }

  requestStarted(): void {
    this.#cell.add(IN_FLIGHT, 1);
  }

  requestEnded(): void {
    this.#cell.add(IN_FLIGHT, -1);
  }

  /** Attempts on their way at all endpoints, of all workers. */
  inFlight(): number {
    return this.#cell.sum(IN_FLIGHT);
  }

  /** Forgets what a dead worker had under way. */
  abandonLane(lane: number): void {
    this.#cell.clear(lane, IN_FLIGHT);
  }

  countRetry(reason: RetryReason): void {
    this.#cell.add(FIRST_RETRY + RETRY_REASONS.indexOf(reason), 1);
  }

  retries(reason: RetryReason): number {
    return this.#cell.sum(FIRST_RETRY + RETRY_REASONS.indexOf(reason));
  }

  /** Counts an endpoint that was set aside: the sum outlives the endpoint. */
  countEjection(trigger: EjectionTrigger): void {
    this.#cell.add(FIRST_EJECTION + EJECTION_TRIGGERS.indexOf(trigger), 1);
  }

  ejections(trigger: EjectionTrigger): number {
    return this.#cell.sum(FIRST_EJECTION + EJECTION_TRIGGERS.indexOf(trigger));
  }

  countDenial(denial: RetryDenial): void {
    this.#cell.add(FIRST_DENIAL + RETRY_DENIALS.indexOf(denial), 1);
  }

  denials(denial: RetryDenial): number {
    return this.#cell.sum(FIRST_DENIAL + RETRY_DENIALS.indexOf(denial));
  }

  /** Counts the time from sending a request to the head of its response. */
  observeUpstream(seconds: number): void {
    observe(this.#cell, DURATION, seconds);
  }

  upstreamDurations(): HistogramTotals {
    return histogramTotals(this.#cell, DURATION);
  }

  /** Counts an update of the pool; only the holder of lane 0, the supervisor, sees discovery's updates. */
  countUpdate(): void {
    this.#cell.add(UPDATES, 1);
  }

  updates(): number {
    return this.#cell.sum(UPDATES);
  }

  #breakerTick(tick: number): number {
    return tickInEpoch(tick, breakerEpoch(this.#words, BREAKER));
  }
}

/** Which retry reason a failed attempt falls under. */
export function retryReason(failure: Failure): RetryReason {
  switch (failure) {
    case 'connection_refused':
    case 'destination_ip_unroutable':
    case 'dns_error':
    case 'connection_timeout':
    case 'tls_certificate_error':
    case 'tls_protocol_error':
      return 'connect';
    case 'http_response_timeout':
      return 'timeout';
    case 'status':
      return 'status';
    case 'connection_terminated':
    case 'http_protocol_error':
    case 'truncated':
      return 'reset';
  }
}
