// The head of a request, parsed strictly (RFC 9112 sections 3 and 5).
import { FIELD } from './field-id.ts';
import { FieldTable } from './field-table.ts';
import { type Framing, requestFraming } from './framing.ts';
import type { HeadLimits } from './head-limits.ts';
import { CR, IS_TARGET, IS_TOKEN, LF, SP } from './octets.ts';
import type { Violation } from './violation.ts';

const VERSION = 'HTTP/1.';
/** The most frequent first. */
const METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
const NO_CONTENT: Framing = { kind: 'none' };

/** One parser serves request after request of a connection. */
export class RequestHead {
  readonly fields: FieldTable;
  readonly #limits: HeadLimits;
  method = '';
  target = '';
  /** The version's last digit: 0 or 1. */
  minor = 1;
  framing: Framing = NO_CONTENT;
  /** The value of the one Host field; '' when HTTP/1.0 has none. */
  host = '';

  constructor(limits: HeadLimits) {
    this.#limits = limits;
    this.fields = new FieldTable(limits.fieldCount);
  }

  /** Reads the head that `text` (Latin-1) holds from its first octet to `end`, behind its empty line. */
  parse(text: string, end: number): Violation | null {
    const lineEnd = this.#parseLine(text);
    if (typeof lineEnd === 'string') return lineEnd;
    if (end - lineEnd - 4 > this.#limits.fieldsBytes) return 'head too large';
    const broken = this.fields.parse(text, lineEnd + 2, end - 2);
    if (broken !== null) return broken;
    const framing = requestFraming(this.fields, this.minor);
    if (typeof framing === 'string') return framing;
    this.framing = framing;
    return this.#readHost();
  }

  /** Returns where the line's CRLF stands. */
  #parseLine(text: string): number | Violation {
    let at = 0;
    while (IS_TOKEN[text.charCodeAt(at)] === 1) at++;
    if (at === 0 || text.charCodeAt(at) !== SP) return lineFault(text, at);
    const methodEnd = at++;
    while (IS_TARGET[text.charCodeAt(at)] === 1) at++;
    if (at === methodEnd + 1 || text.charCodeAt(at) !== SP) return lineFault(text, at);
    const targetEnd = at++;
    const lineEnd = at + VERSION.length + 1;
    if (lineEnd > this.#limits.firstLineBytes) return 'request line too long';
    const minor = text.charCodeAt(lineEnd - 1) - 0x30;
    if (!text.startsWith(VERSION, at) || (minor !== 0 && minor !== 1)) return 'unknown version';
    if (text.charCodeAt(lineEnd) !== CR || text.charCodeAt(lineEnd + 1) !== LF) return lineFault(text, lineEnd);
    this.method = methodOf(text, methodEnd);
    this.target = text.substring(methodEnd + 1, targetEnd);
    this.minor = minor;
    return lineEnd;
  }

  #readHost(): Violation | null {
    const first = this.fields.find(FIELD.host);
    if (first === -1) {
      this.host = '';
      return this.minor === 0 ? null : 'missing host';
    }
    // Nearly always the same as in the request before.
    if (!this.fields.isValue(first, this.host)) this.host = this.fields.value(first);
    for (let field = first + 1; field < this.fields.count; field++) {
      if (this.fields.id(field) === FIELD.host) return 'repeated host';
    }
    return null;
  }
}

/** The method that `text` begins with: of those that are frequent the one text that tables of methods know at a glance. */
function methodOf(text: string, end: number): string {
  for (const method of METHODS) if (method.length === end && text.startsWith(method)) return method;
  return text.substring(0, end);
}

function lineFault(text: string, at: number): Violation {
  const octet = text.charCodeAt(at);
  return octet === LF || (octet === CR && text.charCodeAt(at + 1) !== LF) ? 'bare line end' : 'malformed request line';
}
