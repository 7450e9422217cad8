// One request on a stream of an HTTP/2 session and its answer, written in as few frames as it takes.
import { constants, type ServerHttp2Stream, type ServerStreamResponseOptions } from 'node:http2';
import type { FieldTable } from '../../http1/field-table.ts';
import type { RequestHead } from '../../http1/request-head.ts';
import { expectsContinue } from '../../http1/request-wishes.ts';
import type { ClientPeer } from '../client-address.ts';
import type {
  AnswerHead,
  ContentLimits,
  ExchangeEvents,
  HandedOver,
  RequestContent,
  UpgradableExchange,
} from '../exchange.ts';
import { ClientDeadlines } from '../front/client-deadlines.ts';
import { COPIED_BYTES } from '../socket/read-buffer.ts';
import { answerFields, fieldsByName } from './answer-fields.ts';
import { leaveWhenClosed } from './early-leave.ts';
import type { ExchangeSession } from './exchange-session.ts';
import { type IntakeOwner, StreamIntake } from './stream-intake.ts';
import { StreamTunnel } from './stream-tunnel.ts';

const OPEN: ServerStreamResponseOptions = {};
const ENDED: ServerStreamResponseOptions = { endStream: true };
const WITH_TRAILERS: ServerStreamResponseOptions = { waitForTrailers: true };

/**
 * Destroys a stream so that it is reset with INTERNAL_ERROR. With `close` and a code, node:http2 would end it before it
 * resets it: what broke off would look whole.
 */
const BROKEN_OFF = new Error('the exchange broke off');

export interface Http2ExchangeParts {
  readonly session: ExchangeSession<Http2Exchange>;
  readonly stream: ServerHttp2Stream;
  readonly head: RequestHead;
  /** Whether it asks for a tunnel: what comes on the stream is no content. */
  readonly isUpgrade: boolean;
}

export class Http2Exchange implements UpgradableExchange, IntakeOwner {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly fields: FieldTable;
  readonly peer: ClientPeer;
  readonly head: RequestHead;
  readonly version = '2';
  readonly isUpgrade: boolean;
  isTunnel = false;
  isHeadSent = false;
  contentBytes = 0;
  readonly #session: ExchangeSession<Http2Exchange>;
  readonly #stream: ServerHttp2Stream;
  readonly #intake: StreamIntake | null;
  readonly #deadlines: ClientDeadlines;
  #events: ExchangeEvents | undefined;
  #expectsContinue: boolean;
  #isContentOpen = false;
  #takesContent = true;
  /** Whether trailers may follow, so that the stream must not end with its content. */
  #mayHaveTrailers = false;
  /** The head while it waits for the first octets of the content. */
  #answer: string[] | null = null;
  #collected = '';
  #trailers = '';
  #isOver = false;
  #isCut = false;
  #sentBytesThen = 0;

