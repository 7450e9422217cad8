// The life of one matched request: attempts at endpoints, retries, the answer or the fallback, and its record.
import type { AttemptRecord } from '../core/access-record.ts';
import type { ErrorSituation } from '../core/errors.ts';
import type { AttemptFailure, Outcome } from '../core/failure.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { Lease } from '../pool/lease.ts';
import type { NoLease } from '../pool/pool.ts';
import type { PooledEndpoint } from '../pool/pooled-endpoint.ts';
import { type FailedAttempt, isIdempotent, mayRetry } from '../resilience/retry.ts';
import { withoutQuery } from '../routing/path.ts';
import { type DegradedReason, retryReason } from '../shared/service-cell.ts';
import { errorAnswer, sendAnswer } from './answers.ts';
import type { ExchangeEvents, RequestContent } from './exchange.ts';
import { type DegradedTransaction, Fallback } from './fallback.ts';
import type { FieldRewrite } from './forwarded-fields.ts';
import { Relay, type RelayOwner } from './relay.ts';
import { hostFor } from './route.ts';
import type { RoutedRequest, TransactionServices } from './routed-request.ts';
import type { UpstreamFailure } from './upstream.ts';

export class Transaction implements ExchangeEvents, RelayOwner, DegradedTransaction {
  readonly request: RoutedRequest;
  readonly services: TransactionServices;
  readonly #startedMs: number;
  readonly #tried: PooledEndpoint[] = [];
  readonly #attempts: AttemptRecord[] = [];
  readonly #isRepeatable: boolean;
  #content: RequestContent | null = null;
  #lease: Lease | undefined;
  #relay: Relay | undefined;
  #fallback: Fallback | undefined;
  #hasResentStale = false;
  /** What the answer under way says of its endpoint. */
  #verdict: Outcome = 'success';
  #status = 0;
  /** Content of Weir's own answer, which goes out after the record is written. */
  #ownBytes = 0;
  #totalTimer: NodeJS.Timeout | undefined;
  #isFinished = false;

  constructor(request: RoutedRequest, services: TransactionServices) {
    this.request = request;
    this.services = services;
    this.#startedMs = services.clock.nowMs();
    const { exchange } = request;
    this.#isRepeatable = isIdempotent(exchange.method) || exchange.header('idempotency-key') !== undefined;
  }

  get content(): RequestContent | null {
    return this.#content;
  }

