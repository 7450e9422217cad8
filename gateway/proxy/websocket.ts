// WebSocket tunnels: http-proxy-3 relays them; this file chooses the endpoint, guards the ends and keeps the book.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import type { Clock } from '../core/clock.ts';
import { ERROR_ANSWERS, type ErrorSituation } from '../core/errors.ts';
import type { AttemptFailure, Outcome } from '../core/failure.ts';
import type { AttemptTrace } from '../core/tracing.ts';
import { trimBlanks } from '../http1/octets.ts';
import type { Lease } from '../pool/lease.ts';
import type { PooledEndpoint } from '../pool/pooled-endpoint.ts';
import { withoutQuery } from '../routing/path.ts';
import { rawErrorAnswer } from './answers.ts';
import type { Exchange } from './exchange.ts';
import { hstsLineOf } from './front/hsts.ts';
import type { Described, TransactionServices } from './routed-request.ts';
import { hostFor, type Route } from './routes/route.ts';
import { beginAttempt, tracedLines } from './traced-attempt.ts';
import { admitTunnel } from './tunnel-admission.ts';
import { attemptFailure } from './upstream/upstream-error.ts';

/** A request that asked for a tunnel; the answer goes to the socket. */
export interface Upgrade {
  readonly head: Pick<Exchange, 'method' | 'target' | 'host' | 'version'> & { readonly userAgent: string | null };
  readonly described: Described;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the client sent behind the head. */
  readonly early: Buffer;
  /** The value of Strict-Transport-Security in every answer; null for none. */
  readonly hsts: string | null;
}

export interface WebSocketOptions extends Pick<TransactionServices, 'onFinished'> {
  readonly clock: Clock;
  /** How long the tunnels to an endpoint that leaves may go on. */
  readonly drainMs: number;
}

