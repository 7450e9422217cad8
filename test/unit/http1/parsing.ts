// Parses heads and content for the tables of these tests, and says what came of it in plain values.
import { ChunkedDecoder } from '../../../gateway/http1/chunked-decoder.ts';
import { FieldTable } from '../../../gateway/http1/field-table.ts';
import type { Framing } from '../../../gateway/http1/framing.ts';
import type { HeadLimits } from '../../../gateway/http1/head-limits.ts';
import { RequestHead } from '../../../gateway/http1/request-head.ts';
import { ResponseHead } from '../../../gateway/http1/response-head.ts';
import type { Violation } from '../../../gateway/http1/violation.ts';

export const LIMITS: HeadLimits = { firstLineBytes: 8192, fieldsBytes: 32_768, fieldCount: 100 };

/** All octets. */
export const OCTETS: readonly number[] = Array.from({ length: 256 }, (_, octet) => octet);
/** CTL of RFC 5234. */
export const CONTROLS: readonly number[] = OCTETS.filter((octet) => octet < 0x20 || octet === 0x7f);
/** tchar of RFC 9110 section 5.6.2, spelt out. */
export const TOKEN = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export function octetOf(code: number): string {
  return String.fromCharCode(code);
}

export type Pairs = readonly (readonly [name: string, value: string])[];

export function pairsOf(fields: FieldTable): Pairs {
  return Array.from({ length: fields.count }, (_, field) => [fields.name(field), fields.value(field)] as const);
}

/** A table of the lines in `text`, each ended by CRLF. */
export function tableOf(text: string, maxFields = 100): FieldTable {
  const fields = new FieldTable(maxFields);
  const broken = fields.parse(text, 0, text.length);
  if (broken !== null) throw new Error(broken);
  return fields;
}

export function judgeFields(lines: string, maxFields = 100): Violation | Pairs {
  const fields = new FieldTable(maxFields);
  return fields.parse(lines, 0, lines.length) ?? pairsOf(fields);
}

/** What a request with that head is; `text` ends in its empty line. */
export function judgeRequest(text: string, limits = LIMITS): Violation | RequestHead {
  const head = new RequestHead(limits);
  return head.parse(text, text.length) ?? head;
}

/** The violation of a request, or null. */
export function requestFault(text: string, limits = LIMITS): Violation | null {
  return new RequestHead(limits).parse(text, text.length);
}

/** The framing of a POST with these field lines, or its violation. */
export function framingOf(lines: string, minor = 1): Framing | Violation {
  const head = judgeRequest(`POST / HTTP/1.${minor}\r\nHost: s\r\n${lines}\r\n`);
  return typeof head === 'string' ? head : head.framing;
}

export function judgeResponse(text: string, method = 'GET', limits = LIMITS): Violation | ResponseHead {
  const head = new ResponseHead(limits);
  return head.parse(text, text.length, method) ?? head;
}

export function responseFault(text: string, limits = LIMITS): Violation | null {
  return new ResponseHead(limits).parse(text, text.length, 'GET');
}

export interface Decoded {
  readonly content: string;
  readonly trailers: Pairs | undefined;
  readonly isDone: boolean;
  /** Octets behind the message. */
  readonly rest: number;
  readonly violation: Violation | null;
}

/** Feeds the pieces to a decoder until it stops. */
export function decode(...pieces: readonly (string | Buffer)[]): Decoded {
  const decoder = new ChunkedDecoder();
  const content: Buffer[] = [];
  let violation: Violation | null = null;
  let rest = 0;
  for (const each of pieces) {
    const piece = typeof each === 'string' ? Buffer.from(each, 'latin1') : each;
    if (violation !== null || decoder.isDone) {
      rest += piece.length;
      continue;
    }
    const end = decoder.feed(piece, 0, { onContent: (octets) => content.push(Buffer.from(octets)) });
    if (typeof end === 'string') violation = end;
    else rest += piece.length - end;
  }
  const trailers = decoder.trailers === undefined ? undefined : pairsOf(decoder.trailers);
  const { isDone } = decoder;
  return { content: Buffer.concat(content).toString('latin1'), trailers, isDone, rest, violation };
}

/** Decodes a message whose one chunk has this line. */
export function decodeLine(line: string): Decoded {
  return decode(`${line}\r\nabc\r\n0\r\n\r\n`);
}
