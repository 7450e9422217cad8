// One HTTP/2 connection of a client: its streams become exchanges; what it may cost is bounded in number, rate and time.
import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { ErrorSituation } from '../../core/errors.ts';
import type { ConnectionOptions as Options } from '../../http1/connection-options.ts';
import { errorAnswer } from '../answers.ts';
import type { ClientPeer } from '../client-address.ts';
import { ClientDeadlines } from '../front/client-deadlines.ts';
import type { ConnectionHost, HostedConnection } from '../front/connection-host.ts';
import { requestIdOf } from '../request-id.ts';
import type { Sweepable } from '../sweep.ts';
import { Allowance } from './allowance.ts';
import { answerFields } from './answer-fields.ts';
import type { ExchangeSession } from './exchange-session.ts';
import { returnHead, takeHead } from './head-pool.ts';
import { Http2Exchange } from './http2-exchange.ts';
import { SESSION_WINDOW_BYTES, sessionOptions } from './session-options.ts';
import { readStreamHead } from './stream-head.ts';

/** The listener as an HTTP/2 connection needs it. */
export interface Http2Host
  extends Pick<
    ConnectionHost,
    'headLimits' | 'timeouts' | 'sweep' | 'date' | 'hstsLine' | 'onRequest' | 'onRefused' | 'onClosed'
  > {}

/** There are no fields of the connection in HTTP/2, and its end is no matter of a request. */
const NO_OPTIONS: Options = { isPersistent: true, isUpgrade: false, nominated: null };

const CUT = new Error('the session was cut');
const TOO_MUCH = new Error('the client asks too much of its session');
const NEVER = Number.POSITIVE_INFINITY;

type Phase = 'opening' | 'serving' | 'closing' | 'lingering';

export class Http2Connection implements HostedConnection, ExchangeSession<Http2Exchange>, Sweepable {
  readonly peer: ClientPeer;
  readonly host: Http2Host;
  readonly #socket: Socket;
  readonly #session: ServerHttp2Session;
  readonly #exchanges = new Set<Http2Exchange>();
  readonly #deadlines: ClientDeadlines;
  /** Spent by streams that their client gives up, pings and settings: each costs little, a flood of them does not. */
  readonly #allowance: Allowance;
  #phase: Phase = 'opening';
  #isHalfClosed = false;
  #newestId = 0;
  /** A stream that had begun with a head that was not whole, when an idle session was looked at last. */
  #unfinishedId = 0;
  #lookMs = NEVER;
  /** A host that was found good: nearly every request of a session has the same. */
  #goodHost = '';

