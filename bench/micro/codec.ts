// What the codec costs: nanoseconds for a head, megabytes a second of chunk decoding.
import { ChunkedDecoder } from '../../gateway/http1/chunked-decoder.ts';
import type { HeadLimits } from '../../gateway/http1/head-limits.ts';
import { findHeadEnd } from '../../gateway/http1/head-search.ts';
import { RequestHead } from '../../gateway/http1/request-head.ts';
import { ResponseHead } from '../../gateway/http1/response-head.ts';
import { cpuMs, keep, type Row } from './row.ts';

const LIMITS: HeadLimits = { firstLineBytes: 8192, fieldsBytes: 32_768, fieldCount: 100 };
/** So many that each row takes some tenths of a second a round. */
const HEADS = 200_000;
const CHUNKS = 1_000_000;
const PIECE_BYTES = 65_536;
const MEGABYTE = 1e6;

/** What a browser sends for a page of a shop: 12 fields. */
const REQUEST = [
  'GET /orders/2024-11-29/items?page=2&sort=date HTTP/1.1',
  'Host: shop.example.com',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language: en-GB,en;q=0.7,de;q=0.3',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Referer: https://shop.example.com/orders',
  'Connection: keep-alive',
  'Cookie: session=3f2a9c11d8e74b0c8f51; theme=dark; basket=17',
  'Upgrade-Insecure-Requests: 1',
  'Sec-Fetch-Dest: document',
  'Sec-Fetch-Mode: navigate',
  'Sec-Fetch-Site: same-origin',
  '',
  '',
].join('\r\n');

const RESPONSE = [
  'HTTP/1.1 200 OK',
  'Content-Type: application/json; charset=utf-8',
  'Content-Length: 132',
  'Date: Fri, 29 Nov 2024 10:00:00 GMT',
  'Connection: keep-alive',
  'Keep-Alive: timeout=5',
  '',
  '',
].join('\r\n');

export const CODEC_ROWS: readonly Row[] = [
  { what: `request head, 12 fields, ${REQUEST.length} bytes`, unit: 'ns', measure: requestParser(false) },
  { what: 'the same from a buffer, with the search of its end', unit: 'ns', measure: requestParser(true) },
  { what: `response head, 5 fields, ${RESPONSE.length} bytes`, unit: 'ns', measure: parseResponses },
  { what: 'chunk decoding, chunks of 64 bytes', unit: 'MB/s', measure: chunkDecoder(64) },
  { what: 'chunk decoding, chunks of 1 KiB', unit: 'MB/s', measure: chunkDecoder(1024) },
  { what: 'chunk decoding, chunks of 16 KiB', unit: 'MB/s', measure: chunkDecoder(16_384) },
];

function requestParser(isFromBuffer: boolean): () => number {
  const head = new RequestHead(LIMITS);
  const octets = Buffer.from(REQUEST, 'latin1');
  return () => {
    let sum = 0;
    const startMs = cpuMs();
    for (let at = 0; at < HEADS; at++) {
      const text = isFromBuffer ? octets.toString('latin1') : REQUEST;
      const broken = head.parse(text, isFromBuffer ? findHeadEnd(text, 0) : text.length);
      if (broken !== null) throw new Error(broken);
      sum += head.fields.count + head.target.length;
    }
    keep(sum);
    return ((cpuMs() - startMs) * 1e6) / HEADS;
  };
}

function parseResponses(): number {
  const head = new ResponseHead(LIMITS);
  let sum = 0;
  const startMs = cpuMs();
  for (let at = 0; at < HEADS; at++) {
    const broken = head.parse(RESPONSE, RESPONSE.length, 'GET');
    if (broken !== null) throw new Error(broken);
    sum += head.fields.count + head.status;
  }
  keep(sum);
  return ((cpuMs() - startMs) * 1e6) / HEADS;
}

/** Decodes pieces as a socket delivers them; content is given away as views, so that large chunks cost next to nothing. */
function chunkDecoder(chunkBytes: number): () => number {
  const decoder = new ChunkedDecoder();
  const chunk = `${chunkBytes.toString(16)}\r\n${'x'.repeat(chunkBytes)}\r\n`;
  const chunksInPiece = Math.ceil(PIECE_BYTES / chunk.length);
  const piece = Buffer.from(chunk.repeat(chunksInPiece), 'latin1');
  let decoded = 0;
  const into = {
    onContent(octets: Buffer): void {
      decoded += octets.length;
    },
  };
  return () => {
    const pieces = Math.ceil(CHUNKS / chunksInPiece);
    const startMs = cpuMs();
    for (let at = 0; at < pieces; at++) {
      const end = decoder.feed(piece, 0, into);
      if (end !== piece.length) throw new Error(`stopped: ${end}`);
    }
    keep(decoded);
    return (pieces * piece.length) / MEGABYTE / ((cpuMs() - startMs) / 1000);
  };
}
