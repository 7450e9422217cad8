// An answer on its way through an encoder: held while it may come whole, then piece by piece, and ended in the right order.
import type { Coding } from '../../config/answer-schema.ts';
import type { Framing } from '../../http1/framing.ts';
import type { AnswerHead, Exchange } from '../exchange.ts';
import { encodedTrailers, LEAST_BYTES } from './compressible.ts';
import {
  ContentEncoder,
  type EncoderOwner,
  encodeWhole,
  leaveEncoderPlace,
  takeEncoderPlace,
} from './content-encoder.ts';

/** Who writes the answer. */
export interface EncodedAnswerOwner {
  /** More can be written again. */
  takesMore(): void;
  /** It was broken off for a fault of the encoder. */
  answerFailed(): void;
}

export interface EncodedAnswerParts {
  /** Where the answer goes. */
  readonly inner: Exchange;
  /** As it came. */
  readonly head: AnswerHead;
  /** The field lines for the content as it is, and for the encoded one. */
  readonly plain: string;
  readonly encoded: string;
  readonly coding: Coding;
  readonly owner: EncodedAnswerOwner;
}

/** Content up to this size that comes in one go is compressed in one go: measured, it costs 60 µs less. */
const WHOLE_BYTES = 32_768;

const CHUNKED: Framing = { kind: 'chunked' };

export class EncodedAnswer implements EncoderOwner {
  readonly #parts: EncodedAnswerParts;
  readonly #inner: Exchange;
  /** `held`: content is collected. `plain`: what is written goes through. `ending`: the encoder gives its last octets. */
  #phase: 'held' | 'plain' | 'encoding' | 'ending' | 'over' = 'held';
  #encoder: ContentEncoder | null = null;
  #hasPlace = false;
  #isEncoded = true;
  /** Whether the client reads slower than it is written to. */
  #isBlocked = false;
  #isCut = false;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #onSettled: (() => void) | null = null;

  constructor(parts: EncodedAnswerParts) {
    this.#parts = parts;
    this.#inner = parts.inner;
  }

