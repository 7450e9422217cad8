// One HTTP/2 connection to an endpoint: many calls at a time, as many as the endpoint allows, until either side ends it.
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { AttemptFailure } from '../../core/failure.ts';
import type { Sweep, Sweepable } from '../sweep.ts';
import type { CallCarrier, Http2Call } from './http2-upstream-call.ts';
import { type HeadStore, RESPONSE_HEAD_LIMITS } from './http2-upstream-head.ts';
import type { UpstreamFailure, UpstreamTarget, UpstreamTls } from './upstream.ts';
import { attemptFailure, isLocalShortage } from './upstream-error.ts';
import { openHttp2Socket } from './upstream-socket.ts';

/** The pool that a connection belongs to. */
export interface Http2ConnectionPool {
  readonly sweep: Sweep;
  readonly heads: HeadStore;
  /** How many streams the endpoint allows at a time. */
  limitLearnt(limit: number): void;
  /** Finds another connection for a call that this one has no place for. */
  place(call: Http2Call): void;
  /** The endpoint takes no more streams on the connection, or it is gone. */
  lost(): void;
  closed(connection: Http2UpstreamConnection): void;
}

/** The most calls at a time on one connection, whatever the endpoint allows (RFC 9113 section 6.5.2 asks for 100). */
export const MOST_STREAMS = 100;
/** Stream numbers end at 2^31: a connection is left long before. */
const MOST_STREAMS_EVER = 500_000_000;
/** How long a connection that nobody uses is kept. */
const IDLE_MS = 60_000;
/** How long a connection may take to answer a ping when an answer is overdue. */
const PING_MS = 5000;
/** What an endpoint may send of one answer before it is read, and of all together before it is looked at. */
const STREAM_WINDOW_BYTES = 262_144;
const CONNECTION_WINDOW_BYTES = 1_048_576;
const NEVER = Number.POSITIVE_INFINITY;

const SESSION_OPTIONS = {
  settings: {
    enablePush: false,
    initialWindowSize: STREAM_WINDOW_BYTES,
    maxHeaderListSize: RESPONSE_HEAD_LIMITS.fieldsBytes,
  },
  maxHeaderListPairs: RESPONSE_HEAD_LIMITS.fieldCount,
  // Heads are no larger than those that clients may send.
  maxSendHeaderBlockLength: 2 * RESPONSE_HEAD_LIMITS.fieldsBytes,
  peerMaxConcurrentStreams: MOST_STREAMS,
  strictSingleValueFields: false,
  // Megabytes, of what nghttp2 itself holds for the session.
  maxSessionMemory: 64,
};

/** Codes of a reset by which the endpoint, or nghttp2 here, says that the other one broke the protocol. */
const PROTOCOL_CODES: ReadonlySet<number> = new Set([
  ...[constants.NGHTTP2_PROTOCOL_ERROR, constants.NGHTTP2_FLOW_CONTROL_ERROR, constants.NGHTTP2_FRAME_SIZE_ERROR],
  ...[constants.NGHTTP2_COMPRESSION_ERROR, constants.NGHTTP2_HTTP_1_1_REQUIRED],
]);

type Loss = Pick<UpstreamFailure, 'failure' | 'detail' | 'isLocal'>;

const CLOSED: Loss = { failure: 'connection_terminated', detail: 'closed without a response', isLocal: false };

export interface Http2ConnectionParts {
  readonly target: UpstreamTarget;
  readonly tls: UpstreamTls | null;
  readonly pool: Http2ConnectionPool;
  /** How many calls may wait for it to be ready. */
  readonly expectedLimit: number;
  /** How many connections the pool had lost when this one was opened. */
  readonly bornAfter: number;
}

