// What all workers share about the process: the leader lease, and how many connections each of them holds.
import { SPAN_FATES, type SpanFate } from '../core/tracing.ts';
import { allocateCell, Cell, type CellLayout, type CellPlace } from './cell.ts';

const DOWNSTREAM = 0;
const UPSTREAM = 1;
const LAG_MS = 2;
const SNAPSHOT = 3;
const FIRST_UNROUTED = 4;

/** Why a request belongs to no route: none matches it, it was refused before one was looked for, or sent to https. */
export const UNROUTED_REASONS = ['no_route', 'refused', 'redirected'] as const;
export type UnroutedReason = (typeof UNROUTED_REASONS)[number];

const FIRST_SPANS = FIRST_UNROUTED + UNROUTED_REASONS.length;

/** Why a peer that has to send a PROXY header had its connection closed: it sent something else, nothing in time, or left. */
export const PROXY_HEADER_FAILURES = ['malformed', 'timeout', 'closed'] as const;
export type ProxyHeaderFailure = (typeof PROXY_HEADER_FAILURES)[number];

const FIRST_PROXY_HEADER = FIRST_SPANS + SPAN_FATES.length;

/** The first two words belong to the leader lease. */
const LAYOUT: CellLayout = { headWords: 16, laneNumbers: FIRST_PROXY_HEADER + PROXY_HEADER_FAILURES.length };
const CONNECTIONS = 2;

export function allocateGatewayCell(lanes: number): CellPlace {
  return allocateCell(LAYOUT, lanes);
}

/** One thread's view of the state of the process. */
export class GatewayCell {
  readonly #cell: Cell;
  /** The shared words: the leader lease works on these. */
  readonly words: Int32Array;

  constructor(place: CellPlace, lane: number) {
    this.#cell = new Cell(place, LAYOUT, lane);
    this.words = this.#cell.words;
  }

  /** Takes a place for a client connection; false when the process holds `limit` already. */
  openDownstream(limit: number): boolean {
    if (Atomics.add(this.words, CONNECTIONS, 1) >= limit) {
      Atomics.sub(this.words, CONNECTIONS, 1);
      return false;
    }
    this.#cell.add(DOWNSTREAM, 1);
    return true;
  }

  closeDownstream(): void {
    Atomics.sub(this.words, CONNECTIONS, 1);
    this.#cell.add(DOWNSTREAM, -1);
  }

  upstreamChanged(by: 1 | -1): void {
    this.#cell.add(UPSTREAM, by);
  }

  countUnrouted(reason: UnroutedReason): void {
    this.#cell.add(FIRST_UNROUTED + UNROUTED_REASONS.indexOf(reason), 1);
  }

  /** Requests of no route, of all workers. */
  unrouted(reason: UnroutedReason): number {
    return this.#cell.sum(FIRST_UNROUTED + UNROUTED_REASONS.indexOf(reason));
  }

  countSpans(fate: SpanFate, count: number): void {
    this.#cell.add(FIRST_SPANS + SPAN_FATES.indexOf(fate), count);
  }

  /** Spans of traces, of all workers. */
  spans(fate: SpanFate): number {
    return this.#cell.sum(FIRST_SPANS + SPAN_FATES.indexOf(fate));
  }

  countProxyHeaderFailure(reason: ProxyHeaderFailure): void {
    this.#cell.add(FIRST_PROXY_HEADER + PROXY_HEADER_FAILURES.indexOf(reason), 1);
  }

  /** Connections without a valid PROXY header, of all workers. */
  proxyHeaderFailures(reason: ProxyHeaderFailure): number {
    return this.#cell.sum(FIRST_PROXY_HEADER + PROXY_HEADER_FAILURES.indexOf(reason));
  }

  /** How late the worker's event loop ran at its last heartbeat, in ms. */
  reportLag(lagMs: number): void {
    this.#cell.set(LAG_MS, lagMs);
  }

  /** The newest snapshot version that the worker has applied. */
  reportSnapshot(version: number): void {
    this.#cell.set(SNAPSHOT, version);
  }

  /** What the worker on `lane` said last. */
  worker(lane: number): { downstream: number; upstream: number; lagMs: number; snapshot: number } {
    return {
      downstream: this.#cell.at(lane, DOWNSTREAM),
      upstream: this.#cell.at(lane, UPSTREAM),
      lagMs: this.#cell.at(lane, LAG_MS),
      snapshot: this.#cell.at(lane, SNAPSHOT),
    };
  }

  /** Gives back the places of a dead worker. */
  abandonLane(lane: number): void {
    Atomics.sub(this.words, CONNECTIONS, this.#cell.at(lane, DOWNSTREAM));
    for (const field of [DOWNSTREAM, UPSTREAM, LAG_MS, SNAPSHOT]) this.#cell.clear(lane, field);
  }
}
