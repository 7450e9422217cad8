// The attempts of one request: an endpoint after the other, until one answers or no more may be tried.
import type { AttemptRecord } from '../core/access-record.ts';
import type { ErrorSituation } from '../core/errors.ts';
import type { AttemptFailure, Outcome } from '../core/failure.ts';
import type { AttemptTrace } from '../core/tracing.ts';
import type { FieldTable } from '../http1/field-table.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { Group } from '../pool/group.ts';
import type { Lease } from '../pool/lease.ts';
import type { NoLease } from '../pool/pool.ts';
import type { PooledEndpoint } from '../pool/pooled-endpoint.ts';
import { decideRetry, type FailedAttempt, isIdempotent, isWithinBudget } from '../resilience/retry.ts';
import type { DegradedReason } from '../shared/degraded-words.ts';
import { retryReason } from '../shared/service-cell.ts';
import { beginCopy } from './answers/answer-copy.ts';
import type { RequestContent } from './exchange.ts';
import type { FieldRewrite } from './forwarded-fields.ts';
import { http2Wishes, meantStatus } from './grpc.ts';
import { Relay, type RelayOwner } from './relay.ts';
import { type RoutedRequest, staleKey, type TransactionServices } from './routed-request.ts';
import { hostFor } from './routes/route.ts';
import { beginAttempt, tracedLines } from './traced-attempt.ts';
import type { UpstreamFailure } from './upstream/upstream.ts';

/** The transaction whose attempts these are. */
export interface AttemptsOwner {
  readonly request: RoutedRequest;
  readonly services: TransactionServices;
  readonly content: RequestContent | null;
  readonly isFinished: boolean;
  /** Field lines that an answer with these `lines` gets besides. */
  addedLines(lines: string): string;
  /** What is left of the time that a gRPC client gives, in ms; null where it gives none. */
  readonly grpcTimeLeftMs: number | null;
  /** Whether the fallback has an answer at hand in place of the service's own. */
  canDegrade(): boolean;
  /** The head of an answer goes to the client. */
  answering(status: number): void;
  /** No attempt gave an answer for the client. */
  attemptsFailed(reason: DegradedReason, situation: ErrorSituation): void;
  /** The answer went out whole (null), or what broke it off. */
  attemptsEnded(error: string | null): void;
}

export class Attempts implements RelayOwner {
  readonly #owner: AttemptsOwner;
  readonly #tried: PooledEndpoint[] = [];
  readonly #records: AttemptRecord[] = [];
  readonly #isRepeatable: boolean;
  /** What the endpoint tried last was chosen from. */
  #group: Group | undefined;
  #lease: Lease | undefined;
  #relay: Relay | undefined;
  #trace: AttemptTrace | null = null;
  #hasResentStale = false;
  /** Whether an endpoint may have had the request. */
  #hasReached = false;
  /** What the answer under way says of its endpoint. */
  #verdict: Outcome = 'success';

  constructor(owner: AttemptsOwner) {
    this.#owner = owner;
    const { exchange } = owner.request;
    this.#isRepeatable = isIdempotent(exchange.method) || exchange.header('idempotency-key') !== undefined;
  }

  get records(): readonly AttemptRecord[] {
    return this.#records;
  }

