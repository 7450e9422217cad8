// One call to one target and the way of its answer to the client, at the client's pace.
import { connectionOptions } from '../http1/connection-options.ts';
import { FIELD } from '../http1/field-id.ts';
import type { FieldTable } from '../http1/field-table.ts';
import type { ResponseHead } from '../http1/response-head.ts';
import type { AnswerCopy } from './answers/answer-copy.ts';
import type { Exchange } from './exchange.ts';
import { type FieldRewrite, responseLines, trailerLines } from './forwarded-fields.ts';
import type {
  Upstream,
  UpstreamCall,
  UpstreamEvents,
  UpstreamFailure,
  UpstreamRequest,
  UpstreamTarget,
} from './upstream/upstream.ts';

/** Who made the call and decides what becomes of it. */
export interface RelayOwner {
  readonly responseRewrite: FieldRewrite;
  /** Whether the answer goes to the client; if not, the call is over and the owner goes on without it. */
  headArrived(head: ResponseHead): boolean;
  /** Field lines that are added to an answer with these `lines`, each with its CRLF. */
  addedLines(lines: string): string;
  /** There was no head. */
  callFailed(failed: UpstreamFailure): void;
  /** The content went to the client whole, or broke off on the way. */
  answerEnded(outcome: 'success' | 'truncated', trailers: FieldTable | undefined): void;
}

const NO_REWRITE: FieldRewrite = { drop: null, lines: '' };

export class Relay implements UpstreamEvents {
  readonly #exchange: Exchange;
  readonly #owner: RelayOwner;
  #call: UpstreamCall | undefined;
  #isForwarding = false;
  #isAborted = false;
  #copy: AnswerCopy | null = null;

  constructor(exchange: Exchange, owner: RelayOwner) {
    this.#exchange = exchange;
    this.#owner = owner;
  }

  start(upstream: Upstream, to: UpstreamTarget, request: UpstreamRequest): void {
    this.#call = upstream.send(to, request, this);
    // The call may have failed before it was known here.
    if (this.#isAborted) this.#call.abort();
  }

  /** The answer whose head arrives is copied as well. */
  copyTo(copy: AnswerCopy | null): void {
    this.#copy = copy;
  }

  /** The client has read what was written. */
  drained(): void {
    this.#call?.resume();
  }

  /** Gives the call up; nothing is reported after this. */
  abort(): void {
    this.#isAborted = true;
    this.#copy?.abandon();
    this.#call?.abort();
  }

  onInterim({ status, reason, fields, minor }: ResponseHead): void {
    if (this.#isAborted) return;
    const { nominated } = connectionOptions(fields, minor);
    this.#exchange.sendInterim(status, reason, responseLines(fields, nominated, NO_REWRITE));
  }

  onHead(head: ResponseHead): void {
    if (this.#isAborted) return;
    const { status, reason, fields, minor, framing } = head;
    if (!this.#owner.headArrived(head)) {
      this.abort();
      return;
    }
    this.#isForwarding = true;
    const { nominated } = connectionOptions(fields, minor);
    const lines = responseLines(fields, nominated, this.#owner.responseRewrite);
    this.#copy?.takeLines(lines);
    const all = lines + this.#owner.addedLines(lines);
    this.#exchange.sendHead({ status, reason, lines: all, hasDate: fields.find(FIELD.date) !== -1, framing });
  }

  onContent(octets: Buffer): boolean {
    if (this.#isAborted) return true;
    this.#copy?.take(octets);
    return this.#exchange.write(octets);
  }

  get isHolding(): boolean {
    return this.#exchange.isHolding;
  }

  onPause(): boolean {
    return !this.#isForwarding || this.#isAborted || this.#exchange.flush();
  }

  onEnd(trailers: FieldTable | undefined): void {
    if (this.#isAborted) return;
    // Told first: the exchange's end begins the client's next request.
    this.#isAborted = true;
    this.#copy?.finish();
    this.#owner.answerEnded('success', trailers);
    this.#exchange.end(trailerLines(trailers, this.#owner.responseRewrite.drop));
  }

  onFailure(failed: UpstreamFailure): void {
    if (this.#isAborted) return;
    if (!this.#isForwarding) {
      this.#owner.callFailed(failed);
      return;
    }
    this.#isAborted = true;
    this.#copy?.abandon();
    this.#owner.answerEnded('truncated', undefined);
    this.#exchange.breakOff();
  }
}
