// What happens to a request that a front has parsed: it is routed, described for the upstream, and carried out.
import type { ListenerConfig } from '../config/listener-schema.ts';
import type { AccessRecord } from '../core/access-record.ts';
import type { ErrorSituation } from '../core/errors.ts';
import type { RequestTrace, Tracer } from '../core/tracing.ts';
import type { ConnectionOptions as Options } from '../http1/connection-options.ts';
import { lenientReading, normalisePath, withoutQuery } from '../routing/path.ts';
import { rewriteTarget } from '../routing/rewrite.ts';
import type { RouteTable } from '../routing/route-table.ts';
import { Admission } from './admission.ts';
import { CompressedExchange } from './answers/compressed-exchange.ts';
import { httpsRedirect, isRedirected } from './answers/https-redirect.ts';
import { errorAnswer, type OwnAnswer, sendAnswer } from './answers.ts';
import { clientAddress, type TrustCheck } from './client-address.ts';
import type { Exchange, RequestDescription } from './exchange.ts';
import { requestLines } from './forwarded-fields.ts';
import { requestIdOf } from './request-id.ts';
import type { Described, RequestIdentity, RoutedRequest, TransactionServices } from './routed-request.ts';
import { announcedRequest } from './routes/preflight.ts';
import type { Route } from './routes/route.ts';
import { routeLines } from './routes/route-lines.ts';
import { verifiedRequest } from './routes/verified-request.ts';
import { Transaction } from './transaction.ts';

export interface HandlerOptions extends TransactionServices {
  /** Absent or null: nothing is traced. */
  readonly tracer: Tracer | null;
  readonly isTrusted: TrustCheck;
  /** How clients of this listener speak to it. */
  readonly proto: 'http' | 'https';
  /** Where clients are sent instead; null when requests are carried out. */
  readonly redirect: ListenerConfig['redirect'];
  /** The X-Forwarded-Port line for requests of this listener. */
  readonly portLine: string;
  /** A request was answered that belongs to no route. */
  readonly onUnrouted: (situation: ErrorSituation | Elsewhere) => void;
  /** Takes over the connection of an exchange that may be upgraded. */
  readonly openTunnel: (exchange: Exchange, described: Described) => void;
}

/** What is no error although no route has it: a request to the server itself, and one that is sent to https. */
type Elsewhere = null | 'redirected';

const NO_CONTENT: OwnAnswer = {
  head: { status: 204, reason: 'No Content', lines: '', hasDate: false, framing: { kind: 'none' } },
  content: Buffer.alloc(0),
};

/** What is known of a request that its route lets in. */
interface Admitted {
  /** What its Connection fields say. */
  readonly options: Options;
  readonly identity: RequestIdentity;
  /** The fields of who it is, as the route's checks found out, each with its CRLF. */
  readonly identityLines: string;
  /** Whom they verified, for the access log. */
  readonly user: string | null;
}

/** What is known of a request that a route has let in and cannot carry out. */
interface Known {
  readonly identity: RequestIdentity;
  readonly user: string | null;
  /** Field lines for the answer, each with its CRLF. */
  readonly lines: string;
}

/** The routes in force: other ones take their place by one assignment. */
export interface RouteTableHolder {
  current: RoutesInPlace;
}

export interface RoutesInPlace {
  readonly table: RouteTable<Route>;
  /** Whether any of them checks who comes in. */
  readonly isGuarded: boolean;
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
    const route = this.#findRoute(exchange);
    if (typeof route === 'string') {
      this.#answerItself(exchange, route);
      return;
    }
    const { gatekeeper } = route;
    const identity = this.#identify(exchange);
    if (gatekeeper === null || gatekeeper.isOpen) {
      this.#carryOut(exchange, route, { options, identity, identityLines: '', user: null });
      return;
    }
    const goOn = (identityLines: string, user: string | null): void =>
      this.#carryOut(exchange, route, { options, identity, identityLines, user });
    const isTls = this.#options.proto === 'https';
    new Admission({ exchange, route, gatekeeper, identity, isTls, goOn }, this.#options).start();
  }

  #carryOut(exchange: Exchange, route: Route, admitted: Admitted): void {
    const routed = this.#describe(exchange, route, admitted);
    const { identity, user } = admitted;
    if (typeof routed === 'string') {
      const lines = routeLines(route, exchange, '');
      this.#answerItself(exchange, routed, { identity, user, lines });
    } else if (exchange.isUpgrade && route.config.websocket && !route.isHttp2) {
      // A tunnel needs the request no more.
      const { exchange: _exchange, compressed: _compressed, ...described } = routed;
      this.#options.openTunnel(exchange, described);
    } else if (exchange.isUpgrade && exchange.version === '2') {
      // It asks for a tunnel and nothing else (RFC 8441): any success would say that it has one.
      const lines = routeLines(route, exchange, '');
      this.#answerItself(exchange, 'not_implemented', { identity, user, lines });
    } else {
      new Transaction(routed, this.#options).start();
    }
  }

