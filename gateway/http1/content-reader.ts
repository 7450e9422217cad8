// Reads the content of one message after another by its framing, from pieces of any size.
import { ChunkedDecoder, type DecodedContent } from './chunked-decoder.ts';
import type { FieldTable } from './field-table.ts';
import type { Framing } from './framing.ts';
import type { Violation } from './violation.ts';

const UNBOUNDED = Number.POSITIVE_INFINITY;

export class ContentReader {
  #decoder: ChunkedDecoder | undefined;
  #isChunked = false;
  /** Octets that are still to come where they are not chunked; unbounded up to the end of the connection. */
  #remaining = 0;

  /** Begins the content of the next message. */
  begin(framing: Framing): void {
    this.#isChunked = framing.kind === 'chunked';
    this.#remaining = framing.kind === 'length' ? framing.length : framing.kind === 'close' ? UNBOUNDED : 0;
    if (!this.#isChunked) return;
    this.#decoder ??= new ChunkedDecoder();
    this.#decoder.reset();
  }

  /** Whether all of it has arrived. */
  get isWhole(): boolean {
    return this.#isChunked ? this.#decoder?.isDone === true : this.#remaining === 0;
  }

  /** Whether it ends where the connection ends. */
  get endsWithConnection(): boolean {
    return this.#remaining === UNBOUNDED;
  }

  /** The trailer fields of content that is whole; undefined when it has none. */
  get trailers(): FieldTable | undefined {
    return this.#isChunked ? this.#decoder?.trailers : undefined;
  }

  /** Gives the content in `piece` from `start` on, and returns where it ends or the piece does; or the broken rule. */
  feed(piece: Buffer, start: number, into: DecodedContent): number | Violation {
    if (this.#isChunked && this.#decoder !== undefined) return this.#decoder.feed(piece, start, into);
    const end = Math.min(piece.length, start + this.#remaining);
    if (end === start) return end;
    this.#remaining -= end - start;
    into.onContent(start === 0 && end === piece.length ? piece : piece.subarray(start, end));
    return end;
  }
}
