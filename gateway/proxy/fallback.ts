// The fallback: the steps of a route's chain in order, until one answers; every answer is marked as degraded.
import { STATUS_CODES } from 'node:http';
import Negotiator from 'negotiator';
import { ERROR_ANSWERS, type ErrorSituation } from '../core/errors.ts';
import type { Outcome } from '../core/failure.ts';
import type { AttemptTrace } from '../core/tracing.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { DegradedReason } from '../shared/degraded-words.ts';
import type { DegradedSource } from '../shared/route-cell.ts';
import type { KeptAnswer } from './answers/stale-cache.ts';
import { LONGEST_ACCEPT } from './answers.ts';
import type { RequestContent } from './exchange.ts';
import type { FieldRewrite } from './forwarded-fields.ts';
import { Relay, type RelayOwner } from './relay.ts';
import { type RoutedRequest, staleKey, type TransactionServices } from './routed-request.ts';
import type { FallbackStep } from './routes/route.ts';
import { beginAttempt, tracedLines } from './traced-attempt.ts';
import type { UpstreamFailure } from './upstream/upstream.ts';

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
  /** Whether the request may be sent to somebody else. */
  readonly mayRepeat: boolean;
  /** Whether its time is over: what takes more is too late. */
  readonly isOverdue: boolean;
  /** Field lines that an answer with these `lines` gets besides. */
  addedLines(lines: string): string;
  /** No step answered: the client is told the situation. */
  answer(situation: ErrorSituation): void;
  /** A step began to answer with this status. */
  fallbackAnswered(status: number): void;
  /** The answer went out whole (null), or what broke it off. */
  fallbackEnded(error: string | null): void;
}

/** Whether a step of the route's chain has an answer, or may be asked for one. */
export function canAnswer(
  transaction: Omit<DegradedTransaction, 'answer' | 'fallbackAnswered' | 'fallbackEnded'>,
): boolean {
  const chain = transaction.request.route.fallback?.chain ?? [];
  return chain.some((step) => {
    if (step.kind === 'stale') return keptAnswer(transaction, step.maxAgeMs) !== undefined;
    return step.kind === 'respond' || mayAsk(transaction);
  });
}

type Asking = Pick<DegradedTransaction, 'request' | 'services' | 'content' | 'mayRepeat' | 'isOverdue'>;

/** The last good answer to the same request, if it is not too old. */
function keptAnswer({ request, services }: Asking, maxAgeMs: number): KeptAnswer | undefined {
  const { exchange } = request;
  const isSafe = exchange.method === 'GET' || exchange.method === 'HEAD';
  if (!isSafe || exchange.header('authorization') !== undefined) return undefined;
  return services.staleCache?.find(exchange, { wallMs: services.clock.wallMs(), maxAgeMs, route: staleKey(request) });
}

/** Whether another server may be sent the request, and has time to answer. */
function mayAsk({ content, mayRepeat, isOverdue }: Asking): boolean {
  return mayRepeat && !isOverdue && (content?.isReplayable() ?? true);
}

