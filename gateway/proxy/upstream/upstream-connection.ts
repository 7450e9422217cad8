// One connection to an endpoint: one call at a time, strict about what comes back, kept only when nothing is in doubt.
import type { Socket } from 'node:net';
import type { AttemptFailure } from '../../core/failure.ts';
import { connectionOptions } from '../../http1/connection-options.ts';
import { ContentReader } from '../../http1/content-reader.ts';
import { FIELD } from '../../http1/field-id.ts';
import type { HeadLimits } from '../../http1/head-limits.ts';
import { HeadReader } from '../../http1/head-reader.ts';
import { ResponseHead } from '../../http1/response-head.ts';
import { SocketReader } from '../socket/socket-reader.ts';
import { TurnWriter } from '../socket/turn-writer.ts';
import type { Sweep, Sweepable } from '../sweep.ts';
import type { UpstreamEvents, UpstreamFailure, UpstreamRequest, UpstreamTarget, UpstreamTls } from './upstream.ts';
import { type CallWire, Http1Call } from './upstream-call.ts';
import { attemptFailure, isLocalShortage } from './upstream-error.ts';
import { openSocket } from './upstream-socket.ts';

/** The pool that a connection belongs to. */
export interface ConnectionPool {
  readonly sweep: Sweep;
  /** The connection is free and may be used again. */
  released(connection: UpstreamConnection): void;
  closed(connection: UpstreamConnection): void;
}

/** The largest response head that is accepted. */
const HEAD_LIMITS: HeadLimits = { firstLineBytes: 8192, fieldsBytes: 65_536, fieldCount: 256 };
/** More interim responses than this to one request are an attack. */
const MAX_INTERIM = 32;
/** How long a connection that nobody uses is kept, unless the endpoint announces a shorter time. */
const IDLE_MS = 60_000;
const NEVER = Number.POSITIVE_INFINITY;

type Phase = 'connecting' | 'idle' | 'head' | 'content' | 'closed';

export class UpstreamConnection implements Sweepable, CallWire {
  readonly #pool: ConnectionPool;
  readonly #socket: Socket;
  readonly writer: TurnWriter;
  readonly #input: SocketReader;
  readonly #reader = new HeadReader(HEAD_LIMITS, 'response');
  readonly #head = new ResponseHead(HEAD_LIMITS);
  readonly #content = new ContentReader();
  #phase: Phase = 'connecting';
  #call: Http1Call | undefined;
  #isPersistent = false;
  #writesBefore = 0;
  #interim = 0;
  #served = 0;
  #isConnected = false;
  #isPaused = false;
  #deadlineMs = NEVER;
  #failure: Pick<UpstreamFailure, 'failure' | 'detail' | 'isLocal'> | undefined;

