// One request on a client connection and its answer, written with as few system calls as it takes.
import type { FieldTable } from '../../http1/field-table.ts';
import type { Framing } from '../../http1/framing.ts';
import type { RequestHead } from '../../http1/request-head.ts';
import type { ClientPeer } from '../client-address.ts';
import type {
  AnswerHead,
  ContentLimits,
  ExchangeEvents,
  HandedOver,
  RequestContent,
  UpgradableExchange,
} from '../exchange.ts';
import { COPIED_BYTES } from '../socket/read-buffer.ts';
import type { TurnWriter } from '../socket/turn-writer.ts';
import type { ClientDeadlines } from './client-deadlines.ts';
import { withHsts } from './hsts.ts';
import type { HttpDate } from './http-date.ts';
import type { IncomingContent } from './request-content.ts';
import type { RequestAddress } from './request-line.ts';

/** The connection as its exchange uses it. */
export interface ExchangeWire {
  /** Octets as Latin-1 text; false when the client reads slower. */
  writeText(text: string): boolean;
  writeOctets(octets: Buffer): boolean;
  readonly writer: Pick<TurnWriter, 'isHolding'>;
  /** Gives the socket away, with all that was read from it since the last answer. */
  handOver(): HandedOver;
  /** The answer is whole. */
  exchangeEnded(isLast: boolean): void;
  /** Ends the connection in the middle of an answer; a reset shows it where the end of the connection would not. */
  breakOff(mustReset: boolean): void;
}

export interface ExchangeParts {
  readonly wire: ExchangeWire;
  readonly listener: { readonly date: HttpDate; readonly isDraining: boolean; readonly hstsLine: string };
  readonly head: RequestHead;
  readonly address: RequestAddress;
  readonly peer: ClientPeer;
  readonly content: IncomingContent | null;
  /** Whether the client will use the connection again. */
  readonly isPersistent: boolean;
  readonly expectsContinue: boolean;
  readonly isUpgrade: boolean;
}

export class ClientExchange implements UpgradableExchange {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly fields: FieldTable;
  readonly peer: ClientPeer;
  readonly content: IncomingContent | null;
  isHeadSent = false;
  contentBytes = 0;
  events: ExchangeEvents | undefined;
  /** Whether the client waits for a 100 before it sends its content. */
  expectsContinue: boolean;
  readonly isUpgrade: boolean;
  readonly #wire: ExchangeWire;
  readonly #listener: ExchangeParts['listener'];
  readonly minor: number;
  #isPersistent: boolean;
  #isContentOpen = false;
  #isChunked = false;
  #takesContent = true;
  #endsByClosing = false;
  #collected = '';
  #isOver = false;

  constructor(parts: ExchangeParts) {
    const { wire, listener, head, address, peer, content, isPersistent, expectsContinue, isUpgrade } = parts;
    this.#wire = wire;
    this.#listener = listener;
    this.isUpgrade = isUpgrade;
    this.method = head.method;
    this.target = address.target;
    this.host = address.host;
    this.fields = head.fields;
    this.peer = peer;
    this.content = content;
    this.expectsContinue = expectsContinue;
    this.minor = head.minor;
    this.#isPersistent = isPersistent;
  }

  get version(): string {
    return this.minor === 1 ? '1.1' : '1.0';
  }

  get announcedBytes(): number | null {
    const framing = this.content?.framing;
    if (framing === undefined) return 0;
    return framing.kind === 'length' ? framing.length : null;
  }

  header(name: string): string | undefined {
    return this.fields.get(name);
  }

  openContent(limits: ContentLimits): RequestContent | null {
    this.#isContentOpen = true;
    this.content?.setLimits(limits);
    return this.content;
  }

  listen(events: ExchangeEvents): void {
    this.events = events;
  }