  /** The branch of the split that served the request, and the one that it was for where that had no endpoint. */
  get branchLabel(): string | null {
    const { route, branch } = this.#owner.request;
    return route.choice.labelOf(this.#group, branch);
  }

  /** Whether somebody else may be sent the request without its being carried out twice. */
  get mayRepeat(): boolean {
    return !this.#hasReached || this.#isRepeatable;
  }

  start(lastFailure?: AttemptFailure): void {
    const acquired = this.#acquire();
    if (typeof acquired !== 'string') {
      if (lastFailure !== undefined) this.#countRetry(retryReason(lastFailure));
      this.#send(acquired);
    } else if (acquired === 'empty') this.#owner.attemptsFailed('empty', 'empty_pool');
    else if (acquired === 'breaker') this.#owner.attemptsFailed('breaker', lastFailure ?? 'breaker_open');
    else this.#owner.attemptsFailed('unreachable', lastFailure ?? 'empty_pool');
  }

  drained(): void {
    this.#relay?.drained();
  }

  /** Gives the attempt under way up. */
  abort(outcome: Outcome): void {
    if (this.#lease !== undefined) this.#hasReached = true;
    this.#relay?.abort();
    this.#release(outcome);
  }

  get responseRewrite(): FieldRewrite {
    return this.#owner.request.route.responseRewrite;
  }

  addedLines(lines: string): string {
    return this.#owner.addedLines(lines);
  }

  headArrived(head: ResponseHead): boolean {
    const { request, services } = this.#owner;
    const { route } = request;
    const lease = this.#lease;
    if (lease === undefined) return false;
    this.#hasReached = true;
    this.#trace?.answered(head.status);
    const { fields } = head;
    const status = route.isHttp2 ? meantStatus(head.status, fields, this.#owner.grpcTimeLeftMs !== null) : head.status;
    const elapsedMs = lease.elapsedMs();
    route.pool.shared.observeUpstream(elapsedMs / 1000);
    // An endpoint that says when to come back is loaded, not broken.
    const isFailure = route.failureStatuses.has(status) && fields.get('retry-after') === undefined;
    this.#verdict = isFailure ? 'status' : 'success';
    if (route.retryStatuses.has(status) && this.#retryElsewhere()) return false;
    if (status >= 500 && route.fallback?.on.has('status-5xx') === true && this.#owner.canDegrade()) {
      this.#release(this.#verdict);
      queueMicrotask(() => this.#owner.attemptsFailed('status-5xx', 'failed_status'));
      return false;
    }
    if (this.#verdict === 'success') {
      lease.answered(elapsedMs);
      const { shared } = route.pool;
      const isRecovered = shared.degraded() !== null && shared.leaveDegraded(services.clock.wallMs());
      if (isRecovered) services.onDegraded(route.service, null);
    }
    if (route.keepsStale && services.staleCache !== null) {
      const { exchange } = request;
      const [cache, wallMs] = [services.staleCache, services.clock.wallMs()];
      this.#relay?.copyTo(beginCopy({ exchange, route: staleKey(request), head, cache, wallMs }));
    }
    this.#owner.answering(head.status);
    return true;
  }

  callFailed(failed: UpstreamFailure): void {
    const lease = this.#lease;
    if (lease === undefined) return;
    const reason = retryReason(failed.failure);
    if (failed.sent) this.#hasReached = true;
    const isSafe = this.#isRepeatable || !failed.sent;
    if (failed.stale && !this.#hasResentStale && isSafe && this.#isReplayable()) {
      // The endpoint closed a kept connection: that says nothing against it, a fresh one decides.
      this.#hasResentStale = true;
      this.#endTrace(failed.failure);
      queueMicrotask(() => this.#send(lease));
      return;
    }
    this.#release(failed.isLocal ? 'client_gone' : failed.failure);
    if (!this.#mayRetry(reason, failed.sent)) {
      this.#owner.attemptsFailed('unreachable', failed.failure);
      return;
    }
    this.start(failed.failure);
  }

  answerEnded(outcome: 'success' | 'truncated', trailers: FieldTable | undefined): void {
    const { route } = this.#owner.request;
    if (trailers !== undefined && route.isHttp2 && this.#verdict === 'success') {
      const status = meantStatus(200, trailers, this.#owner.grpcTimeLeftMs !== null);
      if (route.failureStatuses.has(status)) this.#verdict = 'status';
    }
    this.#release(outcome === 'truncated' ? 'truncated' : this.#verdict);
    this.#owner.attemptsEnded(outcome === 'truncated' ? 'truncated' : null);
  }

  /** Sends the request to another endpoint because of the status that this one gave, if there is one. */
  #retryElsewhere(): boolean {
    if (!this.#mayRetry('status', true)) return false;
    const next = this.#acquire();
    // Nobody else to ask: this answer is better than none.
    if (typeof next === 'string') return false;
    this.#release(this.#verdict);
    this.#countRetry('status');
    queueMicrotask(() => this.#send(next));
    return true;
  }

  #acquire(): Lease | NoLease {
    const { route, branch, hash } = this.#owner.request;
    const failOpen = route.fallback === null || !route.fallback.on.has('unreachable');
    return route.choice.acquire(branch, {
      tried: this.#tried,
      hash,
      failOpen,
      isRepeatable: this.#isRepeatable && this.#hasWholeContent(),
    });
  }

  #send(lease: Lease): void {
    if (this.#owner.isFinished) {
      lease.release('client_gone');
      return;
    }
    const { exchange, route, target } = this.#owner.request;
    const { endpoint } = lease;
    if (!this.#tried.includes(endpoint)) {
      this.#tried.push(endpoint);
      route.pool.shared.countForBudget(lease.startedMs, this.#tried.length > 1);
    }
    this.#lease = lease;
    this.#group = lease.group;
    this.#trace = beginAttempt(this.#owner.request, endpoint, route.tls !== null);
    this.#relay = new Relay(exchange, this);
    this.#relay.start(this.#owner.services.upstream, endpoint, {
      method: exchange.method,
      target,
      host: hostFor(route, exchange.host, endpoint.key),
      lines: tracedLines(this.#owner.request, this.#trace),
      content: this.#owner.content,
      timeouts: route.config.timeout,
      tls: route.tls,
      http2: route.isHttp2 ? http2Wishes(exchange, this.#owner.grpcTimeLeftMs) : null,
      dropTrailers: route.requestRewrite.drop,
      needsFresh: this.#hasResentStale,
    });
  }

  #mayRetry(reason: FailedAttempt['reason'], sent: boolean): boolean {
    const { route } = this.#owner.request;
    const { retry } = route.config;
    const { shared, clock } = route.pool;
    const decision = decideRetry(retry, {
      reason,
      attempts: this.#tried.length,
      sent,
      repeatable: this.#isRepeatable,
      replayable: this.#isReplayable(),
    });
    if (decision === 'no') return false;
    if (decision !== 'yes') {
      shared.countDenial(decision);
      return false;
    }
    const { requests, retries } = shared.budgetWindow(clock.nowMs());
    if (isWithinBudget(retry, requests, retries)) return true;
    shared.countDenial('budget');
    return false;
  }

  #countRetry(reason: FailedAttempt['reason']): void {
    this.#owner.request.route.pool.shared.countRetry(reason);
  }

  /** A request whose content still comes in could keep an endpoint on probation for as long as it likes. */
  #hasWholeContent(): boolean {
    return this.#owner.content?.isComplete ?? true;
  }

  #isReplayable(): boolean {
    return this.#owner.content?.isReplayable() ?? true;
  }

  /** Ends the attempt under way. */
  #release(outcome: Outcome): void {
    const lease = this.#lease;
    if (lease === undefined) return;
    this.#lease = undefined;
    this.#endTrace(outcome);
    lease.release(outcome);
    if (this.#owner.services.onFinished === null) return;
    this.#records.push({ endpoint: lease.endpoint.key, outcome, ms: Math.round(lease.elapsedMs() * 10) / 10 });
  }

  #endTrace(outcome: Outcome): void {
    this.#trace?.end(outcome);
    this.#trace = null;
  }
}