export class Http2UpstreamConnection implements Sweepable, CallCarrier {
  readonly heads: HeadStore;
  readonly bornAfter: number;
  readonly #pool: Http2ConnectionPool;
  readonly #target: UpstreamTarget;
  readonly #socket: Socket;
  readonly #waiting = new Set<Http2Call>();
  readonly #active = new Set<Http2Call>();
  #session: ClientHttp2Session | undefined;
  #limit: number;
  #isReady = false;
  /** Whether it takes no more calls. */
  #isRetired = false;
  #isClosed = false;
  #toFlush: Http2Call[] = [];
  #begun = 0;
  #hasServed = false;
  /** The last stream that the endpoint says to have taken. */
  #lastStream = NEVER;
  #idleDeadlineMs = NEVER;
  #pingDeadlineMs = NEVER;
  #loss: Loss | undefined;

  constructor({ target, tls, pool, expectedLimit, bornAfter }: Http2ConnectionParts) {
    this.#pool = pool;
    this.#target = target;
    this.#limit = expectedLimit;
    this.heads = pool.heads;
    this.bornAfter = bornAfter;
    this.#socket = openHttp2Socket(target, tls);
    this.#socket.on(tls === null ? 'connect' : 'secureConnect', () => this.#connected(tls !== null));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#lose(lossOf(error, this.#session !== undefined)));
    this.#socket.on('close', () => this.#closed());
    pool.sweep.add(this);
  }

  get nowMs(): number {
    return this.#pool.sweep.nowMs;
  }