  sendInterim(status: number, reason: string, lines: string): void {
    if (this.minor === 0 || this.isHeadSent || this.#isOver) return;
    if (status === 100) this.sendContinue();
    else this.#wire.writeText(`HTTP/1.1 ${status} ${reason}\r\n${lines}\r\n`);
  }

  /** The client has waited for a 100 for a while. It waits on while nobody wants its content yet. */
  continueDue(deadlines: Pick<ClientDeadlines, 'awaitContinue'>): void {
    if (this.#isContentOpen) this.sendContinue();
    else deadlines.awaitContinue();
  }

  /** Asks for the content of a client that waits to be asked. */
  sendContinue(): void {
    if (!this.expectsContinue || this.isHeadSent) return;
    this.expectsContinue = false;
    this.#wire.writeText('HTTP/1.1 100 Continue\r\n\r\n');
  }

  sendHead({ status, reason, lines, hasDate, framing }: AnswerHead): void {
    if (this.isHeadSent || this.#isOver) return;
    this.isHeadSent = true;
    this.#takesContent = framing.kind !== 'none' && this.method !== 'HEAD';
    this.#isChunked = this.#takesContent && framing.kind !== 'length' && this.minor === 1;
    this.#decidePersistence(framing);
    const { hstsLine } = this.#listener;
    let head = `HTTP/1.1 ${status} ${reason}\r\n${hstsLine === '' ? lines : withHsts(lines, hstsLine)}`;
    // A recipient with a clock adds what an origin without one left out (RFC 9110 section 6.6.1).
    if (!hasDate) head += `Date: ${this.#listener.date.value}\r\n`;
    if (this.#isChunked) head += 'Transfer-Encoding: chunked\r\n';
    if (!this.#isPersistent) head += 'Connection: close\r\n';
    else if (this.minor === 0) head += 'Connection: keep-alive\r\n';
    this.#collected = `${head}\r\n`;
  }

  get isHolding(): boolean {
    return this.#wire.writer.isHolding;
  }

  write(octets: Buffer): boolean {
    if (this.#isOver || !this.#takesContent || octets.length === 0) return true;
    this.contentBytes += octets.length;
    if (octets.length <= COPIED_BYTES) {
      const text = octets.toString('latin1');
      this.#collected += this.#isChunked ? `${octets.length.toString(16)}\r\n${text}\r\n` : text;
      return this.#collected.length < 4 * COPIED_BYTES || this.#sendCollected();
    }
    if (this.#isChunked) this.#collected += `${octets.length.toString(16)}\r\n`;
    this.#sendCollected();
    const isReady = this.#wire.writeOctets(octets);
    if (this.#isChunked) this.#collected = '\r\n';
    return isReady;
  }

  flush(): boolean {
    return this.#sendCollected();
  }

  end(trailers: string): void {
    if (this.#isOver) return;
    if (this.#isChunked) this.#collected += `0\r\n${trailers}\r\n`;
    this.#sendCollected();
    this.#isOver = true;
    this.#wire.exchangeEnded(!this.#isPersistent);
  }

  breakOff(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // What was answered so far is the client's, however it ends.
    this.#sendCollected();
    this.#wire.breakOff(this.#endsByClosing);
  }

  /** Gives the connection away; nothing more is written here. */
  takeOver(): HandedOver {
    this.#isOver = true;
    return this.#wire.handOver();
  }

  /** The connection is gone: nothing is written any more. */
  disconnect(): void {
    this.#isOver = true;
  }

  /** The connection ends with this answer where its end is the content's end, or where content of the request is left. */
  #decidePersistence(framing: Framing): void {
    this.#endsByClosing = this.#takesContent && framing.kind !== 'length' && this.minor === 0;
    const isContentLeft = this.content !== null && !this.content.isComplete;
    if (this.#endsByClosing || isContentLeft || this.#listener.isDraining) this.#isPersistent = false;
  }

  #sendCollected(): boolean {
    if (this.#collected === '') return true;
    const text = this.#collected;
    this.#collected = '';
    return this.#wire.writeText(text);
  }
}
