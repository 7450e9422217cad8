// The front by node:http: one IncomingMessage and its ServerResponse as an exchange.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientPeer } from './client-address.ts';
import type {
  ContentLimits,
  Exchange,
  ExchangeEvents,
  RawFields,
  RequestContent,
  RequestHead,
  ResponseHead,
} from './exchange.ts';
import { IncomingContent } from './request-content.ts';
import type { RequestAddress } from './request-line.ts';

export interface NodeExchangeOptions {
  /** The longest wait between two reads of the request's content. */
  readonly contentIdleMs: number;
  /** The longest wait for a client that does not read. */
  readonly writeMs: number;
  /** Whether the connection ends with this answer. */
  readonly isLast: () => boolean;
}

const ASCII = /^[\t\x20-\x7e]*$/;

/** The head of a request that node:http has parsed. */
export class NodeRequestHead implements RequestHead {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly fields: RawFields;
  readonly peer: ClientPeer;
  readonly #headers: IncomingMessage['headers'];

  constructor(request: IncomingMessage, address: RequestAddress, peer: ClientPeer) {
    this.method = request.method ?? '';
    this.target = address.target;
    this.host = address.host;
    this.fields = request.rawHeaders;
    this.peer = peer;
    this.#headers = request.headers;
  }

  readonly header = (name: string): string | undefined => {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
}

export class NodeExchange implements Exchange {
  readonly head: RequestHead;
  contentBytes = 0;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #options: NodeExchangeOptions;
  #events: ExchangeEvents | undefined;
  #writeTimer: NodeJS.Timeout | undefined;

  constructor(
    head: RequestHead,
    message: { request: IncomingMessage; response: ServerResponse },
    options: NodeExchangeOptions,
  ) {
    this.head = head;
    this.#request = message.request;
    this.#response = message.response;
    this.#options = options;
  }

  get announcedBytes(): number | null {
    const length = this.head.header('content-length');
    return length === undefined ? null : Number(length);
  }

  get isHeadSent(): boolean {
    return this.#response.headersSent;
  }

  openContent(limits: ContentLimits): RequestContent | null {
    const hasContent = this.head.header('transfer-encoding') !== undefined || (this.announcedBytes ?? 0) > 0;
    if (!hasContent) return null;
    return new IncomingContent(this.#request, {
      ...limits,
      idleMs: this.#options.contentIdleMs,
      onTooLarge: () => this.#events?.onContentTooLarge(),
      onIdle: () => this.breakOff(),
    });
  }

  listen(events: ExchangeEvents): void {
    this.#events = events;
    this.#response.on('drain', () => {
      this.#stopWaiting();
      events.onDrain();
    });
    this.#response.on('finish', () => this.#stopWaiting());
    this.#response.on('close', () => {
      this.#stopWaiting();
      if (!this.#response.writableFinished) events.onGone();
    });
    // A client that breaks off shows as `close`; without a listener the error would end the process.
    this.#request.on('error', () => undefined);
    this.#response.on('error', () => undefined);
  }

  sendInterim(status: number, fields: RawFields): void {
    if (status !== 103 || this.#request.httpVersionMinor === 0 || this.isHeadSent) return;
    const links: string[] = [];
    for (let at = 0; at < fields.length; at += 2) {
      if (fields[at]?.toLowerCase() === 'link') links.push(fields[at + 1] ?? '');
    }
    if (links.length > 0) this.#response.writeEarlyHints({ link: links });
  }

  sendHead(head: ResponseHead): void {
    const response = this.#response;
    if (response.destroyed) return;
    if (this.#options.isLast()) response.shouldKeepAlive = false;
    // A reason phrase that node:http would refuse is left out; it means nothing to anybody (RFC 9112 section 4).
    const reason = ASCII.test(head.reason) ? head.reason : '';
    if (reason === '') response.writeHead(head.status, [...head.fields]);
    else response.writeHead(head.status, reason, [...head.fields]);
    // node:http flushes a head as UTF-8: one with other octets leaves with the first content instead.
    if (head.fields.every((text) => ASCII.test(text))) response.flushHeaders();
  }

  write(chunk: Uint8Array): boolean {
    if (this.head.method === 'HEAD') return true;
    this.contentBytes += chunk.length;
    const response = this.#response;
    if (response.destroyed || response.write(chunk)) return true;
    this.#waitForClient();
    return false;
  }

  end(trailers: RawFields): void {
    const response = this.#response;
    const pairs: [string, string][] = [];
    for (let at = 0; at < trailers.length; at += 2) pairs.push([trailers[at] ?? '', trailers[at + 1] ?? '']);
    if (pairs.length > 0 && response.chunkedEncoding) response.addTrailers(pairs);
    response.end();
    if (response.writableLength > 0) this.#waitForClient();
  }

  breakOff(): void {
    this.#request.socket.destroy();
  }

  #waitForClient(): void {
    this.#writeTimer ??= setTimeout(() => this.breakOff(), this.#options.writeMs);
  }

  #stopWaiting(): void {
    clearTimeout(this.#writeTimer);
    this.#writeTimer = undefined;
  }
}
