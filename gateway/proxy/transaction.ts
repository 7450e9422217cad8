// One routed request from its admission to its record: limits, attempts, fallback, answer.
import type { ErrorSituation } from '../core/errors.ts';
import type { Outcome } from '../core/failure.ts';
import { withoutQuery } from '../routing/path.ts';
import type { DegradedReason } from '../shared/degraded-words.ts';
import { errorAnswer, sendAnswer } from './answers.ts';
import { Attempts, type AttemptsOwner } from './attempts.ts';
import type { Waiting } from './concurrency-gate.ts';
import type { ExchangeEvents, RequestContent } from './exchange.ts';
import { canAnswer, type DegradedTransaction, Fallback } from './fallback.ts';
import type { RoutedRequest, TransactionServices } from './routed-request.ts';

export class Transaction implements ExchangeEvents, AttemptsOwner, DegradedTransaction {
  readonly request: RoutedRequest;
  readonly services: TransactionServices;
  readonly #startedMs: number;
  #content: RequestContent | null = null;
  #attempts: Attempts | undefined;
  #fallback: Fallback | undefined;
  #status = 0;
  /** Content of Weir's own answer, which goes out after the record is written. */
  #ownBytes = 0;
  #totalTimer: NodeJS.Timeout | undefined;
  #delayTimer: NodeJS.Timeout | undefined;
  #waiting: Waiting | null = null;
  #hasPlace = false;
  #isOverdue = false;
  #isFinished = false;

  constructor(request: RoutedRequest, services: TransactionServices) {
    this.request = request;
    this.services = services;
    this.#startedMs = services.clock.nowMs();
  }

  get content(): RequestContent | null {
    return this.#content;
  }

  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  get addedLines(): string {
    return this.request.limited?.lines ?? '';
  }

  start(): void {
    const { exchange, route, limited } = this.request;
    route.counts.requestStarted();
    exchange.listen(this);
    const { totalMs } = route.config.timeout;
    if (totalMs !== Number.POSITIVE_INFINITY) this.#totalTimer = setTimeout(() => this.#outOfTime(), totalMs);
    const delayMs = limited?.delayMs ?? 0;
    if (delayMs < 0) {
      route.counts.countRateLimited();
      this.answer('rate_limited');
    } else if (delayMs > 0) {
      this.#delayTimer = setTimeout(() => this.#takePlace(), delayMs);
    } else {
      this.#takePlace();
    }
  }

  onDrain(): void {
    this.#attempts?.drained();
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

  get mayRepeat(): boolean {
    return this.#attempts?.mayRepeat ?? true;
  }

  canDegrade(): boolean {
    return canAnswer(this);
  }

  answering(status: number): void {
    this.#status = status;
  }

  attemptsEnded(error: string | null): void {
    this.#finish(error);
  }

  /** Answers without the pool: by the fallback if the route has one for this reason, else with the error. */
  attemptsFailed(reason: DegradedReason, situation: ErrorSituation): void {
    if (this.#isFinished) return;
    const { route } = this.request;
    const isWanted = reason === 'maintenance' || route.fallback?.on.has(reason) === true;
    if (route.fallback === null || !isWanted) {
      this.answer(situation);
      return;
    }
    // A subset may be empty while other routes of the service are served by the rest of the pool.
    const isWavering = reason !== 'empty' || route.pool.usable.length > 0;
    const isNew = route.pool.shared.enterDegraded(reason, this.services.clock.wallMs(), isWavering);
    if (isNew) this.services.onDegraded(route.service, reason);
    this.#fallback = new Fallback(this, { chain: route.fallback.chain, reason, situation });
    this.#fallback.serve();
  }

  /** Answers with Weir's own words for a situation. */
  answer(situation: ErrorSituation): void {
    const { exchange, requestId } = this.request;
    const wishes = { accept: exchange.header('accept'), lines: this.addedLines };
    const answer = errorAnswer(situation, requestId, wishes);
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

  /** Goes on when the route has room for one more request. */
  #takePlace(): void {
    if (this.#isFinished || this.#isOverdue) return;
    const { gate } = this.request.route;
    if (gate === null) {
      this.#open();
      return;
    }
    if (gate.enter()) {
      this.#hasPlace = true;
      this.#open();
      return;
    }
    this.#waiting = gate.wait((hasPlace) => {
      this.#waiting = null;
      this.#hasPlace = hasPlace;
      if (hasPlace) this.#open();
      else this.answer('concurrency_limit');
    });
    if (this.#waiting === null && !this.#hasPlace && !this.#isFinished) this.answer('concurrency_limit');
  }

  /** Takes the content and makes the attempts. */
  #open(): void {
    const { exchange, route } = this.request;
    const { retry } = route.config;
    if ((exchange.announcedBytes ?? 0) > route.maxBodyBytes) {
      this.answer('content_too_large');
      return;
    }
    this.#content = exchange.openContent({ maxBytes: route.maxBodyBytes, bufferBytes: retry.bodyBufferBytes });
    if (this.#isFinished) return;
    if (route.pool.shared.isInMaintenance()) {
      this.attemptsFailed('maintenance', 'maintenance');
      return;
    }
    this.#attempts = new Attempts(this);
    this.#attempts.start();
  }

  #stopCalls(outcome: Outcome): void {
    this.#attempts?.abort(outcome);
    this.#fallback?.abort();
  }

  #outOfTime(): void {
    const { exchange } = this.request;
    clearTimeout(this.#delayTimer);
    this.#waiting?.cancel();
    this.#waiting = null;
    this.#isOverdue = true;
    const isAwaitingClient = exchange.isHeadSent || this.#content?.isComplete === false;
    // A client that reads or sends slowly says nothing against the endpoint.
    this.#stopCalls(isAwaitingClient ? 'client_gone' : 'http_response_timeout');
    if (exchange.isHeadSent) {
      exchange.breakOff();
      this.#finish('http_response_timeout');
    } else if (this.#fallback === undefined) {
      this.attemptsFailed('unreachable', 'http_response_timeout');
    } else {
      this.#fallback.serve();
    }
  }

  #finish(error: string | null): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#totalTimer);
    clearTimeout(this.#delayTimer);
    this.#waiting?.cancel();
    const { exchange, route, requestId, client } = this.request;
    if (this.#hasPlace) route.gate?.leave();
    const durationMs = this.services.clock.nowMs() - this.#startedMs;
    // A client that left before the answer is counted as nginx does: 499.
    route.counts.requestEnded(exchange.method, this.#status === 0 ? 499 : this.#status, durationMs / 1000);
    this.services.onFinished?.({
      requestId,
      client,
      method: exchange.method,
      version: `1.${exchange.minor}`,
      host: exchange.host,
      path: withoutQuery(exchange.target),
      status: this.#status,
      bytes: this.#ownBytes + exchange.contentBytes,
      durationMs,
      route: route.name,
      service: route.service,
      branch: this.#attempts?.branchLabel ?? null,
      attempts: this.#attempts?.records ?? [],
      degraded: this.#fallback?.label ?? null,
      error,
      userAgent: exchange.header('user-agent') ?? null,
    });
  }
}
