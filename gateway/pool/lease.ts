// A lease: one attempt's right to an endpoint, which must be released exactly once with what came of it.
import type { Clock } from '../core/clock.ts';
import { type Failure, isFailure, type Outcome } from '../core/failure.ts';
import { decayedStep, type EjectionPolicy, ejectionAllowance, ejectionMs, grownStep } from '../resilience/ejection.ts';
import type { PooledEndpoint } from './pooled-endpoint.ts';

/** What a lease needs of the pool it came from. */
export interface LeaseOwner {
  readonly clock: Clock;
  /** How many endpoints of the pool the source calls healthy, and how many of them are set aside. */
  readonly healthyCount: number;
  ejectedCount(): number;
  /** Makes all workers look anew at who is set aside. */
  bumpEpoch(): void;
  /** Tells all workers and the log that an endpoint was set aside or came back. */
  trafficChanged(change: TrafficChange): void;
}

/** An endpoint that was set aside or came back, for the log. */
export interface TrafficChange {
  readonly endpoint: PooledEndpoint;
  readonly to: 'ejected' | 'active';
  readonly why: Failure | null;
  readonly failures: number;
  readonly forMs: number;
}

export class Lease {
  readonly endpoint: PooledEndpoint;
  /** Whether this request decides if an ejected endpoint comes back. */
  readonly isProbe: boolean;
  readonly startedMs: number;
  readonly #owner: LeaseOwner;
  readonly #policy: EjectionPolicy;
  #probing: boolean;
  #released = false;

  constructor(owner: LeaseOwner, endpoint: PooledEndpoint, options: { policy: EjectionPolicy; isProbe: boolean }) {
    this.#owner = owner;
    this.endpoint = endpoint;
    this.isProbe = options.isProbe;
    this.#probing = options.isProbe;
    this.#policy = options.policy;
    this.startedMs = owner.clock.nowMs();
    endpoint.cell.requestStarted();
  }

  /** Milliseconds since the lease was acquired. */
  elapsedMs(): number {
    return this.#owner.clock.nowMs() - this.startedMs;
  }

  /** The response head came and is no failure: notes the latency, and a probe has succeeded. */
  answered(elapsedMs: number): void {
    this.endpoint.cell.latencySeen(elapsedMs);
    if (!this.#probing) return;
    this.#probing = false;
    this.endpoint.cell.probeSucceeded(this.#owner.clock.nowMs());
    this.#owner.trafficChanged({ endpoint: this.endpoint, to: 'active', why: null, failures: 0, forMs: 0 });
  }

  /** Ends the attempt and judges the endpoint by its outcome. A second call does nothing. */
  release(outcome: Outcome): void {
    if (this.#released) return;
    this.#released = true;
    const { cell } = this.endpoint;
    cell.requestEnded(outcome);
    if (isFailure(outcome)) this.#failed(outcome);
    else if (this.#probing) cell.probeAbandoned(this.#owner.clock.nowMs());
    else if (outcome === 'success') cell.countSuccess();
  }

  #failed(why: Failure): void {
    const { cell } = this.endpoint;
    const failures = cell.countFailure();
    if (this.#probing) {
      const { forMs, step } = this.#nextEjection();
      cell.probeFailed(this.#owner.clock.nowMs() + forMs, why);
      cell.setBackoffStep(grownStep(this.#policy, step));
      this.#owner.trafficChanged({ endpoint: this.endpoint, to: 'ejected', why, failures, forMs });
      return;
    }
    if (failures < this.#policy.consecutiveFailures || !cell.isActive()) return;
    const allowance = ejectionAllowance(this.#owner.healthyCount, this.#policy.maxPercent);
    if (this.#owner.ejectedCount() >= allowance) return;
    const { forMs, step } = this.#nextEjection();
    const untilMs = this.#owner.clock.nowMs() + forMs;
    if (!cell.eject(untilMs, why, failures)) return;
    // Two workers may have ejected two endpoints at once: whoever sees one too many takes its own back.
    if (this.#owner.ejectedCount() > allowance) {
      cell.undoEjection(untilMs);
      this.#owner.bumpEpoch();
      return;
    }
    cell.setBackoffStep(grownStep(this.#policy, step));
    this.#owner.trafficChanged({ endpoint: this.endpoint, to: 'ejected', why, failures, forMs });
  }

  /** How long the next ejection is, and the step that it is of. */
  #nextEjection(): { readonly forMs: number; readonly step: number } {
    const { step, returnedAtMs } = this.endpoint.cell.backoff();
    const { clock } = this.#owner;
    const decayed = this.#probing ? step : decayedStep(this.#policy, step, clock.nowMs() - returnedAtMs);
    return { forMs: ejectionMs(this.#policy, decayed, clock.random()), step: decayed };
  }
}
