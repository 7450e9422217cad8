// One routed request from its admission to its record: limits, attempts, fallback, answer.
import type { AccessRecord } from '../core/access-record.ts';
import type { ErrorSituation } from '../core/errors.ts';
import type { Outcome } from '../core/failure.ts';
import { withoutQuery } from '../routing/path.ts';
import type { DegradedReason } from '../shared/degraded-words.ts';
import { errorAnswer, sendAnswer } from './answers.ts';
import { Attempts, type AttemptsOwner } from './attempts.ts';
import type { ExchangeEvents, RequestContent } from './exchange.ts';
import { canAnswer, type DegradedTransaction, Fallback } from './fallback.ts';
import { grpcTimeoutOf } from './grpc.ts';
import type { RoutedRequest, TransactionServices } from './routed-request.ts';
import type { Waiting } from './routes/concurrency-gate.ts';
import { routeLines } from './routes/route-lines.ts';

/** Timers count in 31 bits. */
const LONGEST_TIMER_MS = 2_147_483_647;

export class Transaction implements ExchangeEvents, AttemptsOwner, DegradedTransaction {
  readonly request: RoutedRequest;
  readonly services: TransactionServices;
  #grpcTimeoutMs: number | null = null;
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

  get grpcTimeLeftMs(): number | null {
    return this.#grpcTimeoutMs === null
      ? null
      : this.#allowedMs() - (this.services.clock.nowMs() - this.request.startedMs);
  }

  addedLines(lines: string): string {
    const { limited, route, exchange } = this.request;
    const ofLimits = limited?.lines ?? '';
    const ofRoute = routeLines(route, exchange, lines);
    return ofLimits === '' ? ofRoute : ofLimits + ofRoute;
  }

  start(): void {
    const { exchange, route, limited } = this.request;
    route.counts.requestStarted();
    exchange.listen(this);
    if (route.isHttp2) this.#grpcTimeoutMs = grpcTimeoutOf(exchange);
    const allowedMs = this.#allowedMs();
    if (allowedMs <= LONGEST_TIMER_MS) this.#totalTimer = setTimeout(() => this.#outOfTime(), allowedMs);
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
      this.#ended('content_too_large');
      this.request.exchange.breakOff();
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
    this.#ended(error);
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
    const contentType = exchange.header('content-type');
    const wishes = { accept: exchange.header('accept'), contentType, lines: this.addedLines('') };
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
    this.#ended(error);
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

  /** How long all of it may take: the route's time, or the client's where that is shorter. */
  #allowedMs(): number {
    return Math.min(this.request.route.config.timeout.totalMs, this.#grpcTimeoutMs ?? Number.POSITIVE_INFINITY);
  }

  #outOfTime(): void {
    const { exchange, route } = this.request;
    clearTimeout(this.#delayTimer);
    this.#waiting?.cancel();
    this.#waiting = null;
    this.#isOverdue = true;
    const isClientsTime = this.#allowedMs() < route.config.timeout.totalMs;
    const isAwaitingClient = isClientsTime || exchange.isHeadSent || this.#content?.isComplete === false;
    // A client that reads or sends slowly, or gives little time, says nothing against the endpoint.
    this.#stopCalls(isAwaitingClient ? 'client_gone' : 'http_response_timeout');
    if (exchange.isHeadSent) {
      this.#ended('http_response_timeout');
      exchange.breakOff();
    } else if (this.#fallback === undefined) {
      this.attemptsFailed('unreachable', 'http_response_timeout');
    } else {
      this.#fallback.serve();
    }
  }

  /** The answer is at its end, or broken off: what is compressed goes out first, for the record counts it. */
  #ended(error: string | null): void {
    const { compressed } = this.request;
    if (compressed === null) this.#finish(error);
    else compressed.whenSettled(() => this.#finish(error));
  }

  #finish(error: string | null): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    clearTimeout(this.#totalTimer);
    clearTimeout(this.#delayTimer);
    this.#waiting?.cancel();
    this.#content?.release();
    const { exchange, route, requestId, client, user, scheme, trace } = this.request;
    if (this.#hasPlace) route.gate?.leave();
    const durationMs = this.services.clock.nowMs() - this.request.startedMs;
    // A client that left before the answer is counted as nginx does: 499.
    route.counts.requestEnded(exchange.method, this.#status === 0 ? 499 : this.#status, durationMs / 1000);
    if (this.services.onFinished === null) return;
    const record: AccessRecord = {
      requestId,
      traceId: trace?.traceId,
      client,
      user,
      method: exchange.method,
      version: exchange.version,
      scheme,
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
    };
    this.services.onFinished(record, trace);
  }
}
