// A copy of an answer while it goes to the client, to be kept for when the service cannot answer.
import { FIELD } from '../../http1/field-id.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import type { Exchange } from '../exchange.ts';
import type { StaleCache } from './stale-cache.ts';
import { isStorableRequest, type Storable, storable } from './stale-rules.ts';

export interface CopyParts {
  readonly exchange: Exchange;
  /** The name of the route. */
  readonly route: string;
  readonly head: ResponseHead;
  readonly cache: StaleCache;
  /** The time of day. */
  readonly wallMs: number;
}

/** What was true of the answer when it came, but is not when it is given again: its age, and the request's id. */
const PASSING_LINES = /^(?:age|x-request-id):.*\r\n/gim;

/** Begins a copy; null when the answer may not be kept, is too large, or is known well enough. */
export function beginCopy(parts: CopyParts): AnswerCopy | null {
  const { exchange, route, head, cache, wallMs } = parts;
  if (!isStorableRequest(exchange)) return null;
  const how = storable(head.status, head.fields);
  if (how === null || !cache.wants(exchange, wallMs, route)) return null;
  const { framing } = head;
  // Content that ends with the connection cannot be told from content that broke off.
  if (framing.kind === 'close') return null;
  if (framing.kind === 'length' && framing.length > cache.maxEntryBytes) return null;
  return new AnswerCopy(parts, how);
}

export class AnswerCopy {
  readonly #parts: CopyParts;
  readonly #how: Storable;
  readonly #status: number;
  readonly #reason: string;
  /** Lines that the answer needs, but that the service did not give. */
  readonly #missing: string;
  readonly #hasLength: boolean;
  #lines = '';
  #octets: Buffer[] | null = [];
  #bytes = 0;

  constructor(parts: CopyParts, how: Storable) {
    this.#parts = parts;
    this.#how = how;
    this.#status = parts.head.status;
    this.#reason = parts.head.reason;
    // A recipient with a clock adds what an origin without one left out (RFC 9110 section 6.6.1).
    const hasDate = parts.head.fields.find(FIELD.date) !== -1;
    this.#missing = hasDate ? '' : `Date: ${new Date(parts.wallMs).toUTCString()}\r\n`;
    this.#hasLength = parts.head.framing.kind === 'length';
  }

  /** The field lines as they went to the client. */
  takeLines(lines: string): void {
    this.#lines = lines;
  }

  /** Copies octets: the buffer they are in is used again. */
  take(octets: Buffer): void {
    if (this.#octets === null) return;
    const { cache } = this.#parts;
    if (this.#bytes + octets.length > cache.maxEntryBytes || !cache.reserve(octets.length)) {
      this.abandon();
      return;
    }
    this.#bytes += octets.length;
    this.#octets.push(Buffer.from(octets));
  }

  /** The answer is not kept. */
  abandon(): void {
    if (this.#octets === null) return;
    this.#octets = null;
    this.#parts.cache.release(this.#bytes);
  }

  /** The answer went out whole: it is kept. */
  finish(): void {
    if (this.#octets === null) return;
    const { exchange, route, cache, wallMs } = this.#parts;
    const { vary, ageMs, maxAgeMs } = this.#how;
    const content = new SharedArrayBuffer(this.#bytes);
    const octets = new Uint8Array(content);
    let at = 0;
    for (const part of this.#octets) {
      octets.set(part, at);
      at += part.length;
    }
    const length = this.#hasLength ? '' : `Content-Length: ${this.#bytes}\r\n`;
    const answer = {
      status: this.#status,
      reason: this.#reason,
      lines: this.#lines.replace(PASSING_LINES, '') + this.#missing + length,
      content,
      bornMs: wallMs - ageMs,
      maxAgeMs,
      vary: vary.map((name) => [name, exchange.header(name) ?? null] as const),
    };
    this.abandon();
    cache.keep(exchange, answer, route);
  }
}
