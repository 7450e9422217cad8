// A public listener: takes connections up to the limit, hands their requests on, drains.
import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import type { GatewayConfig } from '../../config/gateway-schema.ts';
import type { ErrorSituation } from '../../core/errors.ts';
import { keepExchange } from '../../core/last-of-kind.ts';
import type { NetworkCheck } from '../../core/networks.ts';
import type { ConnectionOptions as Options } from '../../http1/connection-options.ts';
import type { HeadLimits } from '../../http1/head-limits.ts';
import type { GatewayCell, ProxyHeaderFailure } from '../../shared/gateway-cell.ts';
import type { ListenerMaterial } from '../../tls/served-certificate.ts';
import { rawErrorAnswer } from '../answers.ts';
import { type ClientPeer, describePeer, type TrustCheck } from '../client-address.ts';
import type { Exchange, UpgradableExchange } from '../exchange.ts';
import { Http2Connection } from '../http2/http2-connection.ts';
import { awaitPreface } from '../opening/await-preface.ts';
import { awaitProxyHeader } from '../opening/await-proxy-header.ts';
import { requestIdOf } from '../request-id.ts';
import type { Described } from '../routed-request.ts';
import type { Sweep } from '../sweep.ts';
import type { Upgrade } from '../websocket.ts';
import { ClientConnection } from './client-connection.ts';
import type { ConnectionHost, HostedConnection } from './connection-host.ts';
import { hstsLineOf } from './hsts.ts';
import type { HttpDate } from './http-date.ts';
import { TlsFront, type TlsFrontOptions } from './tls-front.ts';

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** What TLS is spoken with; null for plain HTTP. */
  readonly tls: ListenerTls | null;
  /** Whether clients may speak HTTP/2: as TLS agrees on it, or with prior knowledge where there is no TLS. */
  readonly hasHttp2: boolean;
  /** Null where no peer sends a PROXY header. */
  readonly proxyProtocol: ProxyProtocol | null;
  /** The value of Strict-Transport-Security in every answer; null for none. */
  readonly hsts: string | null;
  /** Whether several workers share the port. */
  readonly reusePort: boolean;
  readonly limits: GatewayConfig['limits'];
  readonly timeouts: GatewayConfig['timeouts'];
  readonly cell: GatewayCell;
  readonly sweep: Sweep;
  readonly date: HttpDate;
  readonly isTrusted: TrustCheck;
  readonly onRequest: (exchange: Exchange, options: Options) => void;
  /** A request was answered with an error before it could be routed. */
  readonly onRefused: (peer: ClientPeer, situation: ErrorSituation, requestId: string) => void;
  readonly onUpgrade: (upgrade: Upgrade) => void;
}

/** What a listener needs to speak TLS. */
export interface ListenerTls extends Pick<TlsFrontOptions, 'config' | 'material' | 'ticketKeys' | 'counts'> {
  /** A client sent plain HTTP, or broke the handshake off, or had it broken off. */
  readonly onFailed: TlsFrontOptions['onFailed'];
}

/** Which peers begin their connections with a PROXY header, each of them without exception. */
export interface ProxyProtocol {
  readonly isSender: NetworkCheck;
  /** A connection was closed for want of a valid header. */
  readonly onFailed: (peer: ClientPeer, reason: ProxyHeaderFailure) => void;
}

/**
 * The event loop takes one connection from a listening socket each time that it asks for events, and between two times it
 * handles a thousand where as many are ready: so there are many sockets on the port, over which the kernel spreads new
 * connections. With 8, of 5,000 clients that came at once the last were taken after six seconds.
 */
const LISTENING_SOCKETS = 64;

/** A socket that is never found empty is closed all the same. */
const MAX_CLOSING_TURNS = 1000;

/** A turn of the event loop in which nothing happened takes no longer. */
const QUIET_TURN_MS = 0.1;

