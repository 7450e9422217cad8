// What happens to a request that a front has parsed: it is routed, described for the upstream, and carried out.
import type { ErrorSituation } from '../core/errors.ts';
import { normalisePath, withoutQuery } from '../routing/path.ts';
import { rewriteTarget } from '../routing/rewrite.ts';
import type { RouteTable } from '../routing/route-table.ts';
import { errorAnswer } from './answers.ts';
import { clientAddress, type TrustCheck } from './client-address.ts';
import type { Exchange, RawFields, RequestHead } from './exchange.ts';
import { requestFields } from './fields.ts';
import { requestIdOf } from './request-id.ts';
import type { Route } from './route.ts';
import type { TransactionServices } from './routed-request.ts';
import { Transaction } from './transaction.ts';

export interface HandlerOptions extends TransactionServices {
  readonly isTrusted: TrustCheck;
  /** The port that clients connect to. */
  readonly port: string;
}

/** Who sent a request, and the id it goes by. */
export interface RequestIdentity {
  readonly requestId: string;
  readonly client: string;
}

/** A request as its route sends it upstream. */
export interface Described extends RequestIdentity {
  readonly route: Route;
  readonly target: string;
  /** Without Host. */
  readonly fields: RawFields;
}

export class RequestHandler {
  readonly #options: HandlerOptions;
  readonly #routes: RouteTable<Route>;

  constructor(routes: RouteTable<Route>, options: HandlerOptions) {
    this.#routes = routes;
    this.#options = options;
  }

  /** Carries a request out. */
  handle(exchange: Exchange): void {
    const { head } = exchange;
    if (head.target === '*') {
      this.#answerItself(exchange, head.method === 'OPTIONS' ? null : 'bad_request');
      return;
    }
    const route = this.findRoute(head);
    const described = typeof route === 'string' ? route : this.describe(head, route);
    if (typeof described === 'string') this.#answerItself(exchange, described);
    else new Transaction({ exchange, ...described }, this.#options).start();
  }

  /** The route of a request, or why there is none. */
  findRoute(head: RequestHead): Route | 'bad_request' | 'no_route' {
    const path = normalisePath(head.target);
    if (path === undefined) return 'bad_request';
    return this.#routes.find(head, path) ?? 'no_route';
  }

  /** The request as it goes upstream, or why it cannot. */
  describe(head: RequestHead, route: Route): Described | 'rewrite_mismatch' {
    const target = rewriteTarget(head.target, route.config.rewrite);
    if (target === undefined) return 'rewrite_mismatch';
    const identity = this.#identify(head);
    const forwarding = {
      peerAddress: head.peer.address,
      isTrusted: head.peer.isTrusted,
      requestId: identity.requestId,
      proto: 'http' as const,
      host: head.host,
      port: this.#options.port,
    };
    return { ...identity, route, target, fields: requestFields(head.fields, forwarding, route.requestRewrite) };
  }

  #identify({ peer, header }: RequestHead): RequestIdentity {
    const forwardedFor = peer.isTrusted ? [header('x-forwarded-for') ?? ''] : [];
    return {
      requestId: requestIdOf(header('x-request-id'), peer.isTrusted),
      client: clientAddress(peer, forwardedFor, this.#options.isTrusted),
    };
  }

  /** Answers a request that no route has taken: with an error, or (null) with an empty 204. */
  #answerItself(exchange: Exchange, situation: ErrorSituation | null): void {
    const startedMs = this.#options.clock.nowMs();
    const identity = this.#identify(exchange.head);
    const { method, host, target, header } = exchange.head;
    let status = 204;
    if (situation === null) {
      exchange.sendHead({ status, reason: '', fields: [] });
    } else {
      const { head, content } = errorAnswer(situation, identity.requestId, header('accept'));
      status = head.status;
      exchange.sendHead(head);
      exchange.write(content);
    }
    exchange.end([]);
    this.#options.onFinished({
      ...identity,
      method,
      host,
      path: withoutQuery(target),
      status,
      bytes: exchange.contentBytes,
      durationMs: this.#options.clock.nowMs() - startedMs,
      route: null,
      service: null,
      attempts: [],
      degraded: null,
      error: situation,
      userAgent: header('user-agent') ?? null,
    });
  }
}