  start(): void {
    const { exchange, route } = this.request;
    const { timeout, retry } = route.config;
    route.counts.requestStarted();
    exchange.listen(this);
    if ((exchange.announcedBytes ?? 0) > route.maxBodyBytes) {
      this.answer('content_too_large');
      return;
    }
    this.#content = exchange.openContent({ maxBytes: route.maxBodyBytes, bufferBytes: retry.bodyBufferBytes });
    if (this.#isFinished) return;
    if (timeout.totalMs !== Number.POSITIVE_INFINITY) {
      this.#totalTimer = setTimeout(() => this.#outOfTime(), timeout.totalMs);
    }
    this.#attempt();
  }

  onDrain(): void {
    this.#relay?.drained();
    this.#fallback?.drained();
  }

  onGone(): void {
    this.#stopCalls('client_gone');
    this.#finish('client_gone');
  }

  onContentTooLarge(): void {
    this.#stopCalls('client_gone');
    if (this.request.exchange.isHeadSent) {
      this.request.exchange.breakOff();
      this.#finish('content_too_large');
    } else {
      this.answer('content_too_large');
    }
  }

  get responseRewrite(): FieldRewrite {
    return this.request.route.responseRewrite;
  }

  addedLines(): string {
    return '';
  }

  headArrived({ status, fields }: ResponseHead): boolean {
    const { route } = this.request;
    const lease = this.#lease;
    if (lease === undefined) return false;
    const elapsedMs = lease.elapsedMs();
    route.pool.shared.observeUpstream(elapsedMs / 1000);
    // An endpoint that says when to come back is loaded, not broken.
    const isFailure = route.failureStatuses.has(status) && fields.get('retry-after') === undefined;
    this.#verdict = isFailure ? 'status' : 'success';
    if (route.retryStatuses.has(status) && this.#mayRetry('status', true)) {
      const next = this.#acquire();
      // Nobody else to ask: this answer is better than none.
      if (typeof next !== 'string') {
        this.#release(this.#verdict);
        route.pool.shared.countRetry('status');
        queueMicrotask(() => this.#send(next));
        return false;
      }
    }
    if (this.#verdict === 'success') {
      lease.answered(elapsedMs);
      if (route.pool.shared.leaveDegraded()) this.services.onDegraded(route.service, null);
    }
    this.#status = status;
    return true;
  }

  callFailed(failed: UpstreamFailure): void {
    const lease = this.#lease;
    if (lease === undefined) return;
    const reason = retryReason(failed.failure);
    const replayable = this.#content?.isReplayable() ?? true;
    if (failed.stale && !this.#hasResentStale && this.#isRepeatable && replayable) {
      // The endpoint closed a kept connection: that says nothing against it, a fresh one decides.
      this.#hasResentStale = true;
      queueMicrotask(() => this.#send(lease));
      return;
    }
    this.#release(failed.isLocal ? 'client_gone' : failed.failure);
    if (!this.#mayRetry(reason, failed.sent)) {
      this.degrade('unreachable', failed.failure);
      return;
    }
    this.request.route.pool.shared.countRetry(reason);
    this.#attempt(failed.failure);
  }

  answerEnded(outcome: 'success' | 'truncated'): void {
    this.#release(outcome === 'truncated' ? 'truncated' : this.#verdict);
    this.#finish(outcome === 'truncated' ? 'truncated' : null);
  }

  /** Answers without the pool: by the fallback if the route has one for this reason, else with the error. */
  degrade(reason: DegradedReason, situation: ErrorSituation): void {
    const { route } = this.request;
    if (route.fallback === null || !route.fallback.on.has(reason)) {
      this.answer(situation);
      return;
    }
    const isNew = route.pool.shared.enterDegraded(reason, this.services.clock.wallMs());
    if (isNew) this.services.onDegraded(route.service, reason);
    this.#fallback = new Fallback(this, { chain: route.fallback.chain, reason, situation });
    this.#fallback.serve();
  }

  /** Answers with Weir's own words for a situation. */
  answer(situation: ErrorSituation): void {
    const { exchange, requestId } = this.request;
    const answer = errorAnswer(situation, requestId, exchange.header('accept'));
    this.#status = answer.head.status;
    this.#ownBytes = answer.content.length;
    this.#finish(situation);
    sendAnswer(exchange, answer);
  }

  fallbackAnswered(status: number): void {
    this.#status = status;
  }

  fallbackEnded(error: string | null): void {
    this.#finish(error);
  }

  #attempt(lastFailure?: AttemptFailure): void {
    const acquired = this.#acquire();
    if (typeof acquired !== 'string') this.#send(acquired);
    else if (acquired === 'empty') this.degrade('empty', 'empty_pool');
    else this.degrade('unreachable', lastFailure ?? 'empty_pool');
  }

  #acquire(): Lease | NoLease {
    const { pool, fallback, config } = this.request.route;
    const failOpen = fallback === null || !fallback.on.has('unreachable');
    return pool.acquire({ tried: this.#tried, ejection: config.ejection, failOpen });
  }

  #send(lease: Lease): void {
    if (this.#isFinished) {
      lease.release('client_gone');
      return;
    }
    const { exchange, route, target, lines } = this.request;
    const { endpoint } = lease;
    if (!this.#tried.includes(endpoint)) this.#tried.push(endpoint);
    this.#lease = lease;
    this.#relay = new Relay(exchange, this);
    this.#relay.start(this.services.upstream, endpoint, {
      method: exchange.method,
      target,
      host: hostFor(route, exchange.host, endpoint.key),
      lines,
      content: this.#content,
      timeouts: route.config.timeout,
      tls: route.tls,
      dropTrailers: route.requestRewrite.drop,
      needsFresh: this.#hasResentStale,
    });
  }

  #mayRetry(reason: FailedAttempt['reason'], sent: boolean): boolean {
    return mayRetry(this.request.route.config.retry, {
      reason,
      attempts: this.#tried.length,
      sent,
      repeatable: this.#isRepeatable,
      replayable: this.#content?.isReplayable() ?? true,
    });
  }

  /** Ends the attempt under way. */
  #release(outcome: Outcome): void {
    const lease = this.#lease;
    if (lease === undefined) return;
    this.#lease = undefined;
    lease.release(outcome);
    this.#attempts.push({ endpoint: lease.endpoint.key, outcome, ms: Math.round(lease.elapsedMs() * 10) / 10 });
  }

  #stopCalls(outcome: Outcome): void {
    this.#relay?.abort();
    this.#fallback?.abort();
    this.#release(outcome);
  }

  #outOfTime(): void {
    const { exchange } = this.request;
    const isAwaitingClient = exchange.isHeadSent || this.#content?.isComplete === false;
    // A client that reads or sends slowly says nothing against the endpoint.
    this.#stopCalls(isAwaitingClient ? 'client_gone' : 'http_response_timeout');
    if (exchange.isHeadSent) {
      exchange.breakOff();
      this.#finish('http_response_timeout');
    } else if (this.#fallback === undefined) {
      this.degrade('unreachable', 'http_response_timeout');
    } else {
      this.answer('http_response_timeout');
    }
  }

  #finish(error: string | null): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#totalTimer);
    const { exchange, route, requestId, client } = this.request;
    const durationMs = this.services.clock.nowMs() - this.#startedMs;
    // A client that left before the answer is counted as nginx does: 499.
    route.counts.requestEnded(exchange.method, this.#status === 0 ? 499 : this.#status, durationMs / 1000);
    this.services.onFinished?.({
      requestId,
      client,
      method: exchange.method,
      host: exchange.host,
      path: withoutQuery(exchange.target),
      status: this.#status,
      bytes: this.#ownBytes + exchange.contentBytes,
      durationMs,
      route: route.name,
      service: route.service,
      attempts: this.#attempts,
      degraded: this.#fallback?.label ?? null,
      error,
      userAgent: exchange.header('user-agent') ?? null,
    });
  }
}
