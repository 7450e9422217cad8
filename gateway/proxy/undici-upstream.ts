// The upstream side by undici: a pool of kept connections for each endpoint of this worker.
import { type Dispatcher, errors, Pool } from 'undici';
import type { AttemptFailure } from '../core/failure.ts';
import type { RawFields } from './exchange.ts';
import type { Upstream, UpstreamCall, UpstreamEvents, UpstreamRequest, UpstreamTarget } from './upstream.ts';

/** The largest response head that is accepted. */
const MAX_HEAD_BYTES = 64 * 1024;

/** How long a connection that nobody uses is kept, unless the endpoint announces a shorter time. */
const IDLE_CONNECTION_MS = 4000;

const FAILURE_OF_CODE: ReadonlyMap<string, AttemptFailure> = new Map([
  ['ECONNREFUSED', 'connection_refused'],
  ['EHOSTUNREACH', 'destination_ip_unroutable'],
  ['ENETUNREACH', 'destination_ip_unroutable'],
  ['EADDRNOTAVAIL', 'destination_ip_unroutable'],
  ['ENOTFOUND', 'dns_error'],
  ['EAI_AGAIN', 'dns_error'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connection_timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'http_response_timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'http_response_timeout'],
  ['UND_ERR_HEADERS_OVERFLOW', 'http_protocol_error'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'http_protocol_error'],
]);

export interface UndiciUpstreamOptions {
  /** Told of every connection that opens (1) and closes (-1). */
  readonly onConnections: (by: 1 | -1) => void;
}

export class UndiciUpstream implements Upstream {
  readonly #options: UndiciUpstreamOptions;
  readonly #pools = new Map<UpstreamTarget, Pool>();

  constructor(options: UndiciUpstreamOptions) {
    this.#options = options;
  }

  send(to: UpstreamTarget, request: UpstreamRequest, events: UpstreamEvents): UpstreamCall {
    const pool = this.#pools.get(to) ?? this.#open(to, request.timeouts.connectMs);
    const call = new UndiciCall(events);
    try {
      pool.dispatch(
        {
          path: request.target,
          method: request.method,
          headers: [...request.fields],
          // undici takes any async iterable, its types know only some of them.
          body: request.content === null ? null : (request.content.read() as unknown as Buffer),
          headersTimeout: request.timeouts.responseMs,
          bodyTimeout: request.timeouts.idleMs,
        },
        call,
      );
    } catch (error) {
      call.onResponseError(undefined, error instanceof Error ? error : new Error(String(error)));
    }
    return call;
  }

  forget(target: UpstreamTarget): void {
    const pool = this.#pools.get(target);
    this.#pools.delete(target);
    pool?.close().catch(() => undefined);
  }

  async stop(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #open(target: UpstreamTarget, connectMs: number): Pool {
    const pool = new Pool(`http://${target.key}`, {
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      maxHeaderSize: MAX_HEAD_BYTES,
      connect: { timeout: connectMs },
    });
    pool.on('connect', () => this.#options.onConnections(1));
    pool.on('disconnect', () => this.#options.onConnections(-1));
    this.#pools.set(target, pool);
    return pool;
  }
}

/** One request on its way through undici. */
class UndiciCall implements UpstreamCall, Dispatcher.DispatchHandler {
  readonly #events: UpstreamEvents;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;

  constructor(events: UpstreamEvents) {
    this.#events = events;
  }

  resume(): void {
    this.#controller?.resume();
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while the connection was being made.
    if (this.#isOver) controller.abort(new errors.RequestAbortedError());
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: Record<string, string | string[] | undefined>,
    reason?: string,
  ): void {
    if (this.#isOver) return;
    const fields = latin1Fields(controller.rawHeaders);
    if (status < 200) this.#events.onInterim(status, fields);
    else this.#events.onHead({ status, reason: reason ?? '', fields });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver && !this.#events.onContent(chunk)) controller.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.onEnd(latin1Fields(controller.rawTrailers));
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const sent = this.#controller !== undefined;
    this.#events.onFailure({
      failure: failureOf(error, sent),
      detail: error.message,
      sent,
      stale: error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0,
    });
  }
}

function latin1Fields(raw: Dispatcher.DispatchController['rawHeaders']): RawFields {
  if (!Array.isArray(raw)) return [];
  return raw.map((octets) => (typeof octets === 'string' ? octets : octets.toString('latin1')));
}

function failureOf(error: Error, sent: boolean): AttemptFailure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const known = FAILURE_OF_CODE.get(code);
  if (known !== undefined) return known;
  if (error instanceof errors.HTTPParserError) return 'http_protocol_error';
  if (code === 'ETIMEDOUT') return sent ? 'http_response_timeout' : 'connection_timeout';
  return sent ? 'connection_terminated' : 'destination_ip_unroutable';
}
