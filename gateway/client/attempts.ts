// The attempts of one request: an endpoint after the other, until one answers or no more may be tried.
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Outcome } from '../core/failure.ts';
import type { Log } from '../core/log.ts';
import type { Lease } from '../pool/lease.ts';
import type { NoLease } from '../pool/pool.ts';
import type { PooledEndpoint } from '../pool/pooled-endpoint.ts';
import { decideRetry, type FailedAttempt, isWithinBudget } from '../resilience/retry.ts';
import { retryReason } from '../shared/service-cell.ts';
import { type AnswerFields, type AnswerHead, Attempt, type AttemptEvents } from './attempt.ts';
import { failureOf, isCallersFault, type SocketErrors } from './attempt-error.ts';
import type { RequestBody } from './request-body.ts';
import type { RequestFields } from './request-fields.ts';
import type { ChoosingRequest, Service } from './service.ts';

/** The request whose attempts these are. */
export interface AttemptsOwner extends Omit<AttemptEvents, 'onFailure'>, ChoosingRequest {
  readonly service: Service;
  readonly sockets: SocketErrors;
  readonly log: Log;
  /** As the caller gave them. */
  readonly options: Dispatcher.DispatchOptions;
  readonly fields: RequestFields;
  readonly body: RequestBody;
  /** Whether the method is idempotent or the caller vouches for the request by an Idempotency-Key. */
  readonly isRepeatable: boolean;
  readonly isFinished: boolean;
  /** No attempt gave an answer for the caller: `error` is that of the last; undefined where none could be made. */
  attemptsFailed(error: Error | undefined, why: NoLease | undefined): void;
  /** Calls `then` in a moment, as if the caller did. */
  soon(then: () => void): void;
}

const GIVEN_UP = new Error('another endpoint is asked');

export class Attempts implements AttemptEvents {
  readonly #owner: AttemptsOwner;
  readonly #tried: PooledEndpoint[] = [];
  readonly #branch: number;
  readonly #hash: number | undefined;
  #lease: Lease | undefined;
  #attempt: Attempt | undefined;
  #hasResentStale = false;
  #isAnswering = false;
  /** What the answer under way says of its endpoint. */
  #verdict: Outcome = 'success';

  constructor(owner: AttemptsOwner) {
    this.#owner = owner;
    const { choice } = owner.service;
    this.#branch = choice.branchFor(owner);
    this.#hash = choice.hashOf(owner, '');
  }

