// The fallback: the steps of a route's chain in order, until one answers; every answer is marked as degraded.
import { STATUS_CODES } from 'node:http';
import { ERROR_ANSWERS, type ErrorSituation } from '../core/errors.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { DegradedSource } from '../shared/route-cell.ts';
import type { DegradedReason } from '../shared/service-cell.ts';
import type { RequestContent } from './exchange.ts';
import type { FieldRewrite } from './forwarded-fields.ts';
import { Relay, type RelayOwner } from './relay.ts';
import type { FallbackStep } from './route.ts';
import type { RoutedRequest, TransactionServices } from './routed-request.ts';
import type { UpstreamFailure } from './upstream.ts';

export interface FallbackOptions {
  readonly chain: readonly FallbackStep[];
  readonly reason: DegradedReason;
  /** What the client is told if no step answers. */
  readonly situation: ErrorSituation;
}

/** The transaction that the fallback answers for. */
export interface DegradedTransaction {
  readonly request: RoutedRequest;
  readonly services: TransactionServices;
  readonly content: RequestContent | null;
  /** No step answered: the client is told the situation. */
  answer(situation: ErrorSituation): void;
  /** A step began to answer with this status. */
  fallbackAnswered(status: number): void;
  /** The answer went out whole (null), or what broke it off. */
  fallbackEnded(error: string | null): void;
}

export class Fallback implements RelayOwner {
  readonly #transaction: DegradedTransaction;
  readonly #options: FallbackOptions;
  #next = 0;
  #source: DegradedSource | undefined;
  #relay: Relay | undefined;

  constructor(transaction: DegradedTransaction, options: FallbackOptions) {
    this.#transaction = transaction;
    this.#options = options;
  }

  /** `<reason>; source=<source>`; null when no step has answered. */
  get label(): string | null {
    return this.#source === undefined ? null : `${this.#options.reason}; source=${this.#source}`;
  }

  serve(): void {
    const step = this.#options.chain[this.#next++];
    if (step === undefined) this.#transaction.answer(this.#options.situation);
    else if (step.kind === 'respond') this.#respond(step);
    else this.#ask(step);
  }

  drained(): void {
    this.#relay?.drained();
  }

  abort(): void {
    this.#relay?.abort();
  }

  get responseRewrite(): FieldRewrite {
    return this.#transaction.request.route.responseRewrite;
  }

  headArrived({ status }: ResponseHead): boolean {
    this.#answeredBy('upstream', status);
    return true;
  }

  addedLines(): string {
    return this.#marks('upstream');
  }

  callFailed(_failed: UpstreamFailure): void {
    this.serve();
  }

  answerEnded(outcome: 'success' | 'truncated'): void {
    this.#transaction.fallbackEnded(outcome === 'success' ? null : outcome);
  }

  #respond(step: FallbackStep & { kind: 'respond' }): void {
    const { exchange, requestId } = this.#transaction.request;
    this.#answeredBy('respond', step.status);
    const lines = `${step.lines}X-Request-Id: ${requestId}\r\n${this.#marks('respond')}`;
    const framing = { kind: 'length' as const, length: step.content.length };
    exchange.sendHead({ status: step.status, reason: STATUS_CODES[step.status] ?? '', lines, hasDate: false, framing });
    exchange.write(step.content);
    this.#transaction.fallbackEnded(null);
    exchange.end('');
  }

  /** The fallback's servers take turns; each request asks one of them, once. */
  #ask(step: FallbackStep & { kind: 'upstream' }): void {
    const { content, services } = this.#transaction;
    const { exchange, route, target, lines } = this.#transaction.request;
    const to = step.targets[route.pool.shared.nextTurn() % step.targets.length];
    if (to === undefined || !(content?.isReplayable() ?? true)) {
      this.serve();
      return;
    }
    this.#relay = new Relay(exchange, this);
    this.#relay.start(services.upstream, to, {
      method: exchange.method,
      target,
      host: exchange.host,
      lines,
      content,
      timeouts: route.config.timeout,
      tls: null,
      dropTrailers: route.requestRewrite.drop,
      needsFresh: false,
    });
  }

  #answeredBy(source: DegradedSource, status: number): void {
    this.#source = source;
    this.#transaction.fallbackAnswered(status);
    this.#transaction.request.route.counts.countDegraded(source, this.#options.reason);
  }

  #marks(source: DegradedSource): string {
    const { reason, situation } = this.#options;
    const { pool } = this.#transaction.request.route;
    const sinceMs = pool.shared.degraded()?.sinceMs ?? this.#transaction.services.clock.wallMs();
    const since = new Date(sinceMs).toISOString().replace('.000Z', 'Z');
    const error = ERROR_ANSWERS[situation].proxyStatus;
    return `X-Degraded: ${reason}; source=${source}; since=${since}\r\nProxy-Status: weir; error=${error}\r\n`;
  }
}