export class WebSocketRelay {
  readonly #options: WebSocketOptions;
  readonly #proxy = createProxyServer();
  readonly #tunnels = new Set<Tunnel>();
  #onEmpty: (() => void) | undefined;
  readonly #tunnelOf = new WeakMap<IncomingMessage, Tunnel>();

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.#proxy.on('proxyReqWs', (call, request) => this.#tunnelOf.get(request)?.calling(call));
    // Errors reach the callback of each call; without a listener the relay would throw them.
    this.#proxy.on('error', () => undefined);
  }

  /** Takes over an upgrade. */
  open({ request, socket, early, head, described, hsts }: Upgrade): void {
    const { route } = described;
    const lease = admitTunnel(described);
    if (typeof lease === 'string') {
      this.#refuse({ head, described, socket, hsts }, lease);
      return;
    }
    const tunnel = new Tunnel({ head, described, lease, socket, hsts }, this.#options);
    this.#tunnels.add(tunnel);
    this.#tunnelOf.set(request, tunnel);
    socket.once('close', () => {
      this.#tunnels.delete(tunnel);
      if (this.#tunnels.size === 0) this.#onEmpty?.();
      tunnel.clientClosed();
    });
    // Nothing of the client's may reach the relay's own request: the tunnel gives it the fields that cross.
    request.headers = { host: head.host, connection: 'Upgrade', upgrade: 'websocket' };
    try {
      this.#relay({ request, socket, early, tunnel, route, lease });
    } catch (error) {
      tunnel.failed(error instanceof Error ? error : new Error(String(error)));
      socket.destroy();
    }
  }

  #relay(parts: Pick<Upgrade, 'request' | 'socket' | 'early'> & { tunnel: Tunnel; route: Route; lease: Lease }): void {
    const { request, socket, early, tunnel, route, lease } = parts;
    const { host, port } = lease.endpoint;
    const options = {
      target: { host, port, protocol: route.tls === null ? 'http:' : 'https:' },
      connectTimeout: route.config.timeout.connectMs,
      ...(route.tls !== null && route.tls.servername !== '' && { ssl: { servername: route.tls.servername } }),
    };
    this.#proxy.ws(request, socket, early, options, (error) => tunnel.failed(error));
  }

  /** There is no endpoint to tunnel to, or no room for another tunnel. */
  #refuse(refused: Pick<Upgrade, 'head' | 'described' | 'socket' | 'hsts'>, why: ErrorSituation): void {
    const { head, described, socket } = refused;
    const { route } = described;
    const { status } = ERROR_ANSWERS[why];
    socket.on('error', () => undefined);
    socket.once('finish', () => socket.destroy());
    socket.end(rawErrorAnswer(why, described.requestId, addedLines(refused)));
    route.counts.requestStarted();
    route.counts.requestEnded(head.method, status, 0);
    const ended = { status, bytes: 0, durationMs: 0, branch: null, attempts: [], error: why };
    this.#options.onFinished?.({ ...identityOf(head, described), ...ended }, described.trace);
  }

  /** The endpoint leaves: its tunnels end when they have had their time. */
  forget(endpoint: PooledEndpoint): void {
    const leaving = [...this.#tunnels].filter((tunnel) => tunnel.endpoint === endpoint);
    if (leaving.length === 0) return;
    setTimeout(() => {
      for (const tunnel of leaving) tunnel.end();
    }, this.#options.drainMs).unref();
  }

  /** Resolves when there is no tunnel any more: at the latest after `afterMs`, when those that are left end. */
  async drain(afterMs: number): Promise<void> {
    if (afterMs === 0) this.stop();
    if (afterMs === 0 || this.#tunnels.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.stop();
        resolve();
      }, afterMs);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends all tunnels. */
  stop(): void {
    for (const tunnel of this.#tunnels) tunnel.end();
  }
}

interface TunnelParts {
  readonly head: Upgrade['head'];
  readonly described: Described;
  readonly lease: Lease;
  readonly socket: Duplex;
  readonly hsts: string | null;
}

/** One upgrade from the request to the end of the tunnel. */
class Tunnel {
  readonly #parts: TunnelParts;
  readonly #options: WebSocketOptions;
  readonly #startedMs: number;
  #call: ClientRequest | undefined;
  #responseTimer: NodeJS.Timeout | undefined;
  #outcome: Outcome = 'client_gone';
  #status = 0;
  readonly #trace: AttemptTrace | null;

  constructor(parts: TunnelParts, options: WebSocketOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#startedMs = options.clock.nowMs();
    const { described, lease } = parts;
    this.#trace = beginAttempt(described, lease.endpoint, described.route.tls !== null);
    parts.described.route.counts.requestStarted();
    parts.socket.on('readable', this.#lookForEnd).once('end', () => {
      if (this.#status === 0) parts.socket.destroy();
    });
  }

  get endpoint(): PooledEndpoint {
    return this.#parts.lease.endpoint;
  }

  /** The request to the endpoint is about to be sent: with the same fields and target as any other. */
  calling(call: ClientRequest): void {
    this.#call = call;
    const { described, head, lease } = this.#parts;
    const { route } = described;
    for (const name of call.getHeaderNames()) call.removeHeader(name);
    call.path = described.target;
    call.setHeader('Host', hostFor(route, head.host, lease.endpoint.key));
    call.setHeader('Connection', 'Upgrade');
    call.setHeader('Upgrade', 'websocket');
    for (const line of tracedLines(described, this.#trace).split('\r\n')) {
      const colon = line.indexOf(':');
      // There is no content to be told to go on with.
      if (colon > 0 && line.slice(0, colon).toLowerCase() !== 'expect')
        call.appendHeader(line.slice(0, colon), trimBlanks(line.slice(colon + 1)));
    }
    this.#responseTimer = setTimeout(() => {
      this.#outcome = 'http_response_timeout';
      call.destroy(new Error('the endpoint did not answer the upgrade in time'));
    }, route.config.timeout.responseMs);
    call.once('upgrade', (response: IncomingMessage) => this.#answered(response));
    call.once('response', (response: IncomingMessage) => this.#answered(response));
  }

  failed(error: Error): void {
    clearTimeout(this.#responseTimer);
    if (this.#status !== 0) return;
    const { described, socket } = this.#parts;
    const failure: AttemptFailure = this.#outcome === 'http_response_timeout' ? this.#outcome : this.#failureOf(error);
    if (socket.destroyed) return;
    this.#outcome = failure;
    this.#status = ERROR_ANSWERS[failure].status;
    socket.write(rawErrorAnswer(failure, described.requestId, addedLines(this.#parts)));
  }

  #failureOf(error: Error): AttemptFailure {
    const isConnected = this.#call?.socket?.connecting === false;
    // The relay's own connect timeout has no code.
    return !isConnected && /connect timeout/i.test(error.message) ? 'connection_timeout' : attemptFailure(error, false);
  }

  clientClosed(): void {
    clearTimeout(this.#responseTimer);
    this.#call?.destroy();
    const { described, head, lease, socket } = this.#parts;
    const { route } = described;
    const durationMs = this.#options.clock.nowMs() - this.#startedMs;
    this.#trace?.end(this.#outcome);
    lease.release(this.#outcome);
    route.gate?.leave();
    route.counts.requestEnded(head.method, this.#status === 0 ? 499 : this.#status, durationMs / 1000);
    const ended = {
      status: this.#status,
      bytes: bytesWritten(socket),
      durationMs,
      branch: route.choice.labelOf(lease.group, described.branch),
      attempts: [{ endpoint: lease.endpoint.key, outcome: this.#outcome, ms: Math.round(durationMs * 10) / 10 }],
      error: this.#outcome === 'success' ? null : this.#outcome,
    };
    this.#options.onFinished?.({ ...identityOf(head, described), ...ended }, described.trace);
  }

  /** The relay writes the answer from the response's fields as they are then: those of the connection go, as ever. */
  #refused(response: IncomingMessage): void {
    const { socket, described } = this.#parts;
    const { drop } = described.route.responseRewrite;
    for (const name of Object.keys(response.headers)) if (drop?.has(name) === true) delete response.headers[name];
    for (const name of ['keep-alive', 'proxy-connection', 'upgrade', 'te']) delete response.headers[name];
    response.headers.connection = 'close';
    response.once('close', () => {
      if (!response.complete) socket.destroy();
    });
  }

  end(): void {
    this.#parts.socket.end();
    this.#call?.destroy();
  }

  /** Nobody reads from the client until the endpoint has answered: so its leaving would not show. */
  readonly #lookForEnd = (): void => {
    if (this.#parts.socket.readableLength === 0) this.#parts.socket.read();
  };

  #answered(response: IncomingMessage): void {
    clearTimeout(this.#responseTimer);
    this.#parts.socket.off('readable', this.#lookForEnd);
    const { described, head, lease, hsts } = this.#parts;
    this.#status = response.statusCode ?? 502;
    this.#trace?.answered(this.#status);
    if (hsts !== null) response.headers['strict-transport-security'] = hsts;
    if (this.#status !== 101) this.#refused(response);
    // An endpoint that says when to come back is loaded, not broken.
    const isFailure =
      described.route.failureStatuses.has(this.#status) && response.headers['retry-after'] === undefined;
    this.#outcome = isFailure ? 'status' : 'success';
    if (this.#outcome === 'success') lease.answered(lease.elapsedMs());
    // In HTTP/2 any success would say that there is a tunnel.
    if (head.version === '2' && Math.trunc(this.#status / 100) === 2) this.#status = response.statusCode = 501;
  }
}

/** What Weir's own answers carry besides. */
function addedLines({ described, hsts }: Pick<Upgrade, 'described' | 'hsts'>): string {
  const { limited, route } = described;
  return (limited?.lines ?? '') + (route.securityHeaders?.missingFrom('') ?? '') + hstsLineOf(hsts);
}

/** Who asked for what, for the access log. */
function identityOf(head: Upgrade['head'], { requestId, client, user, scheme, route, trace }: Described) {
  const { method, version, host, target, userAgent } = head;
  const place = { scheme, route: route.name, service: route.service, degraded: null };
  return {
    requestId,
    traceId: trace?.traceId,
    client,
    user,
    method,
    version,
    host,
    path: withoutQuery(target),
    userAgent,
    ...place,
  };
}

function bytesWritten(socket: Duplex): number {
  return 'bytesWritten' in socket ? (socket as Socket).bytesWritten : 0;
}