  /** How many more calls it takes. */
  get room(): number {
    const session = this.#session;
    const isUsable = session === undefined || !(session.closed || session.destroyed);
    if (this.#isRetired || !isUsable || this.#pingDeadlineMs !== NEVER) return 0;
    return this.#limit - this.#active.size - this.#waiting.size;
  }

  take(call: Http2Call): void {
    this.#idleDeadlineMs = NEVER;
    call.assign(this);
    this.#waiting.add(call);
    this.#beginWaiting();
  }

  /** Takes no more calls, and closes when it is free. */
  retire(): void {
    this.#isRetired = true;
    if (this.#active.size + this.#waiting.size === 0) this.destroy();
  }

  destroy(): void {
    this.#isRetired = true;
    if (this.#session === undefined) this.#socket.destroy();
    else this.#session.destroy();
    // Whoever asks must not wait for the socket to say that it is closed.
    this.#closed();
  }

  failureOf({ id, rstCode }: ClientHttp2Stream, hasResponse: boolean): UpstreamFailure {
    // It refuses whatever comes on this connection: others go elsewhere.
    if (rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM && !this.#isRetired) this.#leave();
    const isUntaken = id === undefined || id > this.#lastStream;
    if (isUntaken || rstCode === constants.NGHTTP2_REFUSED_STREAM) {
      const detail = isUntaken
        ? 'the endpoint ended the connection before the request'
        : 'the endpoint refused the stream';
      const stale = this.#lastStream !== NEVER && !hasResponse;
      return { failure: 'connection_terminated', detail, isLocal: false, sent: hasResponse, stale };
    }
    const isLost = this.#isClosed || this.#loss !== undefined || this.#session?.destroyed === true;
    const loss = isLost ? (this.#loss ?? CLOSED) : resetBy(rstCode);
    const isCut = isLost && loss.failure === 'connection_terminated';
    return { ...loss, sent: true, stale: isCut && this.#hasServed && !hasResponse };
  }

  flushLater(call: Http2Call): void {
    if (this.#toFlush.at(-1) === call) return;
    if (this.#toFlush.push(call) === 1) setImmediate(() => this.#flush());
  }

  callEnded(call: Http2Call, isGood: boolean): void {
    this.#waiting.delete(call);
    this.#active.delete(call);
    if (isGood) this.#hasServed = true;
    this.#beginWaiting();
    if (this.#active.size + this.#waiting.size > 0) return;
    if (this.#isRetired || !this.#isReady) this.destroy();
    else this.#idleDeadlineMs = this.nowMs + IDLE_MS;
  }

  suspect(): void {
    const isAsked = this.#pingDeadlineMs !== NEVER;
    if (isAsked || this.#session === undefined || this.#session.destroyed) return;
    this.#pingDeadlineMs = this.nowMs + PING_MS;
    this.#session.ping(() => {
      this.#pingDeadlineMs = NEVER;
    });
  }

  sweep(nowMs: number): void {
    for (const call of this.#waiting) call.sweep(nowMs);
    for (const call of this.#active) call.sweep(nowMs);
    if (nowMs > this.#pingDeadlineMs) {
      this.#lose({ failure: 'connection_terminated', detail: 'a ping was not answered', isLocal: false });
      this.destroy();
    } else if (nowMs > this.#idleDeadlineMs || (this.#isRetired && this.#active.size + this.#waiting.size === 0)) {
      this.destroy();
    }
  }

  /** The endpoint's settings come before any request: only then it is known to speak HTTP/2, and how many it takes. */
  #connected(isTls: boolean): void {
    if (isTls && alpnOf(this.#socket) !== 'h2') {
      this.#lose({
        failure: 'tls_protocol_error',
        detail: 'the endpoint does not offer HTTP/2 (ALPN h2)',
        isLocal: false,
      });
      this.destroy();
      return;
    }
    const createConnection = (): Socket => this.#socket;
    const authority = `${isTls ? 'https' : 'http'}://${this.#target.key}`;
    const session = connectHttp2(authority, { ...SESSION_OPTIONS, createConnection });
    this.#session = session;
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    session.on('remoteSettings', ({ maxConcurrentStreams }) => this.#settled(maxConcurrentStreams ?? MOST_STREAMS));
    session.on('goaway', (_code, lastStream) => this.#leaving(lastStream));
    session.on('error', (error: NodeJS.ErrnoException) => this.#lose(lossOf(error, true)));
    session.on('close', () => this.#closed());
  }

  #settled(maxConcurrentStreams: number): void {
    this.#limit = Math.min(maxConcurrentStreams, MOST_STREAMS);
    this.#isReady = true;
    this.#pool.limitLearnt(this.#limit);
    this.#beginWaiting();
    if (this.#limit > 0) this.#sendAway();
  }

  #beginWaiting(): void {
    const session = this.#session;
    if (!this.#isReady || session === undefined || session.closed || session.destroyed) return;
    for (const call of this.#waiting) {
      if (this.#active.size >= this.#limit) return;
      this.#waiting.delete(call);
      this.#active.add(call);
      if (++this.#begun >= MOST_STREAMS_EVER) this.#isRetired = true;
      call.begin(session);
    }
  }

  /** Gives the calls that wait to other connections. */
  #sendAway(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const call of waiting) this.#pool.place(call);
  }

  #leaving(lastStream: number): void {
    this.#lastStream = lastStream;
    this.#leave();
  }

  #leave(): void {
    this.#isRetired = true;
    this.#pool.lost();
    this.#sendAway();
  }

  #flush(): void {
    const calls = this.#toFlush;
    this.#toFlush = [];
    for (const call of calls) call.flush();
  }

  #lose(loss: Loss): void {
    this.#loss ??= loss;
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isRetired) this.#pool.lost();
    this.#isRetired = true;
    this.#pool.sweep.remove(this);
    this.#pool.closed(this);
    // Those that have begun hear it from their streams.
    for (const call of this.#waiting) call.fail({ ...(this.#loss ?? CLOSED), sent: false, stale: false });
  }
}

function lossOf(error: NodeJS.ErrnoException, isConnected: boolean): Loss {
  // What nghttp2 says of the octets that came.
  const isProtocol = error.code === 'ERR_HTTP2_ERROR';
  const failure: AttemptFailure = isProtocol ? 'http_protocol_error' : attemptFailure(error, isConnected);
  return { failure, detail: error.message, isLocal: isLocalShortage(error) };
}

function resetBy(code: number): Loss {
  const failure = PROTOCOL_CODES.has(code) ? 'http_protocol_error' : 'connection_terminated';
  return { failure, detail: `the stream was reset with code ${code}`, isLocal: false };
}

function alpnOf(socket: Socket): string | false | null {
  return socket instanceof TLSSocket ? socket.alpnProtocol : null;
}
