// A public listener by node:http: takes connections up to the limit, checks heads, hands requests on, drains.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { ErrorSituation } from '../core/errors.ts';
import type { GatewayCell } from '../shared/gateway-cell.ts';
import { errorAnswer, rawErrorAnswer } from './answers.ts';
import { type ClientPeer, describePeer, type TrustCheck } from './client-address.ts';
import type { Exchange, RequestHead } from './exchange.ts';
import { NodeExchange, NodeRequestHead } from './node-exchange.ts';
import { requestIdOf } from './request-id.ts';
import { requestAddress } from './request-line.ts';

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether several workers share the port. */
  readonly reusePort: boolean;
  readonly limits: GatewayConfig['limits'];
  readonly timeouts: GatewayConfig['timeouts'];
  readonly cell: GatewayCell;
  readonly isTrusted: TrustCheck;
  readonly onRequest: (exchange: Exchange) => void;
  /** Whether a request may be upgraded; one that may not is answered as if it had not asked. */
  readonly mayUpgrade: (head: RequestHead) => boolean;
  readonly onUpgrade: (upgrade: Upgrade) => void;
}

/** A WebSocket upgrade: whoever takes it answers on the socket. */
export interface Upgrade {
  readonly head: RequestHead;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the client sent behind the head. */
  readonly early: Buffer;
}

const SITUATION_OF_CODE: ReadonlyMap<string, ErrorSituation> = new Map([
  ['HPE_HEADER_OVERFLOW', 'fields_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout'],
]);

export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  /** Described once for each connection. */
  readonly #peers = new WeakMap<Socket, ClientPeer>();
  #isDraining = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { limits, timeouts } = options;
    this.#server = createServer(
      {
        maxHeaderSize: limits.requestLineBytes + limits.headersBytes,
        headersTimeout: timeouts.requestHeadMs,
        // The content has a timeout of its own between two reads; the whole may take as long as it wants.
        requestTimeout: 0,
        connectionsCheckingInterval: Math.min(1000, Math.ceil(timeouts.requestHeadMs / 4)),
        keepAliveTimeout: timeouts.keepAliveMs,
        requireHostHeader: false,
        insecureHTTPParser: false,
        shouldUpgradeCallback: (request) => this.#mayUpgrade(request),
      },
      (request, response) => this.#answer(request, response),
    );
    this.#server.maxHeadersCount = 0;
    this.#server.on('connection', (socket: Socket) => this.#connected(socket));
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, early: Buffer) => {
      const head = this.#readHead(request);
      if (typeof head === 'string') refuse(socket, head);
      else options.onUpgrade({ head, request, socket, early });
    });
    this.#server.on('connect', (_request: IncomingMessage, socket: Duplex) => refuse(socket, 'method_not_allowed'));
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
      else refuse(socket, SITUATION_OF_CODE.get(error.code ?? '') ?? 'bad_request');
    });
  }

  /** The port that is listened on. */
  get port(): number {
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : this.#options.port;
  }

  /** Resolves when connections are accepted; rejects when the address cannot be had. */
  listen(): Promise<void> {
    const { host, port, reusePort } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port, reusePort, backlog: 4096 }, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  /** Accepts no more and resolves when every connection has had its last answer. */
  drain(): Promise<void> {
    this.#isDraining = true;
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  /** Cuts what is left. */
  stop(): void {
    this.#server.closeAllConnections();
  }

  #connected(socket: Socket): void {
    const { cell, limits, isTrusted } = this.#options;
    if (!cell.openDownstream(limits.connections)) {
      socket.destroy();
      return;
    }
    socket.once('close', () => cell.closeDownstream());
    this.#peers.set(socket, describePeer(socket.remoteAddress, isTrusted));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const head = this.#readHead(request);
    if (typeof head !== 'string') {
      const { timeouts, onRequest } = this.#options;
      const options = {
        contentIdleMs: timeouts.requestBodyMs,
        writeMs: timeouts.writeMs,
        isLast: () => this.#isDraining,
      };
      onRequest(new NodeExchange(head, { request, response }, options));
      return;
    }
    const error = errorAnswer(head, requestIdOf(undefined, false), request.headers.accept);
    response.shouldKeepAlive = false;
    response.writeHead(error.head.status, error.head.reason, [...error.head.fields]).end(error.content);
  }

  #mayUpgrade(request: IncomingMessage): boolean {
    if (request.method !== 'GET' || request.headers.upgrade?.toLowerCase() !== 'websocket') return false;
    const head = this.#readHead(request);
    return typeof head !== 'string' && this.#options.mayUpgrade(head);
  }

  /** The head of a request, or the situation that it is refused for. */
  #readHead(request: IncomingMessage): RequestHead | ErrorSituation {
    const { requestLineBytes, headerCount, headersBytes } = this.#options.limits;
    const { rawHeaders, method = '', url = '' } = request;
    if (method.length + url.length + '  HTTP/1.1'.length > requestLineBytes) return 'uri_too_long';
    if (rawHeaders.length > 2 * headerCount) return 'fields_too_large';
    let bytes = 0;
    for (const part of rawHeaders) bytes += part.length + 2;
    if (bytes > headersBytes) return 'fields_too_large';
    const address = requestAddress(url, rawHeaders, request.httpVersionMinor === 0);
    const peer = this.#peers.get(request.socket);
    return address === undefined || peer === undefined ? 'bad_request' : new NodeRequestHead(request, address, peer);
  }
}

function refuse(socket: Duplex, situation: ErrorSituation): void {
  socket.on('error', () => undefined);
  socket.end(rawErrorAnswer(situation, requestIdOf(undefined, false)));
}
