// The head of a response, parsed strictly (RFC 9112 sections 4 and 5).
import { FieldTable } from './field-table.ts';
import { type Framing, responseFraming } from './framing.ts';
import type { HeadLimits } from './head-limits.ts';
import { CR, IS_VALUE, LF, SP } from './octets.ts';
import type { Violation } from './violation.ts';

const VERSION = 'HTTP/1.';

/** One parser serves response after response of a connection. */
export class ResponseHead {
  readonly fields: FieldTable;
  readonly #limits: HeadLimits;
  status = 0;
  reason = '';
  /** The version's last digit: 0 or 1. */
  minor = 1;
  framing: Framing = { kind: 'none' };

  constructor(limits: HeadLimits) {
    this.#limits = limits;
    this.fields = new FieldTable(limits.fieldCount);
  }

  /**
   * Reads the head that `text` (Latin-1) holds from its first octet to `end`, behind its empty line. `method` is that of
   * the request that is answered.
   */
  parse(text: string, end: number, method: string): Violation | null {
    const lineEnd = this.#parseLine(text);
    if (typeof lineEnd === 'string') return lineEnd;
    if (end - lineEnd - 4 > this.#limits.fieldsBytes) return 'head too large';
    const broken = this.fields.parse(text, lineEnd + 2, end - 2);
    if (broken !== null) return broken;
    const framing = responseFraming(this.fields, { minor: this.minor, status: this.status, method });
    if (typeof framing === 'string') return framing;
    this.framing = framing;
    return null;
  }

  /** Returns where the line's CRLF stands. */
  #parseLine(text: string): number | Violation {
    const statusStart = VERSION.length + 2;
    const minor = text.charCodeAt(VERSION.length) - 0x30;
    if (!text.startsWith(VERSION) || (minor !== 0 && minor !== 1)) return 'unknown version';
    if (text.charCodeAt(statusStart - 1) !== SP) return lineFault(text, statusStart - 1);
    const status = statusAt(text, statusStart);
    let at = statusStart + 3;
    if (status < 100) return 'malformed status line';
    // The space before an empty reason is often left out; nothing can be read otherwise for it.
    const reasonStart = text.charCodeAt(at) === SP ? at + 1 : at;
    if (reasonStart === at && text.charCodeAt(at) !== CR) return lineFault(text, at);
    at = reasonStart;
    while (IS_VALUE[text.charCodeAt(at)] === 1) at++;
    if (text.charCodeAt(at) !== CR || text.charCodeAt(at + 1) !== LF) return lineFault(text, at);
    if (at > this.#limits.firstLineBytes) return 'head too large';
    this.minor = minor;
    this.status = status;
    this.reason = text.substring(reasonStart, at);
    return at;
  }
}

function lineFault(text: string, at: number): Violation {
  const octet = text.charCodeAt(at);
  return octet === LF || (octet === CR && text.charCodeAt(at + 1) !== LF) ? 'bare line end' : 'malformed status line';
}

/** Three digits as a number; -1 when they are none. */
function statusAt(text: string, start: number): number {
  let status = 0;
  for (let at = start; at < start + 3; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return -1;
    status = status * 10 + digit;
  }
  return status;
}
