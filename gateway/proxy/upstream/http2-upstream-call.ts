// One request on a stream of an HTTP/2 connection to an endpoint, and its answer.
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { addAbortSignal } from 'node:stream';
import { isGrpcType } from '../../core/grpc-status.ts';
import type { FieldTable } from '../../http1/field-table.ts';
import type { ContentSink } from '../exchange.ts';
import { trailerLines } from '../forwarded-fields.ts';
import { fieldsByName } from '../http2/answer-fields.ts';
import { type HeadStore, type ReceivedHead, requestList } from './http2-upstream-head.ts';
import type { UpstreamCall, UpstreamEvents, UpstreamFailure, UpstreamRequest } from './upstream.ts';

/** The connection as its calls use it. */
export interface CallCarrier {
  /** The time, good enough to set a deadline by. */
  readonly nowMs: number;
  readonly heads: HeadStore;
  /** Why a stream has ended before its answer was whole. */
  failureOf(stream: ClientHttp2Stream, hasResponse: boolean): UpstreamFailure;
  /** Asks for `Http2Call.flush` when what has arrived in this turn was given. */
  flushLater(call: Http2Call): void;
  /** The call needs its place no more; `isGood` when it was answered. */
  callEnded(call: Http2Call, isGood: boolean): void;
  /** An answer did not come in time: the connection may be dead. */
  suspect(): void;
}

const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM } = constants;
/**
 * Destroys a stream so that it is reset with CANCEL and not ended first, as `close` would: a request that broke off must
 * not look whole.
 */
const ABORTED = AbortSignal.abort();
/** More interim responses than this to one request are an attack. */
const MAX_INTERIM = 32;
const NEVER = Number.POSITIVE_INFINITY;

export class Http2Call implements UpstreamCall, ContentSink {
  readonly request: UpstreamRequest;
  readonly #events: UpstreamEvents;
  #carrier: CallCarrier | undefined;
  #stream: ClientHttp2Stream | undefined;
  #received: ReceivedHead | undefined;
  #phase: 'waiting' | 'head' | 'content' | 'over' = 'waiting';
  #deadlineMs: number;
  #isRequestWhole: boolean;
  #trailers = '';
  #interim = 0;
  #isPaused = false;
  #hasTrailers = false;
  /** Whether the endpoint has ended its side, not only stopped. */
  #isWhole = false;

  constructor(request: UpstreamRequest, events: UpstreamEvents, nowMs: number) {
    this.request = request;
    this.#events = events;
    this.#isRequestWhole = request.content === null;
    this.#deadlineMs = nowMs + request.timeouts.connectMs;
  }

  /** The connection takes the call on; it may begin later. */
  assign(carrier: CallCarrier): void {
    this.#carrier = carrier;
  }

  /** Sends the request. */
  begin(session: ClientHttp2Session): void {
    const { content } = this.request;
    this.#phase = 'head';
    const list = requestList(this.request);
    const waitForTrailers = content !== null && content.framing.kind !== 'length' && !isGrpc(list);
    let stream: ClientHttp2Stream;
    try {
      stream = session.request(list, { endStream: content === null, waitForTrailers });
    } catch (error) {
      // What the client sent cannot be said in HTTP/2.
      this.#phase = 'waiting';
      this.fail({ failure: 'http_protocol_error', detail: String(error), sent: false, isLocal: true, stale: false });
      return;
    }
    this.#stream = stream;
    this.#listen(stream, waitForTrailers);
    if (content !== null) {
      stream.cork();
      content.attach(this);
      stream.uncork();
    }
    this.#requestProgressed();
  }

  /** The session writes when it wants to. */
  get isHolding(): boolean {
    return true;
  }

