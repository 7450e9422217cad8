// A request of a route that does not let everybody in: it is checked, then goes on, or is answered here.
import type { AccessSituation, Gatekeeper, PendingCheck, Verdict } from '../access/gatekeeper.ts';
import type { AccessRecord } from '../core/access-record.ts';
import { withoutQuery } from '../routing/path.ts';
import type { AccessRefusal } from '../shared/route-cell.ts';
import { errorAnswer, type OwnAnswer, sendAnswer } from './answers.ts';
import type { Exchange, ExchangeEvents } from './exchange.ts';
import type { RequestIdentity, TransactionServices } from './routed-request.ts';
import type { Route } from './routes/route.ts';
import { routeLines } from './routes/route-lines.ts';

/** A request that a route has taken and nobody has checked yet. */
export interface Arrival {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly gatekeeper: Gatekeeper;
  readonly identity: RequestIdentity;
  readonly isTls: boolean;
  /** Carries the request out; `lines` are the fields of who it is, each with its CRLF, `user` whom the access log names. */
  readonly goOn: (lines: string, user: string | null) => void;
}

const REFUSALS: Readonly<Record<AccessSituation, AccessRefusal>> = {
  forbidden: 'address',
  unauthorized: 'credentials',
  auth_unavailable: 'unavailable',
};

export class Admission implements ExchangeEvents {
  readonly #arrival: Arrival;
  readonly #services: Pick<TransactionServices, 'clock' | 'onFinished'>;
  #pending: PendingCheck | null = null;
  #isOver = false;

  constructor(arrival: Arrival, services: Pick<TransactionServices, 'clock' | 'onFinished'>) {
    this.#arrival = arrival;
    this.#services = services;
  }

  start(): void {
    const { exchange, gatekeeper, identity, isTls } = this.#arrival;
    exchange.listen(this);
    this.#arrival.route.counts.requestStarted();
    const { method, target, peer } = exchange;
    // The service for authentication is told what the service behind it will be told.
    const told = (name: string) => (peer.isTrusted ? exchange.header(name) : undefined);
    const scheme = told('x-forwarded-proto')?.toLowerCase();
    const { client, requestId } = identity;
    const facts = {
      method,
      target,
      host: told('x-forwarded-host') ?? exchange.host,
      client,
      requestId,
      isTls: scheme === undefined ? isTls : scheme === 'https',
      header: (name: string) => headerOf(exchange, name),
    };
    const pending = gatekeeper.check(facts, (verdict) => this.#decided(verdict));
    // The client may be gone before there is something to call off.
    if (this.#isOver) pending?.cancel();
    else this.#pending = pending;
  }

  onDrain(): void {
    // Nothing is written before the verdict, and nothing is waited for behind it.
  }

  onGone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pending?.cancel();
    this.#finish(0, 0, 'client_gone');
  }

  onContentTooLarge(): void {
    // The limit is set when the content is opened, behind the checks.
  }

  #decided(verdict: Verdict): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { exchange, route, identity, goOn } = this.#arrival;
    if (verdict.kind === 'pass') {
      this.#arrival.route.counts.requestHandedOn();
      goOn(verdict.lines, verdict.user);
      return;
    }
    const added = routeLines(route, exchange, verdict.lines);
    if (verdict.kind === 'answer') {
      const { status, reason, content } = verdict;
      const framing =
        status === 204 ? ({ kind: 'none' } as const) : ({ kind: 'length', length: content.length } as const);
      const head = { status, reason, lines: verdict.lines + added, hasDate: false, framing };
      // Preflights are answered, not refused.
      if (status !== 204) this.#arrival.route.counts.countRefused('service');
      this.#answer({ head, content }, null);
      return;
    }
    this.#arrival.route.counts.countRefused(REFUSALS[verdict.situation]);
    const [accept, contentType] = [exchange.header('accept'), exchange.header('content-type')];
    const wishes = { accept, contentType, lines: verdict.lines + added };
    this.#answer(errorAnswer(verdict.situation, identity.requestId, wishes), verdict.situation);
  }

  #answer(answer: OwnAnswer, error: string | null): void {
    this.#finish(answer.head.status, answer.content.length, error);
    sendAnswer(this.#arrival.exchange, answer);
  }

  #finish(status: number, bytes: number, error: string | null): void {
    const { exchange, route, identity } = this.#arrival;
    const durationMs = this.#services.clock.nowMs() - identity.startedMs;
    // A client that left before the answer is counted as nginx does: 499.
    route.counts.requestEnded(exchange.method, status === 0 ? 499 : status, durationMs / 1000);
    const record: AccessRecord = {
      requestId: identity.requestId,
      traceId: identity.trace?.traceId,
      client: identity.client,
      // Who comes as far as this was refused, or asked for nothing yet.
      user: null,
      method: exchange.method,
      version: exchange.version,
      scheme: identity.scheme,
      host: exchange.host,
      path: withoutQuery(exchange.target),
      status,
      bytes,
      durationMs,
      route: route.name,
      service: route.service,
      branch: null,
      attempts: [],
      degraded: null,
      error,
      userAgent: exchange.header('user-agent') ?? null,
    };
    this.#services.onFinished?.(record, identity.trace);
  }
}

/** As `header` gives it, but cookies joined as they are within a field: those who read them know no commas. */
function headerOf(exchange: Exchange, name: string): string | undefined {
  if (name !== 'cookie') return exchange.header(name);
  const { fields } = exchange;
  let joined: string | undefined;
  for (let field = 0; field < fields.count; field++) {
    if (!fields.isNamed(field, name)) continue;
    joined = joined === undefined ? fields.value(field) : `${joined}; ${fields.value(field)}`;
  }
  return joined;
}
