// What the outcomes of attempts mean for the endpoints of a pool and for its breaker (SPEC section 6).
import type { Clock } from '../core/clock.ts';
import { type Failure, isFailure, type Outcome } from '../core/failure.ts';
import { opensBreaker } from '../resilience/breaker.ts';
import {
  decayedStep,
  ejectionAllowance,
  ejectionMs,
  grownStep,
  lowerMedian,
  tooManyFailures,
  tooSlow,
} from '../resilience/ejection.ts';
import { PASSED } from '../shared/breaker-words.ts';
import type { EjectionReason } from '../shared/endpoint-cell.ts';
import { windowTick } from '../shared/lane-window.ts';
import type { ServiceCell } from '../shared/service-cell.ts';
import type { Lease } from './lease.ts';
import type { PoolPolicies } from './policies.ts';
import type { PooledEndpoint } from './pooled-endpoint.ts';

/** An endpoint that was set aside or came back, for the log. */
export interface TrafficChange {
  readonly endpoint: PooledEndpoint;
  readonly to: 'ejected' | 'active';
  /** Why it was set aside; null for one that came back. */
  readonly reason: EjectionReason | null;
  readonly forMs: number;
}

/** The breaker opened or closed, for the log; the figures are those of its window. */
export interface BreakerChange {
  readonly to: 'open' | 'closed';
  readonly attempts: number;
  readonly failures: number;
}

/** What the judge needs of the pool whose attempts it judges. */
export interface JudgedPool {
  readonly shared: ServiceCell;
  readonly clock: Clock;
  readonly policies: PoolPolicies;
  /** Those that their source and the operator let take traffic. */
  readonly usable: readonly PooledEndpoint[];
  /** Tells all workers to look anew at who is set aside, and the log why. */
  trafficChanged(change: TrafficChange): void;
  breakerChanged(change: BreakerChange): void;
}

/** How often the latencies of a pool are compared. */
const SLOW_CHECK_MS = 1000;

export class TrafficJudge {
  readonly #pool: JudgedPool;
  #slowCheckDueMs = 0;

  constructor(pool: JudgedPool) {
    this.#pool = pool;
  }

  /**
   * The head of a good answer came: that is the verdict, and counted now, for streams and tunnels may go on for hours.
   * What breaks off later is a failure.
   */
  answered(lease: Lease, elapsedMs: number): void {
    if (lease.hasAnswered) return;
    lease.hasAnswered = true;
    const { policies } = this.#pool;
    const { cell } = lease.endpoint;
    const nowMs = lease.startedMs + elapsedMs;
    if (lease.isProbe && cell.probeSucceeded(nowMs)) {
      this.#pool.trafficChanged({ endpoint: lease.endpoint, to: 'active', reason: null, forMs: 0 });
    }
    cell.countInWindow(windowTick(nowMs, policies.ejection.windowMs), false);
    this.#succeededForBreaker(lease, nowMs);
    cell.latencySeen(elapsedMs, nowMs, policies.isPeakSensitive);
    if (policies.ejection.slowerThan !== Number.POSITIVE_INFINITY) this.#compareLatencies(nowMs);
  }

  /** The attempt has ended. */
  released(lease: Lease, outcome: Outcome): void {
    const { shared, clock, policies } = this.#pool;
    shared.requestEnded();
    if (outcome === 'success' && lease.hasAnswered) return;
    const nowMs = clock.nowMs();
    const { cell } = lease.endpoint;
    const isUndecided = lease.isProbe && !lease.hasAnswered;
    if (isFailure(outcome)) {
      const failures = cell.countFailure();
      if (isUndecided) this.#probeFailed(lease.endpoint, { why: outcome, failures }, nowMs);
      else this.#judgeFailure(lease, { why: outcome, failures }, nowMs);
      this.#failedForBreaker(lease, nowMs);
      return;
    }
    if (isUndecided) cell.probeAbandoned(nowMs);
    if (lease.hasAnswered) return;
    if (outcome === 'success') {
      cell.countInWindow(windowTick(nowMs, policies.ejection.windowMs), false);
      this.#succeededForBreaker(lease, nowMs);
    } else if (lease.breakerToken !== PASSED) {
      this.#breakerProbeEnded(lease.breakerToken, null, nowMs);
    }
  }

