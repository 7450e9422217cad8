// What happens to a request that a front has parsed: it is routed, described for the upstream, and carried out.
import type { AccessRecord } from '../core/access-record.ts';
import { ERROR_ANSWERS, type ErrorSituation } from '../core/errors.ts';
import type { ConnectionOptions as Options } from '../http1/connection-options.ts';
import { normalisePath, withoutQuery } from '../routing/path.ts';
import { rewriteTarget } from '../routing/rewrite.ts';
import type { RouteTable } from '../routing/route-table.ts';
import { errorAnswer, sendAnswer } from './answers.ts';
import { type ClientPeer, clientAddress, type TrustCheck } from './client-address.ts';
import type { Exchange, RequestDescription } from './exchange.ts';
import { requestLines } from './forwarded-fields.ts';
import { requestIdOf } from './request-id.ts';
import type { Route } from './route.ts';
import type { Described, RequestIdentity, TransactionServices } from './routed-request.ts';
import { Transaction } from './transaction.ts';

export interface HandlerOptions extends TransactionServices {
  readonly isTrusted: TrustCheck;
  /** The X-Forwarded-Port line for requests of this listener. */
  readonly portLine: string;
  /** A request was answered that belongs to no route. */
  readonly onUnrouted: (situation: ErrorSituation | null) => void;
}

/** The routes in force: other ones take their place by one assignment. */
export interface RouteTableHolder {
  current: RouteTable<Route>;
}

export class RequestHandler {
  readonly #options: HandlerOptions;
  readonly #routes: RouteTableHolder;

  constructor(routes: RouteTableHolder, options: HandlerOptions) {
    this.#routes = routes;
    this.#options = options;
  }

  /** Carries a request out. `options` are what its Connection fields say. */
  handle(exchange: Exchange, options: Options): void {
    if (exchange.target === '*') {
      this.#answerItself(exchange, exchange.method === 'OPTIONS' ? null : 'bad_request');
      return;
    }
    const route = this.findRoute(exchange);
    const described = typeof route === 'string' ? route : this.describe(exchange, route, options);
    if (typeof described === 'string') this.#answerItself(exchange, described);
    else new Transaction({ exchange, ...described }, this.#options).start();
  }

  /** The route of a request, or why there is none. */
  findRoute(request: RequestDescription): Route | 'bad_request' | 'no_route' {
    const path = normalisePath(request.target);
    if (path === undefined) return 'bad_request';
    return this.#routes.current.find(request, path) ?? 'no_route';
  }

  /** The request as it goes upstream, or why it cannot. */
  describe(request: RequestDescription, route: Route, options: Options): Described | 'rewrite_mismatch' {
    const target = rewriteTarget(request.target, route.config.rewrite);
    if (target === undefined) return 'rewrite_mismatch';
    const { requestId, client } = this.#identify(request);
    const { choice, limits } = route;
    const limited = limits === null ? null : limits.take(request, client, this.#options.clock.nowMs());
    if (limited !== null && limited.delayMs < 0) {
      // It goes nowhere: it must cost little, and not use up the turn of another one.
      return { requestId, client, route, target, lines: '', branch: 0, hash: undefined, limited };
    }
    const forwarding = {
      peerAddress: request.peer.address,
      isTrusted: request.peer.isTrusted,
      requestId,
      proto: 'http' as const,
      host: request.host,
      portLine: this.#options.portLine,
    };
    const lines = requestLines({ fields: request.fields, options }, forwarding, route.requestRewrite);
    const branch = choice.branchFor(request);
    return { requestId, client, route, target, lines, branch, hash: choice.hashOf(request, client), limited };
  }

  #identify(request: RequestDescription): RequestIdentity {
    const { peer } = request;
    if (!peer.isTrusted) return { requestId: requestIdOf(undefined, false), client: peer.address };
    const forwardedFor = [request.header('x-forwarded-for') ?? ''];
    return {
      requestId: requestIdOf(request.header('x-request-id'), true),
      client: clientAddress(peer, forwardedFor, this.#options.isTrusted),
    };
  }

  /** Answers a request that no route has taken: with an error, or (null) with an empty 204. */
  #answerItself(exchange: Exchange, situation: ErrorSituation | null): void {
    const startedMs = this.#options.clock.nowMs();
    this.#options.onUnrouted(situation);
    const identity = this.#identify(exchange);
    const answer =
      situation === null ? null : errorAnswer(situation, identity.requestId, { accept: exchange.header('accept') });
    this.#options.onFinished?.({
      ...identity,
      method: exchange.method,
      version: `1.${exchange.minor}`,
      host: exchange.host,
      path: withoutQuery(exchange.target),
      status: answer?.head.status ?? 204,
      bytes: answer?.content.length ?? 0,
      durationMs: this.#options.clock.nowMs() - startedMs,
      route: null,
      service: null,
      branch: null,
      attempts: [],
      degraded: null,
      error: situation,
      userAgent: exchange.header('user-agent') ?? null,
    });
    if (answer !== null) {
      sendAnswer(exchange, answer);
    } else {
      exchange.sendHead({ status: 204, reason: 'No Content', lines: '', hasDate: false, framing: { kind: 'none' } });
      exchange.end('');
    }
  }
}

/** The record of a request that was refused for its head: nothing in it can be relied on. */
export function refusedRecord({ address }: ClientPeer, situation: ErrorSituation, requestId: string): AccessRecord {
  const nothing = {
    version: '',
    host: '',
    path: '',
    route: null,
    service: null,
    branch: null,
    degraded: null,
    userAgent: null,
  };
  const { status } = ERROR_ANSWERS[situation];
  const outcome = { status, bytes: 0, durationMs: 0, attempts: [], error: situation };
  return { requestId, client: address, method: '', ...nothing, ...outcome };
}
