// An exchange whose answer is compressed on its way to the client, where that is possible and the client likes it.
import type { FieldTable } from '../../http1/field-table.ts';
import type { ClientPeer } from '../client-address.ts';
import type { AnswerHead, ContentLimits, Exchange, ExchangeEvents, RequestContent } from '../exchange.ts';
import { dressAnswer } from './compressible.ts';
import type { Compression } from './compression.ts';
import { answerHead, EncodedAnswer, type EncodedAnswerOwner } from './encoded-answer.ts';

export class CompressedExchange implements Exchange, ExchangeEvents, EncodedAnswerOwner {
  readonly #inner: Exchange;
  readonly #compression: Compression;
  #events: ExchangeEvents | undefined;
  /** Null before the head, and for an answer that goes as it is. */
  #answer: EncodedAnswer | null = null;

  constructor(inner: Exchange, compression: Compression) {
    this.#inner = inner;
    this.#compression = compression;
  }

  get method(): string {
    return this.#inner.method;
  }

  get target(): string {
    return this.#inner.target;
  }

  get host(): string {
    return this.#inner.host;
  }

  get fields(): FieldTable {
    return this.#inner.fields;
  }

  get peer(): ClientPeer {
    return this.#inner.peer;
  }

  get announcedBytes(): number | null {
    return this.#inner.announcedBytes;
  }

  get version(): string {
    return this.#inner.version;
  }

  get isUpgrade(): boolean {
    return this.#inner.isUpgrade;
  }

  get isHeadSent(): boolean {
    return this.#answer !== null || this.#inner.isHeadSent;
  }

  /** Octets as they went to the client. */
  get contentBytes(): number {
    return this.#inner.contentBytes;
  }

  header(name: string): string | undefined {
    return this.#inner.header(name);
  }

  openContent(limits: ContentLimits): RequestContent | null {
    return this.#inner.openContent(limits);
  }

  listen(events: ExchangeEvents): void {
    this.#events = events;
    this.#inner.listen(this);
  }

  /** Calls `then` before the end of the answer, once all of it was written to the client; not when the client leaves. */
  whenSettled(then: () => void): void {
    if (this.#answer === null) then();
    else this.#answer.whenSettled(then);
  }

  sendInterim(status: number, reason: string, lines: string): void {
    this.#inner.sendInterim(status, reason, lines);
  }

  sendHead(head: AnswerHead): void {
    if (this.isHeadSent) return;
    const coding = this.#compression.choose(this.header('accept-encoding'));
    const lines = dressAnswer(head, { method: this.method, ifNoneMatch: this.header('if-none-match'), coding });
    if (lines === null) {
      this.#inner.sendHead(head);
    } else if (lines.encoded === null || coding === null) {
      this.#inner.sendHead(answerHead(head, lines.plain, head.framing));
    } else {
      const { plain, encoded } = lines;
      this.#answer = new EncodedAnswer({ inner: this.#inner, head, plain, encoded, coding, owner: this });
    }
  }

  get isHolding(): boolean {
    // What is to be compressed was copied.
    return this.#inner.isHolding;
  }

  write(octets: Buffer): boolean {
    return this.#answer === null ? this.#inner.write(octets) : this.#answer.write(octets);
  }

  flush(): boolean {
    return this.#answer === null ? this.#inner.flush() : this.#answer.flush();
  }

  end(trailers: string): void {
    if (this.#answer === null) this.#inner.end(trailers);
    else this.#answer.end(trailers);
  }

  breakOff(): void {
    if (this.#answer === null) this.#inner.breakOff();
    else this.#answer.breakOff();
  }

  onDrain(): void {
    if (this.#answer === null || this.#answer.clientDrained()) this.#events?.onDrain();
  }

  onGone(): void {
    this.#answer?.abandon();
    this.#events?.onGone();
  }

  onContentTooLarge(): void {
    this.#events?.onContentTooLarge();
  }

  takesMore(): void {
    this.#events?.onDrain();
  }

  answerFailed(): void {
    this.#events?.onGone();
  }
}