export class Fallback implements RelayOwner {
  readonly #transaction: DegradedTransaction;
  readonly #options: FallbackOptions;
  #next = 0;
  #source: DegradedSource | undefined;
  #relay: Relay | undefined;
  #trace: AttemptTrace | null = null;

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
    else if (step.kind === 'stale') this.#repeat(step);
    else if (step.kind === 'respond') this.#respond(step);
    else this.#ask(step);
  }

  drained(): void {
    this.#relay?.drained();
  }

  abort(): void {
    this.#relay?.abort();
    this.#endTrace('client_gone');
  }

  get responseRewrite(): FieldRewrite {
    return this.#transaction.request.route.responseRewrite;
  }

  headArrived({ status }: ResponseHead): boolean {
    this.#trace?.answered(status);
    this.#answeredBy('upstream', status);
    return true;
  }

  addedLines(lines: string): string {
    return this.#marks('upstream', lines);
  }

  callFailed({ failure }: UpstreamFailure): void {
    this.#endTrace(failure);
    this.serve();
  }

  answerEnded(outcome: 'success' | 'truncated'): void {
    this.#endTrace(outcome);
    this.#transaction.fallbackEnded(outcome === 'success' ? null : outcome);
  }

  /** The last good answer to the same request, if it is not too old. */
  #repeat(step: FallbackStep & { kind: 'stale' }): void {
    const { request, services } = this.#transaction;
    const { exchange, requestId } = request;
    const wallMs = services.clock.wallMs();
    const kept = keptAnswer(this.#transaction, step.maxAgeMs);
    if (kept === undefined) {
      this.serve();
      return;
    }
    this.#answeredBy('stale', kept.status);
    const length = kept.content.byteLength;
    const ageSeconds = Math.max(0, Math.floor((wallMs - kept.bornMs) / 1000));
    const lines = `${kept.lines}Age: ${ageSeconds}\r\nX-Request-Id: ${requestId}\r\n${this.#marks('stale', kept.lines)}`;
    const framing = { kind: 'length' as const, length };
    exchange.sendHead({ status: kept.status, reason: kept.reason, lines, hasDate: true, framing });
    exchange.write(Buffer.from(new Uint8Array(kept.content)));
    this.#transaction.fallbackEnded(null);
    exchange.end('');
  }

  #respond(step: FallbackStep & { kind: 'respond' }): void {
    const { exchange, requestId } = this.#transaction.request;
    if (this.#isBetterLater(step)) {
      this.serve();
      return;
    }
    this.#answeredBy('respond', step.status);
    const lines = `${step.lines}X-Request-Id: ${requestId}\r\n${this.#marks('respond', step.lines)}`;
    const framing = { kind: 'length' as const, length: step.content.length };
    exchange.sendHead({ status: step.status, reason: STATUS_CODES[step.status] ?? '', lines, hasDate: false, framing });
    exchange.write(step.content);
    this.#transaction.fallbackEnded(null);
    exchange.end('');
  }

  /** Whether the client prefers the type of a later answer to that of this one. */
  #isBetterLater(step: FallbackStep & { kind: 'respond' }): boolean {
    const later = this.#options.chain.slice(this.#next).filter((each) => each.kind === 'respond');
    const accept = this.#transaction.request.exchange.header('accept');
    if (later.length === 0 || accept === undefined || accept.length > LONGEST_ACCEPT) return false;
    const types = [step, ...later].map(({ mediaType }) => mediaType);
    const best = new Negotiator({ headers: { accept } }).mediaType(types);
    return best !== undefined && best !== step.mediaType;
  }

  /** The fallback's servers take turns; each request asks one of them, once. */
  #ask(step: FallbackStep & { kind: 'upstream' }): void {
    const { content, services } = this.#transaction;
    const { exchange, route, target } = this.#transaction.request;
    const to = step.targets[route.counts.nextFallbackTurn() % step.targets.length];
    if (to === undefined || !mayAsk(this.#transaction)) {
      this.serve();
      return;
    }
    this.#trace = beginAttempt(this.#transaction.request, to, false);
    this.#relay = new Relay(exchange, this);
    this.#relay.start(services.upstream, to, {
      method: exchange.method,
      target,
      host: exchange.host,
      lines: tracedLines(this.#transaction.request, this.#trace),
      content,
      timeouts: route.config.timeout,
      tls: null,
      http2: null,
      dropTrailers: route.requestRewrite.drop,
      needsFresh: false,
    });
  }

  #endTrace(outcome: Outcome): void {
    this.#trace?.end(outcome);
    this.#trace = null;
  }

  #answeredBy(source: DegradedSource, status: number): void {
    this.#source = source;
    this.#transaction.fallbackAnswered(status);
    this.#transaction.request.route.counts.countDegraded(source, this.#options.reason);
  }

  #marks(source: DegradedSource, lines: string): string {
    const { reason, situation } = this.#options;
    const { pool } = this.#transaction.request.route;
    const sinceMs = pool.shared.degraded()?.sinceMs ?? this.#transaction.services.clock.wallMs();
    const since = new Date(sinceMs).toISOString().replace('.000Z', 'Z');
    const error = ERROR_ANSWERS[situation].proxyStatus;
    const marks = `X-Degraded: ${reason}; source=${source}; since=${since}\r\nProxy-Status: weir; error=${error}\r\n`;
    return marks + this.#transaction.addedLines(lines);
  }
}
