// Heads on the way to and from an HTTP/2 endpoint: lists of names and values there, the tables of HTTP/1.1 here.
import { STATUS_CODES } from 'node:http';
import { formatGrpcTimeout } from '../../core/grpc-timeout.ts';
import { FieldTable } from '../../http1/field-table.ts';
import type { Framing } from '../../http1/framing.ts';
import type { HeadLimits } from '../../http1/head-limits.ts';
import { trimBlanks } from '../../http1/octets.ts';
import { ResponseHead } from '../../http1/response-head.ts';
import type { Violation } from '../../http1/violation.ts';
import type { UpstreamRequest } from './upstream.ts';

/** The largest response head that is accepted. */
export const RESPONSE_HEAD_LIMITS: HeadLimits = { firstLineBytes: 8192, fieldsBytes: 65_536, fieldCount: 256 };

const MAX_TRAILER_FIELDS = 64;

/** Fields of an HTTP/1.1 connection, which are malformed in HTTP/2 (RFC 9113 section 8.2.2), and Host. */
const NOT_IN_HTTP2: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'],
  ...['http2-settings', 'te', 'host'],
]);

/** The header list of a request as node:http2 takes it: names and values by turns. */
export function requestList({ method, target, host, lines, tls, http2 }: UpstreamRequest): string[] {
  const scheme = tls === null ? 'http' : 'https';
  const list = [':method', method, ':scheme', scheme, ':path', target];
  // A client of HTTP/1.0 need not name a host: node:http2 puts the endpoint's address in its place.
  if (host !== '') list.push(':authority', host);
  const grpcTimeoutMs = http2?.grpcTimeoutMs ?? null;
  let at = 0;
  while (at < lines.length) {
    const colon = lines.indexOf(':', at);
    const end = lines.indexOf('\r\n', colon);
    const name = lines.substring(at, colon).toLowerCase();
    if (!NOT_IN_HTTP2.has(name)) {
      const isTimeout = grpcTimeoutMs !== null && name === 'grpc-timeout';
      list.push(name, isTimeout ? formatGrpcTimeout(grpcTimeoutMs) : trimBlanks(lines.substring(colon + 1, end)));
    }
    at = end + 2;
  }
  if (http2?.takesTrailers === true) list.push('te', 'trailers');
  return list;
}

/** Head and trailers of one response. */
export class ReceivedHead {
  readonly head = new ResponseHead(RESPONSE_HEAD_LIMITS);
  readonly trailers = new FieldTable(MAX_TRAILER_FIELDS);

  /** Reads the names and values of a header section; `isWhole` when no content follows. */
  readHead(list: readonly string[], method: string, isWhole: boolean): Violation | null {
    const { head } = this;
    const [status, lines, count] = readList(list);
    const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n`;
    const broken = head.parse(text, text.length, method);
    if (broken !== null || head.framing.kind !== 'close') return broken ?? checked(head.fields, count);
    if (!isWhole) {
      head.framing = CHUNKED;
      return checked(head.fields, count);
    }
    // An HTTP/1.1 client has to be told that nothing follows, an HTTP/2 one gets the end with the head again.
    const told = `${text.substring(0, text.length - 2)}content-length: 0\r\n\r\n`;
    return head.parse(told, told.length, method) ?? checked(head.fields, count + 1);
  }

  readTrailers(list: readonly string[]): Violation | null {
    const [, lines, count] = readList(list);
    return this.trailers.parse(lines, 0, lines.length) ?? checked(this.trailers, count);
  }
}

const CHUNKED: Framing = { kind: 'chunked' };

/** How many are kept for the next responses. */
const MAX_FREE = 64;

/** Heads that serve response after response: each is large. */
export class HeadStore {
  readonly #free: ReceivedHead[] = [];

  take(): ReceivedHead {
    return this.#free.pop() ?? new ReceivedHead();
  }

  give(head: ReceivedHead): void {
    if (this.#free.length < MAX_FREE) this.#free.push(head);
  }
}

function readList(list: readonly string[]): [status: string, lines: string, count: number] {
  let status = '';
  let lines = '';
  let count = 0;
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? '';
    const value = list[at + 1] ?? '';
    if (name === ':status') {
      status = value;
    } else {
      lines += `${name}: ${value}\r\n`;
      count++;
    }
  }
  return [status, lines, count];
}

/** More lines than fields: a value had a line end. */
function checked(fields: FieldTable, count: number): Violation | null {
  return fields.count === count ? null : 'bare line end';
}