  constructor({ session, stream, head, isUpgrade }: Http2ExchangeParts) {
    this.isUpgrade = isUpgrade;
    this.#session = session;
    this.#stream = stream;
    this.head = head;
    this.method = head.method;
    this.target = head.target;
    this.host = head.host;
    this.fields = head.fields;
    this.peer = session.peer;
    this.#deadlines = new ClientDeadlines(session.host.sweep, session.host.timeouts);
    const { framing } = head;
    const hasContent = !stream.endAfterHeaders && !isUpgrade && !(framing.kind === 'length' && framing.length === 0);
    this.#intake = hasContent ? new StreamIntake(stream, framing, { deadlines: this.#deadlines, owner: this }) : null;
    this.#expectsContinue = hasContent && expectsContinue(head);
    stream.on('aborted', this.#onGone).on('close', this.#onClose).on('drain', this.#onDrain);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get announcedBytes(): number | null {
    const framing = this.#intake?.content.framing;
    if (framing === undefined) return 0;
    return framing.kind === 'length' ? framing.length : null;
  }

  /** Reads what came with the head. */
  begin(): void {
    if (this.#intake === null) {
      this.#deadlines.awaitNothing();
      return;
    }
    if (this.#expectsContinue) this.#deadlines.awaitContinue();
    this.#intake.begin();
  }

  header(name: string): string | undefined {
    return this.fields.get(name);
  }

  openContent(limits: ContentLimits): RequestContent | null {
    this.#isContentOpen = true;
    this.#intake?.content.setLimits(limits);
    return this.#intake?.content ?? null;
  }

  listen(events: ExchangeEvents): void {
    this.#events = events;
  }

  sweep(nowMs: number): void {
    const due = this.#deadlines.due(nowMs);
    if (due === null) return;
    if (due === 'continue') this.#continueDue();
    else if (due === 'stalled' && this.#sentBytesThen === this.#session.sentBytes) this.#session.stalled();
    else this.#giveUp();
  }

  sendInterim(status: number, _reason: string, lines: string): void {
    if (this.isHeadSent || this.#isOver) return;
    if (status === 100) this.#sendContinue();
    else this.#inform(status, lines);
  }

  sendHead(head: AnswerHead): void {
    if (this.isHeadSent || this.#isOver) return;
    this.isHeadSent = true;
    const { framing, status } = head;
    this.#takesContent = framing.kind !== 'none' && this.method !== 'HEAD' && status !== 205;
    this.#mayHaveTrailers = this.#takesContent && framing.kind === 'chunked';
    this.#answer = answerFields(head, this.#session.host);
  }

  /** The session writes when it wants to. */
  get isHolding(): boolean {
    return true;
  }

  write(octets: Buffer): boolean {
    if (this.#isOver || !this.#takesContent || octets.length === 0) return true;
    this.contentBytes += octets.length;
    if (octets.length <= COPIED_BYTES) {
      this.#collected += octets.toString('latin1');
      return this.#collected.length < 4 * COPIED_BYTES || this.flush();
    }
    this.flush();
    return this.#wrote(this.#stream.write(octets));
  }

  flush(): boolean {
    if (this.#answer !== null) this.#respond(this.#mayHaveTrailers ? WITH_TRAILERS : this.#takesContent ? OPEN : ENDED);
    if (this.#collected === '' || this.#isOver) return !this.#stream.writableNeedDrain;
    const text = this.#collected;
    this.#collected = '';
    return this.#wrote(this.#stream.write(text, 'latin1'));
  }

  end(trailers: string): void {
    if (this.#isOver) return;
    const stream = this.#stream;
    if (this.#answer !== null) {
      this.#mayHaveTrailers = this.#takesContent && trailers !== '';
      const isWhole = this.#collected === '' && !this.#mayHaveTrailers;
      this.#respond(isWhole ? ENDED : this.#mayHaveTrailers ? WITH_TRAILERS : OPEN);
    }
    this.#isOver = true;
    this.#trailers = trailers;
    if (this.#mayHaveTrailers) stream.on('wantTrailers', this.#onWantTrailers);
    if (this.#collected === '') stream.end();
    else stream.end(this.#collected, 'latin1');
    this.#collected = '';
    this.#session.answering();
    this.#deadlines.awaitNothing();
    this.#awaitReader();
    if (!this.#mayHaveTrailers) this.#dismiss();
  }

  breakOff(): void {
    if (this.#isOver) return;
    // What was answered so far is the client's, however it ends.
    this.flush();
    this.#isOver = true;
    if (this.isTunnel && !this.isHeadSent) this.#isCut = true;
    this.#stream.destroy(BROKEN_OFF);
  }

  takeOver(): HandedOver {
    const { method, target, fields } = this;
    const head = `${method} ${target} HTTP/1.1\r\n${fields.lines(0, fields.count)}\r\n`;
    this.isTunnel = true;
    this.#session.tunnelled();
    return { socket: new StreamTunnel(this.#stream, this), octets: Buffer.from(head, 'latin1') };
  }

  contentTooLarge(): void {
    this.#events?.onContentTooLarge();
  }

  contentBroken(): void {
    this.#giveUp();
  }

  readonly #onDrain = (): void => {
    if (this.#isOver) return;
    this.#deadlines.readerCaughtUp();
    this.#events?.onDrain();
  };

  readonly #onWantTrailers = (): void => {
    this.#stream.sendTrailers(fieldsByName(this.#trailers));
    // They leave in an immediate of their own.
    setImmediate(() => this.#dismiss());
  };

  readonly #onGone = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isCut = true;
    this.#events?.onGone();
  };

  readonly #onClose = (): void => {
    this.#onGone();
    this.#session.exchangeClosed(this, this.#isCut);
  };

  /** Asks for the content of a client that waits to be asked. */
  #sendContinue(): void {
    if (!this.#expectsContinue || this.isHeadSent) return;
    this.#expectsContinue = false;
    this.#inform(100, '');
  }

  /** Nobody asks for content before it is known that it is wanted. */
  #continueDue(): void {
    if (this.#isContentOpen) this.#sendContinue();
    else this.#deadlines.awaitContinue();
  }

  #inform(status: number, lines: string): void {
    if (this.#stream.destroyed || this.#stream.closed) return;
    this.#session.answering();
    this.#stream.additionalHeaders({ ...fieldsByName(lines), ':status': status });
  }

  #respond(options: ServerStreamResponseOptions): void {
    const answer = this.#answer;
    this.#answer = null;
    // A stream may be gone before it has said so.
    if (answer === null || this.#stream.destroyed || this.#stream.closed) return;
    this.#session.answering();
    this.#stream.respond(answer, options);
  }

  #wrote(isReady: boolean): boolean {
    this.#session.answering();
    if (!isReady) this.#awaitReader();
    return isReady;
  }

  #awaitReader(): void {
    this.#sentBytesThen = this.#session.sentBytes;
    this.#deadlines.awaitReader();
  }

  /** The answer is whole: the client need not send the rest of its request (RFC 9113 section 8.1). */
  #dismiss(): void {
    if (!this.isUpgrade && this.#intake?.content.isComplete !== false) {
      leaveWhenClosed(this.#stream);
      return;
    }
    // A reset in this turn would overtake a head that is all of the answer.
    setImmediate(() => this.#stream.close(constants.NGHTTP2_NO_ERROR));
  }

  /** The client did not do its part in time. */
  #giveUp(): void {
    const wasOver = this.#isOver;
    this.#isOver = true;
    this.#stream.destroy(BROKEN_OFF);
    if (!wasOver) this.#events?.onGone();
  }
}