  constructor(socket: Socket, host: Http2Host, peer: ClientPeer) {
    this.#socket = socket;
    this.host = host;
    this.peer = peer;
    // First: the sweep's time stands still while it has no members.
    host.sweep.add(this);
    this.#deadlines = new ClientDeadlines(host.sweep, host.timeouts);
    this.#allowance = new Allowance(host.sweep);
    this.#session = performServerHandshake(socket, sessionOptions(host.headLimits));
    this.#session.setLocalWindowSize(SESSION_WINDOW_BYTES);
    this.#session.on('stream', this.#onStream);
    this.#session.on('remoteSettings', this.#onSettings);
    this.#session.on('ping', this.#onCost);
    // An error is followed by the end of the socket, which is what counts.
    this.#session.on('error', ignore);
    socket.on('error', ignore);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onClose);
  }

  get sentBytes(): number {
    return this.#socket.bytesWritten;
  }

  endWhenIdle(): void {
    // The client is told which requests are answered, and may send the others elsewhere (RFC 9113 section 6.8). There is
    // no notice ahead of it: nghttp2 takes no request behind any GOAWAY that node:http2 can send.
    this.#close();
  }

  destroy(): void {
    // What is cut must not look as if it had ended well.
    if (this.#exchanges.size > 0) this.#session.destroy(CUT, constants.NGHTTP2_INTERNAL_ERROR);
    else this.#session.destroy();
    this.#socket.destroy();
  }

  sweep(nowMs: number): void {
    for (const exchange of this.#exchanges) exchange.sweep(nowMs);
    if (this.#session.destroyed) {
      this.#linger();
    } else if (nowMs > this.#lookMs) {
      this.#lookForUnfinished();
    }
    if (this.#deadlines.due(nowMs) !== null) this.#outOfTime();
  }

  answering(): void {
    if (this.#isHalfClosed) this.#deadlines.awaitProgress();
  }

  exchangeClosed(exchange: Http2Exchange, isCut: boolean): void {
    this.#exchanges.delete(exchange);
    returnHead(this.host.headLimits, exchange.head);
    if (isCut) this.#onCost();
    if (this.#exchanges.size === 0) this.#idle();
    else this.#leaveToTunnels();
  }

  tunnelled(): void {
    this.#leaveToTunnels();
  }

  stalled(): void {
    this.destroy();
  }

  readonly #onStream = (stream: ServerHttp2Stream, _fields: unknown, _flags: number, list: string[]): void => {
    stream.on('error', ignore);
    this.#newestId = stream.id ?? this.#newestId;
    if (stream.destroyed) {
      this.#onCost();
      return;
    }
    const head = takeHead(this.host.headLimits);
    const reading = readStreamHead(list, head, this.#goodHost);
    const isUpgrade = reading === 'tunnel' && !stream.endAfterHeaders;
    if (reading !== null && !isUpgrade) {
      returnHead(this.host.headLimits, head);
      this.#refuse(stream, reading === 'tunnel' ? 'bad_request' : reading);
      return;
    }
    this.#goodHost = head.host;
    const exchange = new Http2Exchange({ session: this, stream, head, isUpgrade });
    this.#exchanges.add(exchange);
    this.#lookMs = NEVER;
    if (this.#isHalfClosed) this.#deadlines.awaitProgress();
    else this.#deadlines.awaitNothing();
    exchange.begin();
    if (!exchange.isOver) this.host.onRequest(exchange, NO_OPTIONS);
  };

  readonly #onSettings = (): void => {
    if (this.#phase === 'opening') {
      this.#phase = 'serving';
      if (this.#exchanges.size === 0) this.#idle();
    } else {
      this.#onCost();
    }
  };

  readonly #onCost = (): void => {
    if (!this.#allowance.take()) this.#session.destroy(TOO_MUCH, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };

  /** A client that has said its last may be gone altogether: what it asked for is answered if that goes on. */
  readonly #onEnd = (): void => {
    this.#isHalfClosed = true;
    if (this.#exchanges.size === 0) this.destroy();
    else this.#deadlines.awaitProgress();
  };

  readonly #onClose = (): void => {
    this.host.sweep.remove(this);
    this.#session.destroy();
    this.host.onClosed(this);
  };

  #refuse(stream: ServerHttp2Stream, situation: ErrorSituation): void {
    const requestId = requestIdOf(undefined, false);
    this.host.onRefused(this.peer, situation, requestId);
    const { head, content } = errorAnswer(situation, requestId);
    stream.respond(answerFields(head, this.host));
    stream.end(content);
    if (!stream.endAfterHeaders) stream.close(constants.NGHTTP2_NO_ERROR);
  }

  #idle(): void {
    if (this.#phase === 'lingering' || this.#phase === 'opening') return;
    if (this.#isHalfClosed) {
      this.destroy();
      return;
    }
    this.#deadlines.awaitNextRequest();
    this.#lookMs = this.host.sweep.nowMs + this.host.timeouts.requestHeadMs;
    this.#unfinishedId = 0;
  }

  /**
   * A head that is not whole does not show as a stream, but its stream counts as begun, as does one whose head was
   * malformed. Twice the same on an idle session: it has had its time. While others are answered it costs nothing.
   */
  #lookForUnfinished(): void {
    const { lastProcStreamID = 0 } = this.#session.state;
    if (lastProcStreamID > this.#newestId && lastProcStreamID === this.#unfinishedId) {
      this.#close();
      return;
    }
    this.#unfinishedId = lastProcStreamID;
    this.#lookMs = this.host.sweep.nowMs + this.host.timeouts.requestHeadMs;
  }

  /** Takes no further requests, and ends when those that are here are answered. */
  #close(): void {
    this.#phase = 'closing';
    this.#session.close();
    if (this.#exchanges.size > 0) this.#leaveToTunnels();
  }

  /** A listener that drains waits for answers, not for tunnels: those end when they have had their own time. */
  #leaveToTunnels(): void {
    if (this.#phase !== 'closing') return;
    for (const { isTunnel } of this.#exchanges) if (!isTunnel) return;
    this.host.onClosed(this);
  }

  /** The session is over: its last frames arrive only if the socket is not torn down at once. */
  #linger(): void {
    if (this.#phase === 'lingering') return;
    this.#phase = 'lingering';
    this.#deadlines.linger();
  }

  #outOfTime(): void {
    if (this.#phase === 'serving' && this.#exchanges.size === 0 && !this.#isHalfClosed) this.#close();
    else this.destroy();
  }
}

function ignore(): void {
  // An error is followed by `close`, which is what counts.
}