export class Listener implements ConnectionHost {
  readonly headLimits: HeadLimits;
  readonly timeouts: GatewayConfig['timeouts'];
  readonly sweep: Sweep;
  readonly date: HttpDate;
  readonly hstsLine: string;
  readonly #options: ListenerOptions;
  readonly #servers: readonly Server[];
  readonly #tls: TlsFront | null;
  /** The sockets that took a connection since somebody looked. */
  readonly #accepting = new Set<Server>();
  readonly #connections = new Set<HostedConnection>();
  /** Parses upgrades once more, for the relay of tunnels, which wants them as node:http gives them. */
  readonly #upgrades: HttpServer;
  readonly #upgrading = new WeakMap<Duplex, Pick<Upgrade, 'head' | 'described'>>();
  #drained: (() => void) | undefined;
  isDraining = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { limits } = options;
    this.timeouts = options.timeouts;
    this.sweep = options.sweep;
    this.date = options.date;
    this.hstsLine = hstsLineOf(options.hsts);
    this.#tls = options.tls === null ? null : this.#createTls(options.tls);
    this.headLimits = {
      firstLineBytes: limits.requestLineBytes,
      fieldsBytes: limits.headersBytes,
      fieldCount: limits.headerCount,
    };
    const maxHeaderSize = limits.requestLineBytes + limits.headersBytes + 1024;
    this.#upgrades = createHttpServer({ requireHostHeader: false, maxHeaderSize });
    this.#upgrades.maxHeadersCount = 0;
    this.#servers = Array.from({ length: options.reusePort ? LISTENING_SOCKETS : 1 }, () => {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        this.#accepting.add(server);
        this.#connected(socket);
      });
      return server;
    });
    this.#upgrades.on('upgrade', (request: IncomingMessage, socket: Duplex, early: Buffer) => {
      const upgrade = this.#upgrading.get(socket);
      if (upgrade === undefined) socket.destroy();
      else options.onUpgrade({ ...upgrade, request, socket, early, hsts: options.hsts });
    });
    this.#upgrades.on('clientError', (_error, socket) => {
      socket.once('finish', () => socket.destroy());
      socket.end(rawErrorAnswer('bad_request', requestIdOf(undefined, false), this.hstsLine));
    });
  }

  /** The port that is listened on. */
  get port(): number {
    const address = this.#servers[0]?.address();
    return typeof address === 'object' && address !== null ? address.port : this.#options.port;
  }

  /** Resolves when connections are accepted; rejects when the address cannot be had. */
  async listen(): Promise<void> {
    const { host, port, reusePort } = this.#options;
    for (const server of this.#servers) {
      server.listen({ host, port, reusePort, backlog: 4096 });
      await once(server, 'listening');
    }
  }

  /** Accepts no more and resolves when every connection has had its last answer. */
  async drain(): Promise<void> {
    this.isDraining = true;
    for (const connection of this.#connections) connection.endWhenIdle();
    await this.#closeServers();
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
  }

  /**
   * Closes each listening socket when no connection waits in it: the kernel resets those that do. In a long turn one may
   * have come since the loop looked.
   */
  async #closeServers(): Promise<void> {
    const open = new Set(this.#servers);
    for (let turn = 0; open.size > 0; turn++) {
      this.#accepting.clear();
      const begunMs = performance.now();
      // In between the loop takes a connection from every socket that has one.
      await immediate();
      const isLong = performance.now() - begunMs > QUIET_TURN_MS;
      for (const server of open) {
        if ((isLong || this.#accepting.has(server)) && turn < MAX_CLOSING_TURNS) continue;
        server.close();
        open.delete(server);
        break;
      }
    }
  }

  /** Cuts what is left. */
  stop(): void {
    for (const server of this.#servers) server.close();
    for (const connection of this.#connections) connection.destroy();
  }

  /** Puts other certificates in force; connections that stand are not touched. */
  replaceCertificates(material: ListenerMaterial, ticketKeys: Uint8Array): void {
    this.#tls?.replace(material, ticketKeys);
  }

  onRequest(exchange: Exchange, options: Options): void {
    keepExchange(exchange);
    this.#options.onRequest(exchange, options);
  }

  /** Takes over the connection of an exchange whose request is to be upgraded. */
  openTunnel(exchange: UpgradableExchange, described: Described): void {
    const { method, target, host, version } = exchange;
    const head = { method, target, host, version, userAgent: exchange.header('user-agent') ?? null };
    const { socket, octets } = exchange.takeOver();
    this.#upgrading.set(socket, { head, described });
    socket.unshift(octets);
    this.#upgrades.emit('connection', socket);
    socket.resume();
  }

  onRefused(peer: ClientPeer, situation: ErrorSituation, requestId: string): void {
    this.#options.onRefused(peer, situation, requestId);
  }

  onClosed(connection: HostedConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#drained?.();
  }

  #connected(socket: Socket): void {
    const { cell, limits, isTrusted, proxyProtocol } = this.#options;
    if (!cell.openDownstream(limits.connections)) {
      socket.destroy();
      return;
    }
    socket.once('close', () => cell.closeDownstream());
    const peer = describePeer(socket.remoteAddress, isTrusted);
    if (proxyProtocol?.isSender(peer.address) === true) this.#awaitProxyHeader(socket, peer, proxyProtocol);
    else this.#begin(socket, peer);
  }

  #awaitProxyHeader(socket: Socket, peer: ClientPeer, { onFailed }: ProxyProtocol): void {
    const { isTrusted } = this.#options;
    const opening = awaitProxyHeader({
      ...this.#openingOf(socket),
      onHeader: (source) => this.#begin(socket, source === null ? peer : describePeer(source, isTrusted)),
      onFailed: (reason) => onFailed(peer, reason),
    });
    this.#look(opening);
  }

  /** The client's own octets begin. */
  #begin(socket: Socket, peer: ClientPeer): void {
    if (this.#tls !== null) {
      this.#look(this.#tls.accept(socket, peer));
    } else if (this.#options.hasHttp2) {
      const opening = awaitPreface({
        ...this.#openingOf(socket),
        onTold: (isHttp2) => this.#serve(socket, peer, isHttp2),
        answerLate: () => this.#refusal('request_timeout', peer),
      });
      this.#look(opening);
    } else {
      this.#serve(socket, peer, false);
    }
  }

  #openingOf(socket: Socket) {
    const { sweep, timeouts } = this;
    const onEnded = (opening: HostedConnection): void => this.onClosed(opening);
    return { socket, sweep, withinMs: timeouts.requestHeadMs, onEnded };
  }

  #createTls(tls: ListenerTls): TlsFront {
    return new TlsFront({
      ...tls,
      hasHttp2: this.#options.hasHttp2,
      handshakeMs: this.timeouts.requestHeadMs,
      sweep: this.sweep,
      onHandshake: (handshake) => this.#look(handshake),
      onSecure: (socket, peer) => this.#serve(socket, peer, socket.alpnProtocol === 'h2'),
      answerPlain: (peer) => this.#refusal('plain_http', peer),
      onEnded: (connection) => this.onClosed(connection),
    });
  }

  #refusal(situation: ErrorSituation, peer: ClientPeer): Buffer {
    const requestId = requestIdOf(undefined, false);
    this.onRefused(peer, situation, requestId);
    return rawErrorAnswer(situation, requestId);
  }

  /** Requests are read from a connection. */
  #serve(socket: Socket, peer: ClientPeer, isHttp2: boolean): void {
    const connection = isHttp2 ? new Http2Connection(socket, this, peer) : new ClientConnection(socket, this, peer);
    // An opening has paused it; a session reads by itself.
    if (!isHttp2) socket.resume();
    this.#look(connection);
  }

  #look(connection: HostedConnection): void {
    this.#connections.add(connection);
    if (this.isDraining) connection.endWhenIdle();
  }
}
