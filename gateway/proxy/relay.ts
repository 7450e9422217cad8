// One call to one target and the way of its answer to the client, at the client's pace.
import type { Exchange, RawFields, ResponseHead } from './exchange.ts';
import type {
  Upstream,
  UpstreamCall,
  UpstreamEvents,
  UpstreamFailure,
  UpstreamRequest,
  UpstreamTarget,
} from './upstream.ts';

/** Who made the call and decides what becomes of it. */
export interface RelayOwner {
  /** The head that goes to the client; undefined drops the answer: the owner goes on without this relay. */
  headArrived(head: ResponseHead): ResponseHead | undefined;
  /** There was no head. */
  callFailed(failed: UpstreamFailure): void;
  /** The content went to the client whole, or broke off on the way. */
  answerEnded(outcome: 'success' | 'truncated'): void;
}

export class Relay implements UpstreamEvents {
  readonly #exchange: Exchange;
  readonly #owner: RelayOwner;
  #call: UpstreamCall | undefined;
  #isForwarding = false;
  #isAborted = false;

  constructor(exchange: Exchange, owner: RelayOwner) {
    this.#exchange = exchange;
    this.#owner = owner;
  }

  start(upstream: Upstream, to: UpstreamTarget, request: UpstreamRequest): void {
    this.#call = upstream.send(to, request, this);
    // The call may have failed before it was known here.
    if (this.#isAborted) this.#call.abort();
  }

  /** The client has read what was written. */
  drained(): void {
    this.#call?.resume();
  }

  /** Gives the call up; nothing is reported after this. */
  abort(): void {
    this.#isAborted = true;
    this.#call?.abort();
  }

  onInterim(status: number, fields: RawFields): void {
    if (!this.#isAborted) this.#exchange.sendInterim(status, fields);
  }

  onHead(head: ResponseHead): void {
    if (this.#isAborted) return;
    const forwarded = this.#owner.headArrived(head);
    if (forwarded === undefined) {
      this.abort();
      return;
    }
    this.#isForwarding = true;
    this.#exchange.sendHead(forwarded);
  }

  onContent(chunk: Uint8Array): boolean {
    if (this.#isAborted) return true;
    return this.#exchange.write(chunk);
  }

  onEnd(trailers: RawFields): void {
    if (this.#isAborted) return;
    this.#exchange.end(trailers);
    this.#owner.answerEnded('success');
  }

  onFailure(failed: UpstreamFailure): void {
    if (this.#isAborted) return;
    if (!this.#isForwarding) {
      this.#owner.callFailed(failed);
      return;
    }
    this.#exchange.breakOff();
    this.#owner.answerEnded('truncated');
  }
}