  onContent(octets: Buffer): boolean {
    if (this.#phase === 'over' || this.#stream === undefined) return true;
    const isReady = this.#stream.write(octets);
    this.#requestProgressed();
    return isReady;
  }

  onContentEnd(trailers: FieldTable | undefined): void {
    if (this.#phase === 'over') return;
    this.#isRequestWhole = true;
    this.#trailers = trailerLines(trailers, this.request.dropTrailers);
    this.#stream?.end();
    this.#requestProgressed();
  }

  /** What arrived in this turn was given. */
  flush(): void {
    if (this.#phase === 'content' && !this.#events.onPause()) this.#pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#phase !== 'content') return;
    this.#awaitContent();
    this.#stream?.resume();
  }

  abort(): void {
    if (this.#phase !== 'over') this.#end(false);
  }

  fail(failed: UpstreamFailure): void {
    if (this.#phase === 'over') return;
    this.#end(false);
    this.#events.onFailure(failed);
  }

  sweep(nowMs: number): void {
    if (nowMs <= this.#deadlineMs) return;
    this.#deadlineMs = NEVER;
    const isWaiting = this.#phase === 'waiting';
    if (!isWaiting) this.#carrier?.suspect();
    const failure = isWaiting ? 'connection_timeout' : 'http_response_timeout';
    const late = this.#phase === 'content' ? 'the content stopped' : 'no response in time';
    const detail = isWaiting ? 'the connection was not ready in time' : late;
    this.fail({ failure, detail, sent: !isWaiting, isLocal: false, stale: false });
  }

  #listen(stream: ClientHttp2Stream, waitForTrailers: boolean): void {
    // In events a reset without an error looks like the end of the content; here only the latter comes before `closed`.
    const push = stream.push;
    stream.push = (octets, encoding) => {
      if (octets === null && !stream.closed) this.#isWhole = true;
      return push.call(stream, octets, encoding);
    };
    stream.on('headers', (_fields, _flags, list) => this.#takeInterim(list));
    stream.on('response', (_fields, flags, list) => this.#takeHead(list, (flags & NGHTTP2_FLAG_END_STREAM) !== 0));
    stream.on('trailers', (_fields, _flags, list) => this.#takeTrailers(list));
    stream.on('drain', () => this.#drained());
    stream.on('error', () => undefined);
    stream.on('close', () => this.#brokenOff());
    if (waitForTrailers) stream.on('wantTrailers', () => stream.sendTrailers(fieldsByName(this.#trailers)));
  }

  /** The endpoint's time to answer begins with the end of the request, or where it does not read what was written. */
  #requestProgressed(): void {
    if (this.#phase !== 'head' || this.#carrier === undefined) return;
    const isEndpointsTurn = this.#isRequestWhole || this.#stream?.writableNeedDrain === true;
    this.#deadlineMs = isEndpointsTurn ? this.#carrier.nowMs + this.request.timeouts.responseMs : NEVER;
  }

  #drained(): void {
    if (this.#isRequestWhole || this.#phase === 'over') return;
    this.request.content?.resume();
    this.#requestProgressed();
  }

  #takeInterim(list: readonly string[]): void {
    const received = this.#space();
    if (received === undefined || this.#phase !== 'head') return;
    const broken = received.readHead(list, this.request.method, false);
    // A 101 is nothing that HTTP/2 has (RFC 9113 section 8.6).
    const isSensible = received.head.status < 200 && received.head.status !== 101 && ++this.#interim <= MAX_INTERIM;
    if (broken === null && isSensible) this.#events.onInterim(received.head);
    else this.#failInvalid(broken ?? 'an interim response that was not asked for');
  }

  #takeHead(list: readonly string[], isWhole: boolean): void {
    const received = this.#space();
    const stream = this.#stream;
    if (received === undefined || stream === undefined || this.#phase !== 'head') return;
    const broken = received.readHead(list, this.request.method, isWhole);
    if (broken !== null || received.head.status < 200) {
      this.#failInvalid(broken ?? 'an interim response that ends the stream');
      return;
    }
    this.#phase = 'content';
    this.#awaitContent();
    this.#events.onHead(received.head);
    if (this.#isOver()) return;
    stream.on('data', (octets: Buffer) => this.#takeContent(octets));
    stream.on('end', () => this.#finish());
    this.#carrier?.flushLater(this);
  }

  #takeContent(octets: Buffer): void {
    if (this.#phase !== 'content') return;
    if (!this.#isPaused) this.#awaitContent();
    if (!this.#events.onContent(octets)) this.#pause();
    this.#carrier?.flushLater(this);
  }

  #takeTrailers(list: readonly string[]): void {
    const received = this.#space();
    if (received === undefined || this.#phase !== 'content') return;
    const broken = received.readTrailers(list);
    if (broken === null) this.#hasTrailers = true;
    else this.#failInvalid(broken);
  }

  #finish(): void {
    if (this.#phase !== 'content') return;
    if (!this.#isWhole) {
      this.#brokenOff();
      return;
    }
    const received = this.#received;
    this.#received = undefined;
    this.#end(true);
    this.#events.onEnd(this.#hasTrailers ? received?.trailers : undefined);
    if (received !== undefined) this.#carrier?.heads.give(received);
  }

  #brokenOff(): void {
    const stream = this.#stream;
    if (this.#phase === 'over' || stream === undefined || this.#carrier === undefined) return;
    this.fail(this.#carrier.failureOf(stream, this.#received !== undefined));
  }

  #failInvalid(detail: string): void {
    this.fail({ failure: 'http_protocol_error', detail, sent: true, isLocal: false, stale: false });
  }

  #awaitContent(): void {
    this.#deadlineMs = (this.#carrier?.nowMs ?? 0) + this.request.timeouts.idleMs;
  }

  #pause(): void {
    if (this.#isPaused || this.#phase !== 'content') return;
    this.#isPaused = true;
    this.#deadlineMs = NEVER;
    this.#stream?.pause();
  }

  /** Where the answer is read into. */
  #space(): ReceivedHead | undefined {
    if (this.#phase !== 'over') this.#received ??= this.#carrier?.heads.take();
    return this.#received;
  }

  #isOver(): boolean {
    return this.#phase === 'over';
  }

  /** Gives up what is left of the stream, and its place. */
  #end(isGood: boolean): void {
    const hasBegun = this.#phase !== 'waiting';
    this.#phase = 'over';
    if (!this.#isRequestWhole && hasBegun) this.request.content?.detach();
    const stream = this.#stream;
    if (stream !== undefined && !this.#isRequestWhole) addAbortSignal(ABORTED, stream);
    else if (!isGood) stream?.close(NGHTTP2_CANCEL);
    if (this.#received !== undefined) this.#carrier?.heads.give(this.#received);
    this.#received = undefined;
    this.#carrier?.callEnded(this, isGood);
  }
}

function isGrpc(list: readonly string[]): boolean {
  for (let at = 0; at < list.length; at += 2) if (list[at] === 'content-type') return isGrpcType(list[at + 1] ?? '');
  return false;
}