  #succeededForBreaker({ breakerToken }: Lease, nowMs: number): void {
    const { shared, policies } = this.#pool;
    if (breakerToken !== PASSED) this.#breakerProbeEnded(breakerToken, true, nowMs);
    else if (policies.breaker !== null) shared.countForBreaker(windowTick(nowMs, policies.breaker.windowMs), false);
  }

  #failedForBreaker({ breakerToken, hasAnswered }: Lease, nowMs: number): void {
    const { shared, policies } = this.#pool;
    const { breaker: policy } = policies;
    if (policy === null) return;
    if (breakerToken !== PASSED && !hasAnswered) {
      this.#breakerProbeEnded(breakerToken, false, nowMs);
      return;
    }
    const tick = windowTick(nowMs, policy.windowMs);
    if (hasAnswered) shared.failedForBreaker(tick);
    else shared.countForBreaker(tick, true);
    const { attempts, failures } = shared.breakerWindow(tick);
    if (opensBreaker(policy, attempts, failures) && shared.openBreaker(policy, nowMs)) {
      this.#pool.breakerChanged({ to: 'open', attempts, failures });
    }
  }

  /** A probe of the breaker has ended; null for one without a verdict. */
  #breakerProbeEnded(token: number, isGood: boolean | null, nowMs: number): void {
    const { shared, policies } = this.#pool;
    const { breaker: policy } = policies;
    if (policy === null) return;
    const change = shared.breakerProbeEnded({ policy, nowMs, token, isGood });
    if (change === 'opened') this.#pool.breakerChanged({ to: 'open', attempts: policy.probes, failures: 1 });
    if (change === 'closed') this.#pool.breakerChanged({ to: 'closed', attempts: policy.probes, failures: 0 });
  }

  #judgeFailure({ endpoint, hasAnswered }: Lease, failed: { why: Failure; failures: number }, nowMs: number): void {
    const { ejection: policy } = this.#pool.policies;
    const { cell } = endpoint;
    const tick = windowTick(nowMs, policy.windowMs);
    if (hasAnswered) cell.failedInWindow(tick);
    else cell.countInWindow(tick, true);
    if (cell.isEjected()) return;
    const { why, failures } = failed;
    if (failures >= policy.consecutiveFailures) {
      this.#eject(endpoint, { why, trigger: 'consecutive_failures', figure: failures }, nowMs);
      return;
    }
    const percent = tooManyFailures(policy, cell.attemptsInWindow(tick), cell.failuresInWindow(tick));
    if (percent !== null) this.#eject(endpoint, { why, trigger: 'failure_percent', figure: percent }, nowMs);
  }

  #compareLatencies(nowMs: number): void {
    if (nowMs < this.#slowCheckDueMs) return;
    this.#slowCheckDueMs = nowMs + SLOW_CHECK_MS;
    const { usable, policies } = this.#pool;
    const { ejection: policy } = policies;
    const tick = windowTick(nowMs, policy.windowMs);
    const judged = usable.filter(({ cell }) => {
      return !cell.isEjected() && cell.latencyMs() > 0 && cell.attemptsInWindow(tick) >= policy.minRequests;
    });
    if (judged.length < 2) return;
    const medianMs = lowerMedian(judged.map(({ cell }) => cell.latencyMs()));
    for (const endpoint of judged) {
      const ratio = tooSlow(policy, endpoint.cell.latencyMs(), medianMs);
      if (ratio === null) continue;
      this.#eject(endpoint, { why: 'status', trigger: 'slow', figure: Math.round(ratio * 10) }, nowMs);
    }
  }

  /** Sets the endpoint aside, if the pool can spare it. */
  #eject(endpoint: PooledEndpoint, reason: EjectionReason, nowMs: number): void {
    const { usable, policies } = this.#pool;
    const allowance = ejectionAllowance(usable.length, policies.ejection.maxPercent);
    if (this.#ejectedCount() >= allowance) return;
    const { forMs, step } = this.#nextEjection(endpoint, nowMs);
    const untilMs = nowMs + forMs;
    if (!endpoint.cell.eject(untilMs, reason)) return;
    // Two workers may have ejected two endpoints at once: whoever sees one too many takes its own back.
    if (this.#ejectedCount() > allowance) {
      endpoint.cell.undoEjection(untilMs, reason);
      this.#pool.shared.bumpEpoch();
      return;
    }
    endpoint.cell.setBackoffStep(grownStep(policies.ejection, step));
    this.#pool.trafficChanged({ endpoint, to: 'ejected', reason, forMs });
  }

  #probeFailed(endpoint: PooledEndpoint, { why, failures }: { why: Failure; failures: number }, nowMs: number): void {
    const { ejection: policy } = this.#pool.policies;
    const { step } = endpoint.cell.backoff();
    const forMs = ejectionMs(policy, step, this.#pool.clock.random());
    const reason: EjectionReason = { why, trigger: 'consecutive_failures', figure: failures };
    if (!endpoint.cell.probeFailed(nowMs + forMs, reason)) return;
    endpoint.cell.setBackoffStep(grownStep(policy, step));
    this.#pool.trafficChanged({ endpoint, to: 'ejected', reason, forMs });
  }

  /** How long the next ejection is, and the step that it is of. */
  #nextEjection({ cell }: PooledEndpoint, nowMs: number): { readonly forMs: number; readonly step: number } {
    const { ejection: policy } = this.#pool.policies;
    const { step, returnedAtMs } = cell.backoff();
    const decayed = decayedStep(policy, step, nowMs - returnedAtMs);
    return { forMs: ejectionMs(policy, decayed, this.#pool.clock.random()), step: decayed };
  }

  #ejectedCount(): number {
    let count = 0;
    for (const { cell } of this.#pool.usable) if (cell.isEjected()) count++;
    return count;
  }
}