  constructor(target: UpstreamTarget, tls: UpstreamTls | null, pool: ConnectionPool) {
    this.#pool = pool;
    this.#socket = openSocket(target, tls, () => this.#connected());
    this.#input = new SocketReader(this.#socket, (piece) => this.#onRead(piece));
    this.writer = new TurnWriter(this.#socket, () => this.requestProgressed());
    this.#socket.on('drain', () => this.#call?.drained());
    this.#socket.on('end', () => this.#ended());
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#errored(error));
    this.#socket.on('close', () => this.#closed());
    pool.sweep.add(this);
  }

  send(request: UpstreamRequest, events: UpstreamEvents): Http1Call {
    const call = new Http1Call(this, request, events);
    this.#call = call;
    this.#interim = 0;
    this.#writesBefore = this.writer.writes;
    if (this.#isConnected) this.#phase = 'head';
    else this.#deadlineMs = this.#pool.sweep.nowMs + request.timeouts.connectMs;
    call.begin();
    this.requestProgressed();
    return call;
  }

  /** The endpoint's time to answer begins with the end of the request, or where it does not read what was written. */
  requestProgressed(): void {
    const call = this.#call;
    if (this.#phase !== 'head' || call === undefined) return;
    const isEndpointsTurn = call.isRequestWhole || this.#socket.writableNeedDrain;
    this.#deadlineMs = isEndpointsTurn ? this.#pool.sweep.nowMs + call.request.timeouts.responseMs : NEVER;
  }

  resumeReading(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#phase === 'content') this.#awaitContent();
    this.#socket.resume();
  }

  callAborted(call: Http1Call): void {
    if (this.#call === call) this.destroy();
  }

  destroy(): void {
    this.#call = undefined;
    this.#end();
  }

  sweep(nowMs: number): void {
    if (nowMs <= this.#deadlineMs) return;
    this.#deadlineMs = NEVER;
    switch (this.#phase) {
      case 'connecting':
        this.#fail('connection_timeout', 'the connection was not accepted in time');
        return;
      case 'head':
        this.#fail('http_response_timeout', 'no response in time');
        return;
      case 'content':
        this.#fail('http_response_timeout', 'the content stopped');
        return;
      default:
        this.destroy();
    }
  }

  /** Whether anything of the request under way has left. */
  get #hasSent(): boolean {
    return this.writer.writes !== this.#writesBefore;
  }

  #end(): void {
    this.#phase = 'closed';
    this.#pool.closed(this);
    this.#socket.destroy();
  }

  #connected(): void {
    this.#isConnected = true;
    if (this.#phase !== 'connecting') return;
    this.#phase = 'head';
    this.requestProgressed();
  }

  #onRead(piece: Buffer): void {
    if (this.#phase === 'content') this.#readContent(piece, 0);
    else if (this.#phase === 'head' && this.#hasSent) this.#readHead(piece);
    // What comes before the request has left cannot be its answer.
    else if (this.#phase === 'head') this.#fail('connection_terminated', 'octets that nobody asked for');
    else this.destroy();
    const call = this.#call;
    if (call !== undefined && !call.isAborted && !call.events.onPause()) this.#pauseReading();
  }

  #readHead(piece: Buffer): void {
    const end = this.#reader.feed(piece);
    if (typeof end === 'string') this.#fail('http_protocol_error', end);
    else if (end > 0) this.#takeHead(piece, end);
  }

  /** The reader has a whole head, which ends in `piece` at `end`. */
  #takeHead(piece: Buffer, end: number): void {
    const { text } = this.#reader;
    const call = this.#call;
    const head = this.#head;
    if (call === undefined) return;
    const broken = head.parse(text, text.length, call.request.method);
    if (broken !== null) {
      this.#fail('http_protocol_error', broken);
    } else if (head.status < 200) {
      this.#takeInterim(call, piece, end);
    } else {
      this.#isPersistent = this.#mayLiveOn();
      this.#phase = 'content';
      this.#awaitContent();
      this.#content.begin(head.framing);
      call.events.onHead(head);
      if (this.#call === call) this.#readContent(piece, end);
    }
  }

  #takeInterim(call: Http1Call, piece: Buffer, end: number): void {
    // A 101 that nobody asked for would make of what follows something else than HTTP.
    if (this.#head.status === 101 || ++this.#interim > MAX_INTERIM) {
      this.#fail('http_protocol_error', 'an interim response that was not asked for');
      return;
    }
    call.events.onInterim(this.#head);
    if (this.#call === call && end < piece.length) this.#readHead(piece.subarray(end));
  }

  #readContent(piece: Buffer, start: number): void {
    const call = this.#call;
    if (call === undefined) return;
    if (!this.#isPaused) this.#awaitContent();
    const end = this.#content.feed(piece, start, this);
    if (this.#call !== call) return;
    if (typeof end === 'string') this.#fail('http_protocol_error', end);
    else if (this.#content.isWhole) this.#finish(call, end < piece.length);
  }

  /** A piece of decoded content. */
  onContent(octets: Buffer): void {
    const call = this.#call;
    if (call === undefined || call.isAborted) return;
    if (!call.events.onContent(octets)) this.#pauseReading();
    if (call.events.isHolding) this.#input.keep(octets);
  }

  #pauseReading(): void {
    if (this.#isPaused || this.#call === undefined) return;
    this.#isPaused = true;
    this.#deadlineMs = NEVER;
    this.#socket.pause();
  }

  #finish(call: Http1Call, hasSurplus: boolean): void {
    this.#call = undefined;
    this.#served++;
    const { trailers } = this.#content;
    if (this.#isPersistent && !hasSurplus && call.isRequestWhole) {
      this.#phase = 'idle';
      this.#deadlineMs = this.#pool.sweep.nowMs + this.#idleMs();
      this.#input.shrink();
      this.resumeReading();
      this.#pool.released(this);
    } else {
      if (!call.isRequestWhole) call.request.content?.detach();
      this.#end();
    }
    call.events.onEnd(trailers);
  }

  #mayLiveOn(): boolean {
    return this.#head.framing.kind !== 'close' && connectionOptions(this.#head.fields, this.#head.minor).isPersistent;
  }

  /** A second less than the endpoint announces, so that it does not close while a request is on its way. */
  #idleMs(): number {
    const { fields } = this.#head;
    const field = fields.find(FIELD.keepAlive);
    if (field === -1) return IDLE_MS;
    const announced = /(?:^|[,; ])timeout=(\d{1,6})/i.exec(fields.value(field));
    return announced === null ? IDLE_MS : Math.min(IDLE_MS, Math.max(0, Number(announced[1]) * 1000 - 1000));
  }

  #awaitContent(): void {
    this.#deadlineMs = this.#pool.sweep.nowMs + (this.#call?.request.timeouts.idleMs ?? NEVER);
  }

  #ended(): void {
    const call = this.#call;
    if (call !== undefined && this.#phase === 'content' && this.#content.endsWithConnection) {
      this.#finish(call, false);
      return;
    }
    // Out of the pool at once: a request that comes in the same turn must not be given a dying connection.
    this.#pool.closed(this);
    this.#socket.destroy();
  }

  #errored(error: NodeJS.ErrnoException): void {
    const failure = attemptFailure(error, this.#isConnected);
    this.#failure ??= { failure, detail: error.message, isLocal: isLocalShortage(error) };
  }

  #fail(failure: AttemptFailure, detail: string): void {
    this.#failure = { failure, detail, isLocal: false };
    this.#socket.destroy();
    // The caller must not wait for the socket to say that it is closed.
    this.#closed();
  }

  #closed(): void {
    const call = this.#call;
    this.#call = undefined;
    this.#pool.closed(this);
    const hadNoResponse = this.#phase === 'head' && !this.#reader.isUnfinished;
    this.#phase = 'closed';
    this.#pool.sweep.remove(this);
    if (call === undefined || call.isAborted) return;
    if (!call.isRequestWhole) call.request.content?.detach();
    const { failure, detail, isLocal } = this.#failure ?? {
      failure: 'connection_terminated',
      detail: 'closed without a response',
      isLocal: false,
    };
    call.events.onFailure({
      failure,
      detail,
      sent: this.#isConnected && this.#hasSent,
      isLocal,
      stale: this.#served > 0 && hadNoResponse && failure === 'connection_terminated',
    });
  }
}
