// Collects a head that arrives in pieces of any size, and refuses one that can no longer become good.
import type { HeadLimits } from './head-limits.ts';
import { findHeadEnd, judgeUnfinished, leadingEmptyLines } from './head-search.ts';
import { CR } from './octets.ts';
import type { Violation } from './violation.ts';

/** What every response begins with, whatever comes after. */
const RESPONSE_START = 'HTTP/1.';
const HEAD_END = Buffer.from('\r\n\r\n');

/** One reader serves head after head of a connection. */
export class HeadReader {
  readonly #limits: HeadLimits;
  readonly #skipsEmptyLines: boolean;
  /** The head as Latin-1 text: whole after `feed` has returned its end, else as far as it has come. */
  text = '';
  #isWhole = true;

  /** Empty lines in front of a request are to be ignored (RFC 9112 section 2.2); in front of a response they are not. */
  constructor(limits: HeadLimits, of: 'request' | 'response') {
    this.#limits = limits;
    this.#skipsEmptyLines = of === 'request';
  }

  /** Whether a head has begun and is not whole. */
  get isUnfinished(): boolean {
    return !this.#isWhole;
  }

  /** Takes a piece and returns where the head ends in it; 0 while it goes on; or the rule that it breaks already. */
  feed(piece: Buffer): number | Violation {
    if (!this.#isWhole) return this.#goOn(this.text, piece);
    if (this.#skipsEmptyLines && piece[0] === CR) return this.#goOn('', piece);
    const at = piece.indexOf(HEAD_END);
    if (at === -1) return this.#await(piece.toString('latin1'));
    this.text = piece.toString('latin1', 0, at + HEAD_END.length);
    return at + HEAD_END.length;
  }

  #goOn(known: string, piece: Buffer): number | Violation {
    const all = known + piece.toString('latin1');
    const skipped = this.#skipsEmptyLines ? leadingEmptyLines(all) : 0;
    const text = skipped === 0 ? all : all.slice(skipped);
    const end = findHeadEnd(text, Math.max(0, known.length - skipped));
    if (end === 0) return this.#await(text);
    this.#isWhole = true;
    this.text = text.slice(0, end);
    return skipped + end - known.length;
  }

  #await(text: string): number | Violation {
    this.text = text;
    this.#isWhole = text === '';
    const isResponse = !this.#skipsEmptyLines;
    // An endpoint that greets in another protocol would otherwise be waited for until it has had its time.
    if (isResponse && !RESPONSE_START.startsWith(text.slice(0, RESPONSE_START.length))) return 'unknown version';
    return judgeUnfinished(text, this.#limits) ?? 0;
  }
}
