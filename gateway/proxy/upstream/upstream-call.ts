// One request on an upstream connection: what was sent of it, and whether anybody still waits for the answer.
import type { FieldTable } from '../../http1/field-table.ts';
import type { ContentSink } from '../exchange.ts';
import { trailerLines } from '../forwarded-fields.ts';
import { COPIED_BYTES } from '../socket/read-buffer.ts';
import type { TurnWriter } from '../socket/turn-writer.ts';
import type { UpstreamCall, UpstreamEvents, UpstreamRequest } from './upstream.ts';

/** The connection as its call uses it. */
export interface CallWire {
  readonly writer: TurnWriter;
  /** Content of the request goes on. */
  requestProgressed(): void;
  resumeReading(): void;
  callAborted(call: Http1Call): void;
}

export class Http1Call implements UpstreamCall, ContentSink {
  readonly request: UpstreamRequest;
  readonly events: UpstreamEvents;
  readonly #connection: CallWire;
  readonly #isChunked: boolean;
  #collected = '';
  /** While a call begins, small pieces wait for the head's write. */
  #isBeginning = true;
  isRequestWhole: boolean;
  isAborted = false;

  constructor(connection: CallWire, request: UpstreamRequest, events: UpstreamEvents) {
    this.#connection = connection;
    this.request = request;
    this.events = events;
    this.#isChunked = request.content?.framing.kind === 'chunked';
    this.isRequestWhole = request.content === null;
  }

  begin(): void {
    const { method, target, host, lines, content } = this.request;
    const coding = this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : '';
    this.#collected = `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${lines}${coding}\r\n`;
    content?.attach(this);
    this.#isBeginning = false;
    this.#send();
  }

  onContent(octets: Buffer): boolean {
    if (this.isAborted) return true;
    const isReady = this.#take(octets);
    this.#connection.requestProgressed();
    return isReady;
  }

  get isHolding(): boolean {
    return this.#connection.writer.isHolding;
  }

  #take(octets: Buffer): boolean {
    if (octets.length <= COPIED_BYTES) {
      const text = octets.toString('latin1');
      this.#collected += this.#isChunked ? `${octets.length.toString(16)}\r\n${text}\r\n` : text;
      return this.#isBeginning && this.#collected.length < 4 * COPIED_BYTES ? true : this.#send();
    }
    if (this.#isChunked) this.#collected += `${octets.length.toString(16)}\r\n`;
    this.#send();
    const isReady = this.#connection.writer.writeOctets(octets);
    if (this.#isChunked) this.#collected = '\r\n';
    return isReady;
  }

  onContentEnd(trailers: FieldTable | undefined): void {
    if (this.isAborted) return;
    this.isRequestWhole = true;
    if (this.#isChunked) this.#collected += `0\r\n${trailerLines(trailers, this.request.dropTrailers)}\r\n`;
    if (!this.#isBeginning) this.#send();
    this.#connection.requestProgressed();
  }

  /** The endpoint has read what was written. */
  drained(): void {
    if (this.isRequestWhole) return;
    this.request.content?.resume();
    this.#connection.requestProgressed();
  }

  resume(): void {
    if (!this.isAborted) this.#connection.resumeReading();
  }

  abort(): void {
    if (this.isAborted) return;
    this.isAborted = true;
    if (!this.isRequestWhole) this.request.content?.detach();
    this.#connection.callAborted(this);
  }

  #send(): boolean {
    if (this.#collected === '') return true;
    const text = this.#collected;
    this.#collected = '';
    return this.#connection.writer.writeText(text);
  }
}
