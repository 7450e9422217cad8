// One connection of a client: requests are read one after another, answered in order, and bounded in time and size.
import type { Socket } from 'node:net';
import type { ErrorSituation } from '../../core/errors.ts';
import { connectionOptions, type ConnectionOptions as Options } from '../../http1/connection-options.ts';
import { HeadReader } from '../../http1/head-reader.ts';
import { RequestHead } from '../../http1/request-head.ts';
import { expectsContinue, wantsWebSocket } from '../../http1/request-wishes.ts';
import type { Violation } from '../../http1/violation.ts';
import { rawErrorAnswer, situationOf } from '../answers.ts';
import type { ClientPeer } from '../client-address.ts';
import { requestIdOf } from '../request-id.ts';
import { SocketReader } from '../socket/socket-reader.ts';
import { TurnWriter } from '../socket/turn-writer.ts';
import type { Sweepable } from '../sweep.ts';
import { ClientDeadlines } from './client-deadlines.ts';
import { ClientExchange, type ExchangeWire } from './client-exchange.ts';
import type { ConnectionHost, HostedConnection } from './connection-host.ts';
import { PipelinedInput } from './pipelined-input.ts';
import { type ContentOwner, IncomingContent } from './request-content.ts';
import { addressOf } from './request-line.ts';

type Phase = 'idle' | 'head' | 'exchange' | 'lingering' | 'closed';

export class ClientConnection implements HostedConnection, ExchangeWire, ContentOwner, Sweepable {
  readonly #socket: Socket;
  readonly writer: TurnWriter;
  readonly #input: SocketReader;
  readonly #host: ConnectionHost;
  readonly #peer: ClientPeer;
  readonly #head: RequestHead;
  readonly #reader: HeadReader;
  #phase: Phase = 'head';
  readonly #unread = new PipelinedInput();
  #exchange: ClientExchange | undefined;
  #isHalfClosed = false;
  readonly #deadlines: ClientDeadlines;
  /** A Host that was found good: nearly every request of a connection has the same. */
  #goodHost = '';