  start(lastError?: Error): void {
    if (this.#owner.isFinished) return;
    const acquired = this.#acquire();
    if (typeof acquired === 'string') this.#owner.attemptsFailed(lastError, acquired);
    else this.#send(acquired);
  }

  pause(): void {
    this.#attempt?.pause();
  }

  resume(): void {
    this.#attempt?.resume();
  }

  /** Gives the attempt under way up. */
  abort(outcome: Outcome, reason: Error): void {
    this.#attempt?.abort(reason);
    this.#release(outcome);
  }

  onBodySent(octets: Buffer): void {
    this.#owner.onBodySent(octets);
  }

  onRequestSent(): void {
    this.#owner.onRequestSent();
  }

  onResponseStarted(): void {
    this.#owner.onResponseStarted();
  }

  onInterim(head: AnswerHead): void {
    this.#owner.onInterim(head);
  }

  onHead(head: AnswerHead): void {
    const lease = this.#lease;
    if (lease === undefined) return;
    const { service, body } = this.#owner;
    const elapsedMs = lease.elapsedMs();
    service.pool.shared.observeUpstream(elapsedMs / 1000);
    // An endpoint that says when to come back is loaded, not broken.
    const isFailure = service.failureStatuses.has(head.status) && head.headers['retry-after'] === undefined;
    this.#verdict = isFailure ? 'status' : 'success';
    if (service.retryStatuses.has(head.status) && this.#retryElsewhere()) return;
    if (this.#verdict === 'success') lease.answered(elapsedMs);
    this.#isAnswering = true;
    body.settle();
    this.#owner.onHead(head);
  }

  onContent(octets: Buffer): void {
    this.#owner.onContent(octets);
  }

  onEnd(trailers: AnswerFields, rawTrailers: Dispatcher.DispatchController['rawTrailers']): void {
    this.#release(this.#verdict);
    this.#owner.onEnd(trailers, rawTrailers);
  }

  onUpgrade(head: AnswerHead, socket: Duplex): void {
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease !== undefined) {
      lease.answered(lease.elapsedMs());
      // What was upgraded is under way until it closes.
      socket.once('close', () => lease.release('success'));
    }
    this.#owner.onUpgrade(head, socket);
  }

  onFailure(error: Error): void {
    const lease = this.#lease;
    const attempt = this.#attempt;
    if (lease === undefined || attempt === undefined) return;
    const { body, sockets } = this.#owner;
    if (body.isBrokenBy(error) || isCallersFault(error)) {
      this.#release('client_gone');
      this.#owner.attemptsFailed(error, undefined);
      return;
    }
    if (this.#isAnswering) {
      this.#release('truncated');
      this.#owner.attemptsFailed(error, undefined);
      return;
    }
    const failure = failureOf(error, attempt.isSent, sockets);
    const isStale = attempt.isStale && failure === 'connection_terminated';
    if (isStale && !this.#hasResentStale && this.#owner.isRepeatable && body.isReplayable()) {
      // The endpoint closed a kept connection: that says nothing against it, a fresh one decides.
      this.#hasResentStale = true;
      this.#owner.soon(() => this.#send(lease));
      return;
    }
    this.#release(!attempt.isSent && sockets.isLocalShortage(error) ? 'client_gone' : failure);
    const reason = retryReason(failure);
    if (!this.#mayRetry(reason, attempt.isSent)) {
      this.#owner.attemptsFailed(error, undefined);
      return;
    }
    this.#owner.service.pool.shared.countRetry(reason);
    this.#owner.soon(() => this.start(error));
  }

  /** Sends the request to another endpoint because of the status that this one gave, if there is one. */
  #retryElsewhere(): boolean {
    if (!this.#mayRetry('status', true)) return false;
    const next = this.#acquire();
    // Nobody else to ask: this answer is better than none.
    if (typeof next === 'string') return false;
    this.#attempt?.abort(GIVEN_UP);
    this.#release(this.#verdict);
    this.#owner.service.pool.shared.countRetry('status');
    this.#owner.soon(() => this.#send(next));
    return true;
  }

  #acquire(): Lease | NoLease {
    const { service, isRepeatable } = this.#owner;
    const options = { tried: this.#tried, hash: this.#hash, failOpen: true, isRepeatable };
    return service.choice.acquire(this.#branch, options);
  }

  #send(lease: Lease): void {
    if (this.#owner.isFinished) {
      lease.release('client_gone');
      return;
    }
    const { service, options, fields, body } = this.#owner;
    const { timeout } = service.config;
    const { endpoint } = lease;
    if (!this.#tried.includes(endpoint)) {
      this.#tried.push(endpoint);
      service.pool.shared.countForBudget(lease.startedMs, this.#tried.length > 1);
    }
    this.#lease = lease;
    this.#attempt = new Attempt(service.connections.take(endpoint, this.#hasResentStale), this);
    this.#attempt.start({
      ...options,
      headers: fields.lines,
      body: body.next(),
      headersTimeout: options.headersTimeout ?? timeout.responseMs,
      bodyTimeout: options.bodyTimeout ?? timeout.idleMs,
    });
  }

  #mayRetry(reason: FailedAttempt['reason'], sent: boolean): boolean {
    const { config, pool } = this.#owner.service;
    const { shared, clock } = pool;
    const decision = decideRetry(config.retry, {
      reason,
      attempts: this.#tried.length,
      sent,
      repeatable: this.#owner.isRepeatable,
      replayable: this.#owner.body.isReplayable(),
    });
    if (decision === 'no') return false;
    if (decision !== 'yes') {
      shared.countDenial(decision);
      return false;
    }
    const { requests, retries } = shared.budgetWindow(clock.nowMs());
    if (isWithinBudget(config.retry, requests, retries)) return true;
    shared.countDenial('budget');
    return false;
  }

  /** Ends the attempt under way. */
  #release(outcome: Outcome): void {
    const lease = this.#lease;
    if (lease === undefined) return;
    this.#lease = undefined;
    lease.release(outcome);
    if (outcome === 'success') return;
    const { service, log } = this.#owner;
    const ms = Math.round(lease.elapsedMs() * 10) / 10;
    log.debug({ service: service.name, endpoint: lease.endpoint.key, outcome, ms }, 'attempt ended without success');
  }
}