  /** The route of a request, or why there is none. */
  #findRoute(request: RequestDescription): Route | 'bad_request' | 'no_route' | 'redirected' {
    const path = normalisePath(request.target);
    if (path === undefined) return 'bad_request';
    if (this.#options.redirect !== null && isRedirected(path))
      return request.host === '' ? 'bad_request' : 'redirected';
    const { table, isGuarded } = this.#routes.current;
    if (isGuarded) {
      const announced = announcedRequest(request);
      const wanted = announced === null ? undefined : table.find(announced, path);
      if (wanted !== undefined && wanted.gatekeeper !== null && wanted.gatekeeper.cors !== null) return wanted;
      const found = table.find(request, path);
      return isEvasive(table, request, found) ? 'bad_request' : (found ?? 'no_route');
    }
    return table.find(request, path) ?? 'no_route';
  }

  /** The request as it goes upstream, or why it cannot. */
  #describe(
    request: Exchange,
    route: Route,
    { options, identity, identityLines, user }: Admitted,
  ): RoutedRequest | 'rewrite_mismatch' {
    const target = rewriteTarget(request.target, route.config.rewrite);
    if (target === undefined) return 'rewrite_mismatch';
    const compressed = route.compression === null ? null : new CompressedExchange(request, route.compression);
    const exchange = compressed ?? request;
    const { startedMs, requestId, client, scheme, trace } = identity;
    const { choice, limits, gatekeeper } = route;
    const seen =
      gatekeeper === null
        ? request
        : verifiedRequest(request, { ownFields: gatekeeper.ownFields, lines: identityLines });
    const limited = limits === null ? null : limits.take(seen, client, this.#options.clock.nowMs());
    if (limited !== null && limited.delayMs < 0) {
      // It goes nowhere: it must cost little, and not use up the turn of another one.
      const nowhere = { lines: '', branch: 0, hash: undefined };
      const known = { startedMs, requestId, client, scheme, trace, route, user, target };
      return { ...known, ...nowhere, limited, exchange, compressed };
    }
    const forwarding = {
      peerAddress: request.peer.address,
      isTrusted: request.peer.isTrusted,
      requestId,
      isHttp2: request.version === '2',
      proto: this.#options.proto,
      host: request.host,
      portLine: this.#options.portLine,
      identityLines: request.peer.identityLines,
      isTraced: trace !== null,
    };
    const lines = requestLines({ fields: request.fields, options }, forwarding, route.requestRewrite) + identityLines;
    const branch = choice.branchFor(seen);
    const hash = choice.hashOf(seen, client);
    return {
      startedMs,
      requestId,
      client,
      scheme,
      trace,
      route,
      user,
      target,
      lines,
      branch,
      hash,
      limited,
      exchange,
      compressed,
    };
  }

  #identify(request: RequestDescription): RequestIdentity {
    const { peer } = request;
    const startedMs = this.#options.clock.nowMs();
    const trace = this.#beginTrace(request, startedMs);
    const scheme = this.#options.proto;
    if (!peer.isTrusted)
      return { startedMs, requestId: requestIdOf(undefined, false), client: peer.address, scheme, trace };
    const forwardedFor = [request.header('x-forwarded-for') ?? ''];
    return {
      startedMs,
      requestId: requestIdOf(request.header('x-request-id'), true),
      client: clientAddress(peer, forwardedFor, this.#options.isTrusted),
      scheme,
      trace,
    };
  }

  #beginTrace(request: RequestDescription, startedMs: number): RequestTrace | null {
    const { tracer, proto } = this.#options;
    if (tracer === null) return null;
    return tracer.begin({
      traceparent: request.header('traceparent'),
      tracestate: request.header('tracestate'),
      isTrusted: request.peer.isTrusted,
      peerAddress: request.peer.address,
      scheme: proto,
      method: request.method,
      startedMs,
    });
  }

  /** Answers a request that no route has taken: with an error, to https, or (null) with an empty 204. */
  #answerItself(exchange: Exchange, situation: ErrorSituation | Elsewhere, known?: Known): void {
    this.#options.onUnrouted(situation);
    const { identity, user, lines } = known ?? { identity: this.#identify(exchange), user: null, lines: '' };
    const { startedMs, requestId, client, scheme, trace } = identity;
    const answer = this.#ownAnswer(exchange, situation, { requestId, lines });
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
      status: answer.head.status,
      bytes: answer.content.length,
      durationMs: this.#options.clock.nowMs() - startedMs,
      route: null,
      service: null,
      branch: null,
      attempts: [],
      degraded: null,
      error: situation === 'redirected' ? null : situation,
      userAgent: exchange.header('user-agent') ?? null,
    };
    this.#options.onFinished?.(record, trace);
    sendAnswer(exchange, answer);
  }

  #ownAnswer(
    exchange: Exchange,
    situation: ErrorSituation | Elsewhere,
    { requestId, lines }: { readonly requestId: string; readonly lines: string },
  ): OwnAnswer {
    if (situation === null) return NO_CONTENT;
    const { redirect } = this.#options;
    if (situation === 'redirected') return httpsRedirect(exchange, redirect ?? { port: 443 }, requestId);
    const [accept, contentType] = [exchange.header('accept'), exchange.header('content-type')];
    return errorAnswer(situation, requestId, { accept, contentType, lines });
  }
}

/**
 * Whether a lenient service would read the path as one that a route guards, while the route that it found does not: `//admin`
 * is `/admin` to some.
 */
function isEvasive(table: RouteTable<Route>, request: RequestDescription, found: Route | undefined): boolean {
  const lenient = lenientReading(request.target);
  if (lenient === null) return false;
  const meant = table.find(request, lenient);
  return meant !== undefined && meant !== found && meant.gatekeeper !== null && !meant.gatekeeper.isOpen;
}
