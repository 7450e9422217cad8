// Which answers may be compressed, and what becomes of their fields.
import { describe, expect, it } from 'vitest';
import { ERROR_ANSWERS, type ErrorSituation } from '../../../../gateway/core/errors.ts';
import type { Framing } from '../../../../gateway/http1/framing.ts';
import {
  dressAnswer,
  encodedTrailers,
  isCompressibleType,
  LEAST_BYTES,
} from '../../../../gateway/proxy/answers/compressible.ts';
import { errorAnswer } from '../../../../gateway/proxy/answers.ts';

const CHUNKED: Framing = { kind: 'chunked' };
const JSON_LINE = 'Content-Type: application/json\r\n';

interface Given {
  readonly status?: number;
  readonly lines?: string;
  readonly framing?: Framing;
  readonly method?: string;
  readonly ifNoneMatch?: string;
  readonly coding?: 'br' | null;
}

function dress({
  status = 200,
  lines = JSON_LINE,
  framing = CHUNKED,
  method = 'GET',
  ifNoneMatch,
  coding = 'br',
}: Given) {
  return dressAnswer({ status, reason: '', lines, hasDate: true, framing }, { method, ifNoneMatch, coding });
}

describe('an answer', () => {
  it.each([
    ['a media type that is compressed already', { lines: 'Content-Type: image/png\r\n' }],
    ['no media type', { lines: 'A: 1\r\n' }],
    ['events', { lines: 'Content-Type: text/event-stream; charset=utf-8\r\n' }],
    ['gRPC', { lines: 'Content-Type: application/grpc+json\r\n' }],
    ['a coding of its own', { lines: `${JSON_LINE}Content-Encoding: gzip\r\n` }],
    ['two codings of its own', { lines: `${JSON_LINE}Content-Encoding: identity, br\r\n` }],
    ['a range of the content', { status: 206 }],
    ['a range of the content, whatever its status', { lines: `${JSON_LINE}Content-Range: bytes 0-1/2\r\n` }],
    ['no-transform', { lines: `${JSON_LINE}Cache-Control: private,No-Transform\r\n` }],
    ['no-transform in a second field', { lines: `${JSON_LINE}Cache-Control: a\r\nCache-Control: no-transform\r\n` }],
    ['a short length', { framing: { kind: 'length', length: LEAST_BYTES - 1 } as const }],
    ['status 204', { status: 204, framing: { kind: 'none' } as const }],
    ['status 205', { status: 205 }],
  ])('with %s is not touched', (_what, given) => {
    expect(dress(given)).toBeNull();
  });

  it.each<[string, Given]>([
    ['chunks', {}],
    ['no framing but its end', { framing: { kind: 'close' } as const }],
    ['a length', { framing: { kind: 'length', length: LEAST_BYTES } as const }],
    ['an error', { status: 500 }],
    ['identity', { lines: `${JSON_LINE}Content-Encoding: Identity\r\n` }],
    ['a word that only begins like no-transform', { lines: `${JSON_LINE}Cache-Control: no-transformer\r\n` }],
  ])('with %s is compressed', (_what, given) => {
    expect(dress(given)?.encoded).toBe(
      `${JSON_LINE}${/Cache.*\r\n/.exec(given.lines ?? '')?.[0] ?? ''}Content-Encoding: br\r\nVary: Accept-Encoding\r\n`,
    );
  });

  it('loses what holds only for its octets as they were, and keeps all else in its order', () => {
    const lines =
      `A: 1\r\nContent-Length: 5000\r\n${JSON_LINE}Accept-Ranges: bytes\r\nContent-MD5: x\r\nB: 2\r\n` +
      'Digest: x\r\nContent-Digest: x\r\nREPR-Digest: x\r\nC: 3\r\n';
    expect(dress({ lines })?.encoded).toBe(
      `A: 1\r\n${JSON_LINE}B: 2\r\nC: 3\r\nContent-Encoding: br\r\nVary: Accept-Encoding\r\n`,
    );
  });

  it.each([
    ['"a"', 'W/"a"'],
    ['W/"a"', 'W/"a"'],
  ])('with the tag %s has the tag %s', (tag, wanted) => {
    expect(dress({ lines: `ETag: ${tag}\r\n${JSON_LINE}` })?.encoded).toContain(`\r\nETag: ${wanted}\r\n`);
    expect(dress({ lines: `ETag: ${tag}\r\n${JSON_LINE}`, coding: null })?.plain).toContain(`ETag: ${tag}\r\n`);
  });

  it('that another client would get compressed says so in Vary', () => {
    expect(dress({ coding: null })).toEqual({ plain: `${JSON_LINE}Vary: Accept-Encoding\r\n`, encoded: null });
  });

  it.each(['*', 'accept-encoding', 'Origin, Accept-Encoding', 'Accept-Encoding,Origin'])(
    'that says Vary: %s is not told again',
    (vary) => {
      const lines = `${JSON_LINE}Vary: ${vary}\r\n`;
      expect(dress({ lines })).toEqual({ plain: lines, encoded: `${lines}Content-Encoding: br\r\n` });
    },
  );

  it('that varies by something else is told', () => {
    expect(dress({ lines: `${JSON_LINE}Vary: X-Accept-Encoding\r\n` })?.plain).toBe(
      `${JSON_LINE}Vary: X-Accept-Encoding\r\nVary: Accept-Encoding\r\n`,
    );
  });

  it('to HEAD keeps its fields, and says what it varies by', () => {
    const lines = `ETag: "a"\r\nContent-Length: 5000\r\n${JSON_LINE}`;
    const given = { method: 'HEAD', framing: { kind: 'none' } as const };
    expect(dress({ ...given, lines })).toEqual({ plain: `${lines}Vary: Accept-Encoding\r\n`, encoded: null });
    expect(dress({ ...given, lines: `Content-Length: 5\r\n${JSON_LINE}` })).toBeNull();
  });

  it('304 has the weak tag for a client that has it, and the strong one for others', () => {
    const given = { status: 304, lines: 'A: 1\r\nETag: "a"\r\n', framing: { kind: 'none' } as const };
    const vary = 'Vary: Accept-Encoding\r\n';
    expect(dress({ ...given, ifNoneMatch: '"b", W/"a"' })?.plain).toBe(`A: 1\r\nETag: W/"a"\r\n${vary}`);
    expect(dress({ ...given, ifNoneMatch: '"a"' })?.plain).toBe(`A: 1\r\nETag: "a"\r\n${vary}`);
    expect(dress(given)?.plain).toBe(`A: 1\r\nETag: "a"\r\n${vary}`);
  });

  it('of Weir itself is too short to be compressed', () => {
    for (const situation of Object.keys(ERROR_ANSWERS) as ErrorSituation[]) {
      const { head } = errorAnswer(situation, 'r'.repeat(64), { accept: 'text/html' });
      expect(dress({ status: head.status, lines: head.lines, framing: head.framing })).toBeNull();
    }
  });
});

describe('a trailer section', () => {
  it('loses digests of what the client does not get', () => {
    expect(encodedTrailers('A: 1\r\nDigest: x\r\nRepr-Digest: y\r\nB: 2\r\n')).toBe('A: 1\r\nB: 2\r\n');
    expect(encodedTrailers('')).toBe('');
  });
});

describe('a media type', () => {
  it.each([
    ...['text/html; charset=utf-8', 'text/plain', 'TEXT/CSS', 'application/json', 'application/problem+json;a=b'],
    ...['image/svg+xml', 'application/xml', 'application/javascript', 'application/wasm', 'font/ttf', 'font/otf'],
    ...['application/x-ndjson', 'application/vnd.ms-fontobject'],
  ])('%s is compressed', (type) => {
    expect(isCompressibleType(type)).toBe(true);
  });

  it.each([
    ...['text/event-stream', 'application/grpc', 'application/grpc-web+json', 'image/png', 'image/jpeg', 'video/mp4'],
    ...[
      'font/woff2',
      'application/zip',
      'application/octet-stream',
      'multipart/byteranges',
      '',
      ';',
      'json',
      'xtext/a',
    ],
  ])('%s is not', (type) => {
    expect(isCompressibleType(type)).toBe(false);
  });
});
