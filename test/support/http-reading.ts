// Reads whole streams of messages with the codec, as a connection would, from pieces of any size.
import { connectionOptions } from '../../gateway/http1/connection-options.ts';
import { ContentReader } from '../../gateway/http1/content-reader.ts';
import { FIELD } from '../../gateway/http1/field-id.ts';
import type { FieldTable } from '../../gateway/http1/field-table.ts';
import type { Framing } from '../../gateway/http1/framing.ts';
import type { HeadLimits } from '../../gateway/http1/head-limits.ts';
import { HeadReader } from '../../gateway/http1/head-reader.ts';
import { RequestHead } from '../../gateway/http1/request-head.ts';
import { ResponseHead } from '../../gateway/http1/response-head.ts';
import type { Violation } from '../../gateway/http1/violation.ts';

export interface ReadMessage {
  /** Method, target and version, or version, status and reason. */
  readonly line: string;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  readonly framing: Framing['kind'];
  readonly content: string;
  readonly trailers: readonly string[];
  readonly isComplete: boolean;
  /** Where in the stream the message ends; 0 while it is not complete. */
  readonly end: number;
}

export interface Reading {
  /** All whose head was accepted; only the last can be incomplete. */
  readonly messages: readonly ReadMessage[];
  readonly refusal: Violation | null;
  /** Why what follows the last message was not read: it is no message of this connection. */
  readonly stop: 'close' | 'upgrade' | 'connect' | 'final' | null;
}

export const READING_LIMITS: HeadLimits = { firstLineBytes: 8192, fieldsBytes: 32_768, fieldCount: 100 };

/** What a parser says about a head that it accepts. */
interface Head {
  readonly line: string;
  readonly fields: FieldTable;
  readonly framing: Framing;
  readonly stop: Reading['stop'];
}

type Parse = (text: string) => Head | Violation;

/** Reads requests until one ends the connection, turns it into something else or breaks a rule. */
export function readRequests(pieces: readonly Buffer[], limits = READING_LIMITS): Reading {
  const head = new RequestHead(limits);
  const parse = (text: string): Head | Violation => {
    const broken = head.parse(text, text.length);
    if (broken !== null) return broken;
    const { fields, framing, method, target, minor } = head;
    return { line: `${method} ${target} 1.${minor}`, fields, framing, stop: stopAfter(head) };
  };
  return read(new StreamReader(new HeadReader(limits, 'request'), parse), pieces);
}

/** Reads the answer to a request with `method`: interim responses and the final one, up to the end of the connection. */
export function readResponse(pieces: readonly Buffer[], method: string, limits = READING_LIMITS): Reading {
  const head = new ResponseHead(limits);
  const parse = (text: string): Head | Violation => {
    const broken = head.parse(text, text.length, method);
    if (broken !== null) return broken;
    const { fields, framing, status, reason, minor } = head;
    const stop = status === 101 ? 'upgrade' : status < 200 ? null : 'final';
    return { line: `1.${minor} ${status} ${reason}`, fields, framing, stop };
  };
  return read(new StreamReader(new HeadReader(limits, 'response'), parse), pieces);
}

/** Names and values in turn, as `rawHeaders` of Node has them. */
export function rawFields(fields: FieldTable): string[] {
  return Array.from({ length: fields.count }, (_, field) => [fields.name(field), fields.value(field)]).flat();
}

function stopAfter({ fields, minor, method }: RequestHead): Reading['stop'] {
  if (method === 'CONNECT') return 'connect';
  const { isPersistent, isUpgrade } = connectionOptions(fields, minor);
  if (isUpgrade && fields.find(FIELD.upgrade) !== -1) return 'upgrade';
  return isPersistent ? null : 'close';
}

function read(reader: StreamReader, pieces: readonly Buffer[]): Reading {
  for (const piece of pieces) reader.feed(piece);
  reader.end();
  return reader.reading();
}

type OpenMessage = { -readonly [key in keyof ReadMessage]: ReadMessage[key] };

class StreamReader {
  readonly #head: HeadReader;
  readonly #parse: Parse;
  readonly #content = new ContentReader();
  readonly #messages: OpenMessage[] = [];
  /** The message whose content is being read. */
  #message: OpenMessage | undefined;
  #refusal: Violation | null = null;
  /** What ends the reading with the message that is being read. */
  #stopNext: Reading['stop'] = null;
  #stop: Reading['stop'] = null;
  /** Where in the stream the piece at hand begins. */
  #pieceStart = 0;

  constructor(head: HeadReader, parse: Parse) {
    this.#head = head;
    this.#parse = parse;
  }

  reading(): Reading {
    const messages = this.#messages.map((each) => ({ ...each }));
    return { messages, refusal: this.#refusal, stop: this.#stop };
  }

  feed(piece: Buffer): void {
    let at = 0;
    while (at < piece.length && this.#refusal === null && this.#stop === null) {
      const end = this.#message === undefined ? this.#readHead(piece, at) : this.#readContent(this.#message, piece, at);
      if (typeof end === 'string') this.#refusal = end;
      else at = end;
    }
    this.#pieceStart += piece.length;
  }

  /** The end of the connection is the end of what it delimits. */
  end(): void {
    if (this.#message !== undefined && this.#content.endsWithConnection) this.#complete(this.#message, 0);
  }

  #readHead(piece: Buffer, at: number): number | Violation {
    const end = this.#head.feed(piece.subarray(at));
    if (typeof end === 'string') return end;
    if (end === 0) return piece.length;
    const head = this.#parse(this.#head.text);
    if (typeof head === 'string') return head;
    this.#begin(head, at + end);
    return at + end;
  }

  #begin({ line, fields, framing, stop }: Head, at: number): void {
    const raw = rawFields(fields);
    const { kind } = framing;
    this.#message = { line, fields: raw, framing: kind, content: '', trailers: [], isComplete: false, end: 0 };
    this.#messages.push(this.#message);
    this.#stopNext = stop;
    this.#content.begin(framing);
    // Behind these, nothing on the connection is HTTP any more.
    if (stop === 'connect' || (stop === 'upgrade' && line.startsWith('1.'))) this.#stop = stop;
    else if (this.#content.isWhole) this.#complete(this.#message, at);
  }

  #readContent(message: OpenMessage, piece: Buffer, at: number): number | Violation {
    const into = {
      onContent(octets: Buffer): void {
        message.content += octets.toString('latin1');
      },
    };
    const end = this.#content.feed(piece, at, into);
    if (typeof end === 'string' || !this.#content.isWhole) return end;
    const { trailers } = this.#content;
    if (trailers !== undefined) message.trailers = rawFields(trailers);
    this.#complete(message, end);
    return end;
  }

  #complete(message: OpenMessage, at: number): void {
    message.isComplete = true;
    message.end = this.#pieceStart + at;
    this.#message = undefined;
    this.#stop = this.#stopNext;
  }
}
