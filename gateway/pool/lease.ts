// A lease: one attempt's right to an endpoint, which must be released exactly once with what came of it.
import type { Outcome } from '../core/failure.ts';
import type { Group } from './group.ts';
import type { PooledEndpoint } from './pooled-endpoint.ts';

/** What a lease tells the pool that it came from. */
export interface LeaseOwner {
  nowMs(): number;
  answered(lease: Lease, elapsedMs: number): void;
  released(lease: Lease, outcome: Outcome): void;
}

export interface LeaseOptions {
  readonly endpoint: PooledEndpoint;
  /** What it was chosen from. */
  readonly group: Group;
  readonly isProbe: boolean;
  readonly breakerToken: number;
  /** The time at which it was chosen. */
  readonly startedMs: number;
}

export class Lease {
  readonly endpoint: PooledEndpoint;
  /** What it was chosen from. */
  readonly group: Group;
  /** Whether this request decides if an ejected endpoint comes back. */
  readonly isProbe: boolean;
  /** What the breaker gave when it let the attempt through. */
  readonly breakerToken: number;
  readonly startedMs: number;
  /** Whether the head of a good answer has come. */
  hasAnswered = false;
  readonly #owner: LeaseOwner;
  #isReleased = false;

  constructor(owner: LeaseOwner, { endpoint, group, isProbe, breakerToken, startedMs }: LeaseOptions) {
    this.#owner = owner;
    this.endpoint = endpoint;
    this.group = group;
    this.isProbe = isProbe;
    this.breakerToken = breakerToken;
    this.startedMs = startedMs;
    endpoint.cell.requestStarted();
  }

  /** Milliseconds since the lease was acquired. */
  elapsedMs(): number {
    return this.#owner.nowMs() - this.startedMs;
  }

  /** The response head came and is no failure: notes the latency, and a probe has succeeded. */
  answered(elapsedMs: number): void {
    this.#owner.answered(this, elapsedMs);
  }

  /** Ends the attempt and judges the endpoint by its outcome. A second call does nothing. */
  release(outcome: Outcome): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    const { cell } = this.endpoint;
    cell.requestEnded(outcome);
    const isGood = outcome === 'success' || (outcome === 'client_gone' && this.hasAnswered);
    if (isGood) cell.countSuccess();
    this.#owner.released(this, outcome);
  }
}
