// Which answers may be compressed, and what their fields say then.
import type { Coding } from '../../config/answer-schema.ts';
import { FieldTable } from '../../http1/field-table.ts';
import type { AnswerHead } from '../exchange.ts';

/** Content that is announced to be shorter stays as it is: the coding's own octets would eat up what it saves. */
export const LEAST_BYTES = 1024;

/** What the request has to do with it. */
export interface AnswerWishes {
  readonly method: string;
  /** The If-None-Match field of the request. */
  readonly ifNoneMatch: string | undefined;
  /** The coding that the client gets where there is something to compress. */
  readonly coding: Coding | null;
}

/** The field lines of an answer that may be compressed, or could be for another client. */
export interface DressedLines {
  /** Without the compression. */
  readonly plain: string;
  /** With it; null when this client gets none. */
  readonly encoded: string | null;
}

/** More fields than a head of a service and what a route adds can have. */
const MAX_FIELDS = 512;

/** One table serves answer after answer: nothing of it is used after the function that filled it. */
const fields = new FieldTable(MAX_FIELDS);

/** The lines of an answer; null for one that has nothing to do with compression, and is not touched. */
export function dressAnswer(head: AnswerHead, { method, ifNoneMatch, coding }: AnswerWishes): DressedLines | null {
  const { status, lines, framing } = head;
  if (NEVER.has(status) || fields.parse(lines, 0, lines.length) !== null) return null;
  if (status === 304) return { plain: notModifiedLines(lines, ifNoneMatch) + missingVary(), encoded: null };
  if (!isCompressible()) return null;
  const announced = framing.kind === 'length' ? framing.length : Number(fields.get('content-length') ?? Number.NaN);
  if (announced < LEAST_BYTES) return null;
  const vary = missingVary();
  const hasContent = framing.kind !== 'none' && method !== 'HEAD';
  const encoded = coding === null || !hasContent ? null : `${encodedLines()}Content-Encoding: ${coding}\r\n${vary}`;
  return { plain: lines + vary, encoded };
}

/** Trailer lines without the digests of content that the client does not get. */
export function encodedTrailers(trailers: string): string {
  if (trailers === '' || fields.parse(trailers, 0, trailers.length) !== null) return trailers;
  return linesWithout(OF_PLAIN_CONTENT);
}

/** Whether content of this media type gets shorter by compression. */
export function isCompressibleType(contentType: string): boolean {
  const semicolon = contentType.indexOf(';');
  const type = (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  if (type === 'text/event-stream' || type.startsWith('application/grpc')) return false;
  return type.startsWith('text/') || type.endsWith('+json') || type.endsWith('+xml') || COMPRESSIBLE.has(type);
}

/** They have no content, or a part of it that is counted in octets of the whole. */
const NEVER: ReadonlySet<number> = new Set([204, 205, 206]);

const COMPRESSIBLE: ReadonlySet<string> = new Set([
  ...['json', 'javascript', 'x-javascript', 'ecmascript', 'xml', 'wasm', 'x-ndjson', 'ndjson', 'jsonl', 'json-seq'].map(
    (subtype) => `application/${subtype}`,
  ),
  ...['graphql', 'yaml', 'x-yaml', 'toml', 'sql', 'rtf', 'vnd.ms-fontobject', 'x-font-ttf', 'x-font-otf'].map(
    (subtype) => `application/${subtype}`,
  ),
  ...['font/ttf', 'font/otf', 'font/sfnt', 'font/collection', 'image/bmp', 'image/x-icon', 'image/vnd.microsoft.icon'],
]);

/** Fields that say something of the octets as the service sent them. */
const OF_PLAIN_CONTENT: ReadonlySet<string> = new Set([
  ...['content-length', 'content-encoding', 'accept-ranges', 'etag'],
  ...['content-md5', 'digest', 'content-digest', 'repr-digest'],
]);

const NO_TRANSFORM = /(?:^|[\s,])no-transform(?:$|[\s,;])/i;

const NAMES_ENCODING = /(?:^|[\s,])(?:\*|accept-encoding)(?:$|[\s,])/i;

function isCompressible(): boolean {
  const coding = fields.get('content-encoding');
  if (coding !== undefined && coding.toLowerCase() !== 'identity') return false;
  if (fields.get('content-range') !== undefined) return false;
  if (NO_TRANSFORM.test(fields.get('cache-control') ?? '')) return false;
  const type = fields.get('content-type');
  return type !== undefined && isCompressibleType(type);
}

/** Caches must know that other clients get other octets. */
function missingVary(): string {
  return NAMES_ENCODING.test(fields.get('vary') ?? '') ? '' : 'Vary: Accept-Encoding\r\n';
}

/** A strong tag would promise octets that depend on the coding (RFC 9110 section 8.8.3.3). */
function encodedLines(): string {
  const tag = fields.get('etag');
  return linesWithout(OF_PLAIN_CONTENT) + (tag === undefined ? '' : `ETag: ${weak(tag)}\r\n`);
}

/** A client that was given the weak tag finds its kept answer by that only (RFC 9111 section 4.3.4). */
function notModifiedLines(lines: string, ifNoneMatch: string | undefined): string {
  const tag = fields.get('etag');
  if (tag === undefined || ifNoneMatch?.includes(`W/${tag}`) !== true) return lines;
  return `${linesWithout(TAG)}ETag: ${weak(tag)}\r\n`;
}

const TAG: ReadonlySet<string> = new Set(['etag']);

function weak(tag: string): string {
  return tag.startsWith('W/') ? tag : `W/${tag}`;
}

/** Copies runs of lines that stand next to each other as one piece. */
function linesWithout(names: ReadonlySet<string>): string {
  let lines = '';
  let runStart = 0;
  for (let field = 0; field < fields.count; field++) {
    if (!names.has(fields.name(field).toLowerCase())) continue;
    lines += fields.lines(runStart, field);
    runStart = field + 1;
  }
  return lines + fields.lines(runStart, fields.count);
}
