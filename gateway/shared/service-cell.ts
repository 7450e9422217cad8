// What all workers share about one service: the turn of the round robin, who is out, whether it is degraded, its counts.
import type { Failure } from '../core/failure.ts';
import { allocateCell, Cell, type CellLayout } from './cell.ts';
import { HISTOGRAM_NUMBERS, type HistogramTotals, histogramTotals, observe } from './histogram.ts';

/** Why a service answers without its pool. */
export const DEGRADED_REASONS = ['empty', 'unreachable'] as const;
export type DegradedReason = (typeof DEGRADED_REASONS)[number];

/** Why an attempt was made again: the keys of `retry.on`, and `status` for `retry.statuses`. */
export const RETRY_REASONS = ['connect', 'reset', 'timeout', 'status'] as const;
export type RetryReason = (typeof RETRY_REASONS)[number];

const TURN = 0;
const EPOCH = 1;
const DEGRADED_SINCE = 2;
const DEGRADED_BY = 3;

const UPDATES = 0;
const FIRST_RETRY = 1;
const DURATION = FIRST_RETRY + RETRY_REASONS.length;

const LAYOUT: CellLayout = { headWords: 16, laneNumbers: DURATION + HISTOGRAM_NUMBERS };

export function allocateServiceCell(lanes: number): SharedArrayBuffer {
  return allocateCell(LAYOUT, lanes);
}

/** One thread's view of a service's shared state. */
export class ServiceCell {
  readonly #cell: Cell;
  readonly #words: Int32Array;

  constructor(buffer: SharedArrayBuffer, lane: number) {
    this.#cell = new Cell(buffer, LAYOUT, lane);
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

  /** Marks the service degraded; true for the one caller that found it healthy. `wallMs` is the time of day. */
  enterDegraded(reason: DegradedReason, wallMs: number): boolean {
    const since = Math.floor(wallMs / 1000) | 0;
    if (Atomics.compareExchange(this.#words, DEGRADED_SINCE, 0, since) !== 0) return false;
    Atomics.store(this.#words, DEGRADED_BY, DEGRADED_REASONS.indexOf(reason));
    return true;
  }

  /** Marks the service healthy; true for the one caller that found it degraded. */
  leaveDegraded(): boolean {
    if (Atomics.load(this.#words, DEGRADED_SINCE) === 0) return false;
    return Atomics.exchange(this.#words, DEGRADED_SINCE, 0) !== 0;
  }

  /** Since when (milliseconds since the Unix epoch, whole seconds) and why it is degraded; null when it is not. */
  degraded(): { readonly sinceMs: number; readonly reason: DegradedReason } | null {
    const since = Atomics.load(this.#words, DEGRADED_SINCE) >>> 0;
    if (since === 0) return null;
    return { sinceMs: since * 1000, reason: DEGRADED_REASONS[Atomics.load(this.#words, DEGRADED_BY)] ?? 'empty' };
  }

  countRetry(reason: RetryReason): void {
    this.#cell.add(FIRST_RETRY + RETRY_REASONS.indexOf(reason), 1);
  }

  retries(reason: RetryReason): number {
    return this.#cell.sum(FIRST_RETRY + RETRY_REASONS.indexOf(reason));
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
