// One request of the caller: waits until discovery has answered, has the attempts made, hands the answer over.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Duplex } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import type { Outcome } from '../core/failure.ts';
import type { Log } from '../core/log.ts';
import type { NoLease } from '../pool/pool.ts';
import { isIdempotent } from '../resilience/retry.ts';
import type { AnswerFields, AnswerHead } from './attempt.ts';
import type { SocketErrors } from './attempt-error.ts';
import { Attempts, type AttemptsOwner } from './attempts.ts';
import { RequestBody } from './request-body.ts';
import { RequestFields } from './request-fields.ts';
import type { Service } from './service.ts';
import type { ServiceBook } from './service-book.ts';
import { WeirError } from './weir-error.ts';

export interface ExchangeServices {
  readonly book: ServiceBook;
  readonly readyTimeoutMs: number;
  readonly sockets: SocketErrors;
  readonly log: Log;
  /** The request has ended, one way or the other. */
  readonly onFinished: (exchange: Exchange) => void;
}

export interface ExchangeParts {
  readonly service: Service;
  readonly options: Dispatcher.DispatchOptions;
  readonly handler: Dispatcher.DispatchHandler;
}

type Controller = Dispatcher.DispatchController;

/** Is the controller that the caller's handler gets, the same for all attempts. */
export class Exchange implements Controller, AttemptsOwner {
  readonly service: Service;
  readonly options: Dispatcher.DispatchOptions;
  readonly fields: RequestFields;
  readonly body: RequestBody;
  readonly isRepeatable: boolean;
  readonly sockets: SocketErrors;
  readonly log: Log;
  rawHeaders: NonNullable<Controller['rawHeaders']> | null = null;
  rawTrailers: NonNullable<Controller['rawTrailers']> | null = null;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #services: ExchangeServices;
  /** Runs in the asynchronous context of the caller, for whoever traces requests. */
  readonly #asCaller = AsyncLocalStorage.snapshot();
  #attempts: Attempts | undefined;
  #stopWaiting: (() => void) | undefined;
  #totalTimer: NodeJS.Timeout | undefined;
  #abortReason: Error | null = null;
  #isPaused = false;
  #isAnswering = false;
  #isFinished = false;

  /** Throws undici's InvalidArgumentError for header fields that are none. */
  constructor({ service, options, handler }: ExchangeParts, services: ExchangeServices) {
    this.service = service;
    this.options = options;
    this.#handler = handler;
    this.#services = services;
    this.sockets = services.sockets;
    this.log = services.log;
    this.fields = new RequestFields(options.headers, service.host);
    this.isRepeatable = isIdempotent(options.method) || this.fields.get('idempotency-key') !== undefined;
    this.body = new RequestBody(options.body, this.isRepeatable ? service.config.retry.bodyBufferBytes : 0);
  }

  get target(): string {
    return this.options.path;
  }

  header(name: string): string | undefined {
    return this.fields.get(name);
  }

  get aborted(): boolean {
    return this.#abortReason !== null;
  }

  get reason(): Error | null {
    return this.#abortReason;
  }