  /** Calls `then` in place of what was to be called before, at once when nothing is under way. */
  whenSettled(then: () => void): void {
    if (this.#phase === 'plain' || this.#phase === 'over') then();
    else this.#onSettled = then;
  }

  write(octets: Buffer): boolean {
    if (this.#phase === 'plain') return this.#inner.write(octets);
    if (octets.length === 0) return true;
    // They are compressed later, when their memory may have been used again.
    if (this.#phase === 'held') return this.#hold(Buffer.from(octets));
    if (this.#phase !== 'encoding' || this.#encoder === null) return true;
    this.#encoder.write(Buffer.from(octets));
    return this.#encoder.isReady;
  }

  flush(): boolean {
    if (this.#phase === 'held') this.#stopHolding();
    if (this.#phase === 'plain' || this.#phase === 'held') return this.#inner.flush();
    if (this.#phase !== 'encoding' || this.#encoder === null) return true;
    this.#encoder.flush();
    return this.#encoder.isReady;
  }

  end(trailers: string): void {
    if (this.#phase === 'held') this.#sendWhole(trailers !== '');
    const lines = this.#isEncoded ? encodedTrailers(trailers) : trailers;
    if (this.#phase === 'encoding' && this.#encoder !== null) {
      this.#phase = 'ending';
      this.#encoder.end(() => this.#endNow(lines));
    } else if (this.#phase !== 'ending') {
      this.#endNow(lines);
    }
  }

  breakOff(): void {
    if (this.#phase === 'held') this.#startEncoder();
    if (this.#phase !== 'encoding' || this.#encoder === null || this.#isBlocked) {
      this.#breakOffNow();
      return;
    }
    // What was answered so far is the client's, however it ends.
    this.#phase = 'ending';
    this.#isCut = true;
    this.#encoder.cut(() => this.#breakOffNow());
  }

  /** The client has read what was written; whether the service may go on. */
  clientDrained(): boolean {
    this.#isBlocked = false;
    this.#encoder?.resume();
    const isServicesTurn = this.#phase !== 'ending' && this.#phase !== 'over';
    return isServicesTurn && this.#encoder?.isReady !== false;
  }

  /** The client is gone. */
  abandon(): void {
    this.#onSettled = null;
    this.#settle();
  }

  encoded(octets: Buffer): void {
    const isReady = this.#inner.write(octets);
    if ((this.#inner.flush() && isReady) || this.#isCut) return;
    this.#isBlocked = true;
    this.#encoder?.pause();
  }

  encoderDrained(): void {
    if (this.#phase === 'encoding') this.#parts.owner.takesMore();
  }

  encoderFailed(): void {
    this.#onSettled = null;
    this.#breakOffNow();
    this.#parts.owner.answerFailed();
  }

  #hold(octets: Buffer): boolean {
    this.#held.push(octets);
    this.#heldBytes += octets.length;
    const { framing } = this.#parts.head;
    if (this.#heldBytes > WHOLE_BYTES) return this.#startEncoder();
    if (framing.kind === 'length' && this.#heldBytes === framing.length) this.#sendWhole(false);
    return true;
  }

  /** The service pauses: the client gets what there is. */
  #stopHolding(): void {
    if (this.#heldBytes > 0) this.#startEncoder();
    else if (!this.#inner.isHeadSent && this.#takePlace()) this.#sendEncodedHead(CHUNKED);
  }

  /** False as with `write`. */
  #startEncoder(): boolean {
    if (!this.#takePlace()) return true;
    if (!this.#inner.isHeadSent) this.#sendEncodedHead(CHUNKED);
    const encoder = new ContentEncoder(this.#parts.coding, this);
    this.#encoder = encoder;
    this.#phase = 'encoding';
    for (const octets of this.#held) encoder.write(octets);
    this.#held = [];
    return encoder.isReady;
  }

  /** Sends content that is all there: as it is where the coding gains nothing. */
  #sendWhole(hasTrailers: boolean): void {
    const isFree = !this.#inner.isHeadSent;
    const content = Buffer.concat(this.#held);
    const octets = isFree && content.length < LEAST_BYTES ? content : encodeWhole(this.#parts.coding, content);
    if (isFree && octets.length >= content.length) {
      this.#goPlain();
      return;
    }
    if (isFree) this.#sendEncodedHead(hasTrailers ? CHUNKED : { kind: 'length', length: octets.length });
    this.#phase = 'plain';
    this.#held = [];
    this.#inner.write(octets);
  }

  /** Room for an encoder; without it the answer goes as it is. */
  #takePlace(): boolean {
    if (this.#hasPlace) return true;
    this.#hasPlace = takeEncoderPlace();
    if (!this.#hasPlace) this.#goPlain();
    return this.#hasPlace;
  }

  #goPlain(): void {
    const { head, plain } = this.#parts;
    this.#phase = 'plain';
    this.#isEncoded = false;
    this.#inner.sendHead(answerHead(head, plain, head.framing));
    for (const octets of this.#held) this.#inner.write(octets);
    this.#held = [];
  }

  #sendEncodedHead(framing: Framing): void {
    const { head, encoded } = this.#parts;
    const length = framing.kind === 'length' ? `Content-Length: ${framing.length}\r\n` : '';
    this.#inner.sendHead(answerHead(head, encoded + length, framing));
  }

  #endNow(trailers: string): void {
    if (this.#phase === 'over') return;
    this.#settle();
    this.#inner.end(trailers);
  }

  #breakOffNow(): void {
    if (this.#phase === 'over') return;
    this.#settle();
    this.#inner.breakOff();
  }

  /** Nothing more is compressed. */
  #settle(): void {
    const then = this.#onSettled;
    this.#onSettled = null;
    this.#phase = 'over';
    this.#encoder?.destroy();
    this.#encoder = null;
    this.#held = [];
    if (this.#hasPlace) leaveEncoderPlace();
    this.#hasPlace = false;
    then?.();
  }
}

/** The same head with other lines and another framing. */
export function answerHead({ status, reason, hasDate }: AnswerHead, lines: string, framing: Framing): AnswerHead {
  return { status, reason, lines, hasDate, framing };
}