  constructor(socket: Socket, host: ConnectionHost, peer: ClientPeer) {
    this.#socket = socket;
    this.writer = new TurnWriter(socket, () => this.#deadlines.awaitReader());
    this.#host = host;
    this.#peer = peer;
    this.#head = new RequestHead(host.headLimits);
    this.#reader = new HeadReader(host.headLimits, 'request');
    // First: the sweep's time stands still while it has no members.
    host.sweep.add(this);
    this.#deadlines = new ClientDeadlines(host.sweep, host.timeouts);
    this.#input = new SocketReader(socket, this.#onData);
    socket.on('end', this.#onEnd).on('drain', this.#onDrain).on('close', this.#onClose);
    // An error is followed by `close`, which is what counts.
    socket.on('error', () => undefined);
  }

  endWhenIdle(): void {
    const isIdle = this.#phase === 'idle' || (this.#phase === 'head' && !this.#reader.isUnfinished);
    if (isIdle) this.#deadlines.awaitLastRequest();
  }

  destroy(): void {
    this.writer.send();
    this.#socket.destroy();
  }

  sweep(nowMs: number): void {
    const due = this.#deadlines.due(nowMs);
    if (due === 'continue') this.#exchange?.continueDue(this.#deadlines);
    else if (due === 'late' && this.#phase === 'head' && this.#reader.isUnfinished) this.#refuse('request_timeout');
    else if (due !== null) this.destroy();
  }

  writeText(text: string): boolean {
    if (this.#isHalfClosed) this.#deadlines.awaitProgress();
    return this.writer.writeText(text);
  }

  writeOctets(octets: Buffer): boolean {
    if (this.#isHalfClosed) this.#deadlines.awaitProgress();
    return this.writer.writeOctets(octets);
  }

  exchangeEnded(isLast: boolean): void {
    this.#exchange = undefined;
    this.#deadlines.continueSettled();
    if (isLast || this.#host.isDraining || (this.#isHalfClosed && this.#unread.isEmpty)) {
      this.#linger();
      return;
    }
    this.#phase = 'idle';
    this.#deadlines.awaitNextRequest();
    // A client that does not read its answers gets no further ones.
    if (this.#socket.writableNeedDrain) this.#socket.pause();
    else this.#goOn();
  }

  breakOff(mustReset: boolean): void {
    this.writer.send();
    if (mustReset) this.#socket.resetAndDestroy();
    else this.#socket.destroySoon();
  }

  pauseContent(): void {
    this.#deadlines.awaitNothing();
    this.#socket.pause();
  }

  resumeContent(): void {
    if (this.#phase !== 'exchange') return;
    this.#deadlines.awaitContent();
    this.#socket.resume();
  }

  contentTooLarge(): void {
    this.#deadlines.awaitNothing();
    this.#exchange?.events?.onContentTooLarge();
  }

  readonly #onData = (piece: Buffer): void => {
    if (this.#phase === 'lingering') return;
    if (this.#phase === 'exchange') {
      const content = this.#exchange?.content;
      if (content === null || content === undefined || content.isComplete) this.#keep(piece);
      else this.#readContent(content, piece, 0);
    } else if (this.#unread.isEmpty) {
      this.#readHead(piece);
    } else {
      this.#keep(piece);
    }
  };

  readonly #onEnd = (): void => {
    this.#isHalfClosed = true;
    const exchange = this.#exchange;
    const isWhole = exchange !== undefined && !exchange.isUpgrade && exchange.content?.isComplete !== false;
    if (isWhole) this.#deadlines.awaitProgress();
    // The last answer may still be on its way to a slow reader.
    else if (this.#phase === 'idle' && !this.#reader.isUnfinished) this.#linger();
    else this.destroy();
  };

  readonly #onDrain = (): void => {
    this.#deadlines.readerCaughtUp();
    if (this.#exchange !== undefined) this.#exchange.events?.onDrain();
    else if (this.#phase === 'idle') this.#goOn();
  };

  readonly #onClose = (): void => {
    this.#phase = 'closed';
    this.#host.sweep.remove(this);
    this.#host.onClosed(this);
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.disconnect();
    exchange?.events?.onGone();
  };

  #readHead(piece: Buffer): void {
    const end = this.#reader.feed(piece);
    if (typeof end === 'string') {
      this.#refuse(situationOf(end));
    } else if (end > 0) {
      this.#readRequest(piece, end);
    } else if (this.#phase === 'idle' && this.#reader.isUnfinished) {
      this.#phase = 'head';
      this.#deadlines.awaitHead();
    }
  }

  /** The reader has a whole head, which ends in `piece` at `end`. */
  #readRequest(piece: Buffer, end: number): void {
    const head = this.#head;
    const { text } = this.#reader;
    const broken = head.parse(text, text.length);
    const address = broken === null ? addressOf(head, this.#goodHost) : situationOf(broken);
    if (typeof address === 'string') {
      this.#refuse(address);
      return;
    }
    this.#goodHost = head.host;
    const options = connectionOptions(head.fields, head.minor);
    const { framing } = head;
    const hasContent = framing.kind === 'chunked' || (framing.kind === 'length' && framing.length > 0);
    const content = hasContent ? new IncomingContent(framing, this, { memory: this.#input }) : null;
    const isUpgrade = options.isUpgrade && content === null && wantsWebSocket(head);
    const exchange = new ClientExchange({
      wire: this,
      listener: this.#host,
      head,
      address,
      peer: this.#peer,
      content,
      isPersistent: options.isPersistent,
      expectsContinue: hasContent && expectsContinue(head),
      isUpgrade,
    });
    this.#begin(exchange, options, piece, end);
  }

  #begin(exchange: ClientExchange, options: Options, piece: Buffer, end: number): void {
    const { content } = exchange;
    this.#phase = 'exchange';
    this.#exchange = exchange;
    if (content === null) this.#requestIsWhole();
    else this.#deadlines.awaitContent();
    if (exchange.expectsContinue) this.#deadlines.awaitContinue();
    // What came with the head is read first: most answers need all of the request.
    if (content !== null) this.#readContent(content, piece, end);
    else if (end < piece.length) this.#keep(piece.subarray(end));
    if (this.#exchange === exchange) this.#host.onRequest(exchange, options);
    if (this.#isHalfClosed && this.#exchange === exchange) this.#deadlines.awaitProgress();
  }

  /** Until the next one little is expected, and nothing has to come. */
  #requestIsWhole(): void {
    this.#input.shrink();
    this.#deadlines.awaitNothing();
  }

  #readContent(content: IncomingContent, piece: Buffer, start: number): void {
    this.#deadlines.contentArrived();
    const end = content.feed(piece, start);
    if (typeof end === 'string') {
      this.#contentBroken(end);
      return;
    }
    if (content.hasBegun) this.#deadlines.continueSettled();
    if (content.isComplete) {
      this.#requestIsWhole();
      if (end < piece.length) this.#keep(piece.subarray(end));
    }
  }

  /** Content that breaks a rule: nothing of it may look complete anywhere. */
  #contentBroken(broken: Violation): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.disconnect();
    exchange?.events?.onGone();
    if (exchange?.isHeadSent === true) this.destroy();
    else this.#refuse(situationOf(broken));
  }

  /** Keeps what belongs to later requests, up to a limit. */
  #keep(piece: Buffer): void {
    this.#input.shrink();
    if (!this.#unread.keep(piece)) this.#socket.pause();
  }

  #goOn(): void {
    if (this.#unread.isEmpty) this.#socket.resume();
    else this.#readNextSoon();
  }

  /** The next pipelined request is read when this turn is over, so that a long row of them does not nest. */
  #readNextSoon(): void {
    queueMicrotask(() => {
      if (this.#phase !== 'idle') return;
      this.#socket.resume();
      this.#unread.give((piece) => this.#readHead(piece));
      // The rest of a request whose client has said its last will not come.
      if (this.#isHalfClosed && this.#reader.isUnfinished) this.destroy();
    });
  }

  handOver() {
    const socket = this.#socket;
    this.#exchange = undefined;
    this.#phase = 'closed';
    this.#host.sweep.remove(this);
    this.#host.onClosed(this);
    this.writer.send();
    socket.pause();
    this.#input.leave();
    socket.off('end', this.#onEnd).off('drain', this.#onDrain).off('close', this.#onClose);
    return { socket, octets: Buffer.concat([Buffer.from(this.#reader.text, 'latin1'), this.#unread.take()]) };
  }

  #refuse(situation: ErrorSituation): void {
    const requestId = requestIdOf(undefined, false);
    this.#host.onRefused(this.#peer, situation, requestId);
    this.writer.send();
    this.#socket.write(rawErrorAnswer(situation, requestId, this.#host.hstsLine));
    this.#linger();
  }

  /** Ends the connection: the answer arrives only if what the client still sends is read for a while. */
  #linger(): void {
    this.#phase = 'lingering';
    this.#deadlines.awaitNothing();
    this.writer.send();
    // A slow reader has the time of `write` to take what is left before the lingering begins.
    if (this.#socket.writableLength > 0) this.#deadlines.awaitReader();
    this.#socket.end(() => this.#deadlines.linger());
    if (!this.#isHalfClosed) this.#socket.resume();
  }
}