  get paused(): boolean {
    return this.#isPaused;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  begin(): void {
    const { totalMs } = this.service.config.timeout;
    if (totalMs !== Number.POSITIVE_INFINITY) this.#totalTimer = setTimeout(() => this.#outOfTime(totalMs), totalMs);
    // Told before anything is sent: so the caller can abort at any time.
    this.#tell(() => this.#handler.onRequestStart?.(this, null));
    if (this.#isFinished) return;
    if (this.#services.book.isAnswered(this.service.name)) this.#attempt();
    else this.#waitForDiscovery();
  }

  pause(): void {
    this.#isPaused = true;
    this.#attempts?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#attempts?.resume();
  }

  abort(reason?: Error): void {
    if (this.#isFinished) return;
    this.#abortReason = reason ?? new errors.RequestAbortedError();
    this.end(this.#abortReason);
  }

  /** Ends the request with an error that nobody is to blame for. */
  end(error: Error): void {
    this.#giveUp('client_gone', error);
  }

  soon(then: () => void): void {
    queueMicrotask(() => this.#asCaller(then));
  }

  onBodySent(octets: Buffer): void {
    this.#tell(() => this.#handler.onBodySent?.(octets));
  }

  onRequestSent(): void {
    this.#tell(() => this.#handler.onRequestSent?.());
  }

  onResponseStarted(): void {
    this.#tell(() => this.#handler.onResponseStarted?.());
  }

  onInterim({ status, headers, statusText, rawHeaders }: AnswerHead): void {
    this.rawHeaders = rawHeaders ?? null;
    this.#tell(() => this.#handler.onResponseStart?.(this, status, headers, statusText));
  }

  onHead(head: AnswerHead): void {
    this.#isAnswering = true;
    this.onInterim(head);
    if (this.#isPaused) this.#attempts?.pause();
  }

  onContent(octets: Buffer): void {
    this.#tell(() => this.#handler.onResponseData?.(this, octets));
  }

  onEnd(trailers: AnswerFields, rawTrailers: Controller['rawTrailers']): void {
    this.rawTrailers = rawTrailers ?? null;
    this.#finish();
    try {
      this.#handler.onResponseEnd?.(this, trailers);
    } catch (error) {
      this.#handler.onResponseError?.(this, asError(error));
    }
  }

  onUpgrade({ status, headers, rawHeaders }: AnswerHead, socket: Duplex): void {
    this.rawHeaders = rawHeaders ?? null;
    this.#finish();
    this.#handler.onRequestUpgrade?.(this, status, headers, socket);
  }

  attemptsFailed(error: Error | undefined, why: NoLease | undefined): void {
    this.#fail(error ?? this.#noLease(why));
  }

  #attempt(): void {
    this.#attempts = new Attempts(this);
    this.#attempts.start();
  }

  #waitForDiscovery(): void {
    const { book, readyTimeoutMs } = this.#services;
    const timer = setTimeout(() => this.#fail(this.#notAnswered()), readyTimeoutMs);
    const cancel = book.onFirstAnswer(this.service.name, () => {
      this.#stopWaiting?.();
      this.soon(() => {
        if (!this.#isFinished) this.#attempt();
      });
    });
    this.#stopWaiting = () => {
      clearTimeout(timer);
      cancel();
    };
  }

  #outOfTime(totalMs: number): void {
    const isAwaitingCaller = this.#isAnswering || !this.body.isComplete;
    const error = new WeirError('WEIR_TIMEOUT', `${this.service.name} took longer than ${totalMs} ms in all`);
    // A caller that reads or sends slowly says nothing against the endpoint.
    this.#giveUp(isAwaitingCaller ? 'client_gone' : 'http_response_timeout', error);
  }

  #giveUp(outcome: Outcome, error: Error): void {
    this.#attempts?.abort(outcome, error);
    this.#fail(error);
  }

  #fail(error: Error): void {
    if (this.#isFinished) return;
    this.#finish();
    this.#handler.onResponseError?.(this, error);
  }

  #finish(): void {
    this.#isFinished = true;
    clearTimeout(this.#totalTimer);
    this.#stopWaiting?.();
    this.body.close();
    this.#services.onFinished(this);
  }

  /** What the caller's handler throws ends the request, as with undici's own dispatchers. */
  #tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.end(asError(error));
    }
  }

  #notAnswered(): WeirError {
    const { name } = this.service;
    const status = this.#services.book.status(name);
    const error = status?.lastError ?? `${status?.source} has said nothing of it`;
    return new WeirError('WEIR_NO_ENDPOINT', `no endpoint of ${name} is known yet: ${error}`);
  }

  #noLease(why: NoLease | undefined): WeirError {
    const { name } = this.service;
    if (why === 'breaker') {
      return new WeirError('WEIR_BREAKER_OPEN', `${name} fails too often at present; it is tried again in a moment`);
    }
    const known = this.#services.book.snapshot(name)?.endpoints ?? [];
    const healthy = known.filter((endpoint) => endpoint.healthy).length;
    const found =
      known.length === 0 ? 'discovery lists none' : `of ${known.length} in discovery ${healthy} are healthy`;
    return new WeirError('WEIR_NO_ENDPOINT', `${name} has no endpoint that can take this request: ${found}`);
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
