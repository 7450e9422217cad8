// The chunked coding, decoded strictly from pieces of any size (RFC 9112 section 7.1).
import { EXTENSION_BEGINS, EXTENSION_ENDS, EXTENSION_IS_BROKEN, nextInExtension } from './chunk-extension.ts';
import { FieldTable } from './field-table.ts';
import { findHeadEnd } from './head-search.ts';
import { CR, LF } from './octets.ts';
import type { Violation } from './violation.ts';

/** Takes the content that a decoder finds. */
export interface DecodedContent {
  /** A view of the piece that was fed; copy it to keep it. */
  onContent(octets: Buffer): void;
}

const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const CONTENT = 3;
const CONTENT_CR = 4;
const CONTENT_LF = 5;
const TRAILERS = 6;
const DONE = 7;

/** More digits than any chunk needs, and few enough to stay a whole number. */
const MAX_SIZE_DIGITS = 12;
const MAX_EXTENSION_BYTES = 4096;
const MAX_TRAILER_BYTES = 16_384;
const MAX_TRAILER_FIELDS = 64;

/** Decodes one message after another; `reset` begins the next. */
export class ChunkedDecoder {
  #state = SIZE;
  #size = 0;
  #sizeDigits = 0;
  #extension = EXTENSION_BEGINS;
  #extensionBytes = 0;
  #trailerText = '';
  #trailers: FieldTable | undefined;

  /** Whether the last chunk and the trailer section are in. */
  get isDone(): boolean {
    return this.#state === DONE;
  }

  /** The trailer fields of a message that is done; undefined when it had none. */
  get trailers(): FieldTable | undefined {
    return this.#trailers;
  }

  reset(): void {
    this.#state = SIZE;
    this.#size = 0;
    this.#sizeDigits = 0;
    this.#trailerText = '';
    this.#trailers = undefined;
  }

  /**
   * Reads `piece` from `start` on and returns where it stopped: at the end of the piece, or behind the message. A
   * violation leaves the decoder useless until `reset`.
   */
  feed(piece: Buffer, start: number, into: DecodedContent): number | Violation {
    let at = start;
    while (at < piece.length && this.#state !== DONE) {
      if (this.#state === CONTENT) {
        const end = Math.min(piece.length, at + this.#size);
        into.onContent(piece.subarray(at, end));
        this.#size -= end - at;
        at = end;
        if (this.#size === 0) this.#state = CONTENT_CR;
      } else if (this.#state === TRAILERS) {
        const next = this.#readTrailers(piece, at);
        if (typeof next === 'string') return next;
        at = next;
      } else {
        const broken = this.#readOctet(piece[at] ?? 0);
        if (broken !== null) return broken;
        at++;
      }
    }
    return at;
  }

  #readOctet(octet: number): Violation | null {
    switch (this.#state) {
      case SIZE:
        return this.#readSize(octet);
      case EXTENSION:
        return this.#readExtension(octet);
      case SIZE_LF:
        if (octet !== LF) return 'bare line end';
        this.#state = this.#size === 0 ? TRAILERS : CONTENT;
        return null;
      case CONTENT_CR:
        if (octet !== CR) return 'malformed chunk';
        this.#state = CONTENT_LF;
        return null;
      default:
        if (octet !== LF) return 'malformed chunk';
        this.#state = SIZE;
        this.#sizeDigits = 0;
        return null;
    }
  }

  #readSize(octet: number): Violation | null {
    const digit = hexDigit(octet);
    if (digit !== -1) {
      if (++this.#sizeDigits > MAX_SIZE_DIGITS) return 'malformed chunk size';
      this.#size = this.#size * 16 + digit;
      return null;
    }
    if (this.#sizeDigits === 0) return 'malformed chunk size';
    if (octet === CR) this.#state = SIZE_LF;
    else if (octet === 0x3b) this.#beginExtension();
    else return octet === LF ? 'bare line end' : 'malformed chunk size';
    return null;
  }

  #beginExtension(): void {
    this.#state = EXTENSION;
    this.#extension = EXTENSION_BEGINS;
    this.#extensionBytes = 0;
  }

  /** Extensions mean something to one hop only: they are read and left out. */
  #readExtension(octet: number): Violation | null {
    if (octet === LF) return 'bare line end';
    this.#extension = nextInExtension(this.#extension, octet);
    if (this.#extension === EXTENSION_IS_BROKEN) return 'malformed chunk extension';
    if (this.#extension === EXTENSION_ENDS) {
      this.#state = SIZE_LF;
      return null;
    }
    return ++this.#extensionBytes > MAX_EXTENSION_BYTES ? 'chunk extension too long' : null;
  }

  #readTrailers(piece: Buffer, start: number): number | Violation {
    const known = this.#trailerText.length;
    // Almost always there are none: the two octets of the empty line.
    if (known === 0 && piece[start] === CR && piece[start + 1] === LF) {
      this.#state = DONE;
      return start + 2;
    }
    const limit = Math.min(piece.length, start + MAX_TRAILER_BYTES - known);
    const text = this.#trailerText + piece.toString('latin1', start, limit);
    const end = text.startsWith('\r\n') ? 2 : findHeadEnd(text, known);
    if (end === 0) {
      if (hasBareLineFeed(text, known)) return 'bare line end';
      if (text.length === MAX_TRAILER_BYTES) return 'trailer section too large';
      this.#trailerText = text;
      return piece.length;
    }
    if (end > 2) {
      const fields = new FieldTable(MAX_TRAILER_FIELDS);
      const broken = fields.parse(text, 0, end - 2);
      if (broken !== null) return broken;
      this.#trailers = fields;
    }
    this.#state = DONE;
    return start + end - known;
  }
}

function hasBareLineFeed(text: string, from: number): boolean {
  for (let at = text.indexOf('\n', from); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text.charCodeAt(at - 1) !== CR) return true;
  }
  return false;
}

function hexDigit(octet: number): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30;
  const lower = octet | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
