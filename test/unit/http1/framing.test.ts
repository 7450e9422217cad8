import { describe, expect, it } from 'vitest';
import { type Framing, requestFraming, responseFraming } from '../../../gateway/http1/framing.ts';
import type { Violation } from '../../../gateway/http1/violation.ts';
import { framingOf, tableOf } from './parsing.ts';

const BOTH = 'content length and transfer encoding';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

describe('the content length of a message', () => {
  it.each([
    ['0', 0],
    ['3', 3],
    ['007', 7],
    ['\t3 ', 3],
    ['123456789', 123_456_789],
    ['999999999999999', 999_999_999_999_999],
    ['000000000000003', 3],
  ])('%j is a number', (value, length) => {
    expect(framingOf(`Content-Length: ${value}\r\n`)).toEqual({ kind: 'length', length });
  });

  const MALFORMED = [
    ['', '+3', '-1', '-0', '0x3', '3abc', 'abc', '3 3', '3\t3', '3,3', '3,4', '3, 3', ',3', '3,', '3;', '3.0', '1e1'],
    ['\xb2', '\xa03', '3\xa0', '"3"', '1_0', 'Infinity', 'NaN', '1000000000000000', '0000000000000003', '9'.repeat(20)],
    ['9'.repeat(400)],
  ].flat();

  it.each(MALFORMED)('%j is none, alone, repeated or together with chunked (case 148)', (value) => {
    const line = `Content-Length: ${value}\r\n`;
    const faults = [line, `${line}${CHUNKED}`, `${CHUNKED}${line}`, `${line}Content-Length: 3\r\n`].map((lines) =>
      framingOf(lines),
    );
    expect(faults).toEqual(Array(4).fill('malformed content length'));
    expect(framingOf(`Content-Length: 3\r\n${line}`)).toBe('repeated content length');
  });

  it.each([
    ['3', '3'],
    ['3', '4'],
    ['0', '0'],
    ['3', '03'],
  ])('may not be said twice: %s and %s (case 148)', (one, two) => {
    expect(framingOf(`Content-Length: ${one}\r\ncontent-length: ${two}\r\n`)).toBe('repeated content length');
    expect(framingOf(`Content-Length: ${one}\r\nA: b\r\nCONTENT-LENGTH: ${two}\r\n`)).toBe('repeated content length');
  });

  it('is another field with an underscore, and then means nothing', () => {
    expect(framingOf('Content_Length: 3\r\n')).toEqual({ kind: 'none' });
  });
});

describe('the transfer encoding of a message', () => {
  it.each(['chunked', 'Chunked', 'CHUNKED', 'chunked\t', ' \tchunked'])('%j is the chunked coding', (value) => {
    expect(framingOf(`Transfer-Encoding: ${value}\r\n`)).toEqual({ kind: 'chunked' });
  });

  const OBFUSCATED = [
    ['', 'chunked,', ',chunked', ', chunked', '"chunked"', "'chunked'", 'chunked;a=b', 'chunked ;', 'x chunked'],
    ['chunked x', 'chunked, identity', 'chunked, chunked', 'chunked,chunked', 'chunked, gzip, chunked', 'identity'],
    ['gzip', 'chunked, gzip', 'chun ked', 'chunkedd', 'chunke', '\xa0chunked', 'chunked\xa0', 'gzip, \xa0chunked', 'c'],
    ['chunked\\', '[chunked]', 'chunke\xe4', ',', ',,', 'gzip,, chunked', '(a), chunked', 'gzip;q=1 a, chunked'],
  ].flat();

  it.each(OBFUSCATED)('%j does not end in chunked, or says too much (case 145)', (value) => {
    const fault = 'transfer encoding does not end in chunked';
    expect(framingOf(`Transfer-Encoding: ${value}\r\n`)).toBe(fault);
    for (const lines of [
      `Transfer-Encoding: ${value}\r\nContent-Length: 3\r\n`,
      `Content-Length: 3\r\nTransfer-Encoding: ${value}\r\n`,
    ]) {
      expect(framingOf(lines)).toBe(BOTH);
    }
  });

  it.each(['gzip, chunked', 'gzip,chunked', 'GZIP ,\tChunked', 'identity, chunked', 'x_y, gzip, chunked'])(
    '%j is a coding that Weir does not know',
    (value) => {
      expect(framingOf(`Transfer-Encoding: ${value}\r\n`)).toBe('unknown transfer coding');
    },
  );

  it('is one list over all its lines (case 145)', () => {
    const lines = (...values: string[]) => values.map((value) => `Transfer-Encoding: ${value}\r\n`).join('');
    const fault = 'transfer encoding does not end in chunked';
    expect(framingOf(lines('chunked', 'chunked'))).toBe(fault);
    expect(framingOf(lines('chunked', 'identity'))).toBe(fault);
    expect(framingOf(lines('chunked', ''))).toBe(fault);
    expect(framingOf(lines('', 'chunked'))).toBe(fault);
    expect(framingOf(lines('gzip', 'chunked'))).toBe('unknown transfer coding');
  });

  it('with a length is refused in both orders (case 144)', () => {
    const faults = ['Content-Length: 4\r\n', 'Content-Length: 0\r\n'].flatMap((line) => [
      framingOf(line + CHUNKED),
      framingOf(CHUNKED + line),
      framingOf(`${line}A: b\r\n${CHUNKED}`),
    ]);
    expect(faults).toEqual(Array(6).fill(BOTH));
  });

  it('is refused in HTTP/1.0, with and without a length (case 147)', () => {
    expect(framingOf(CHUNKED, 0)).toBe('transfer encoding in HTTP/1.0');
    expect(framingOf('Transfer-Encoding: identity\r\n', 0)).toBe('transfer encoding in HTTP/1.0');
    expect(framingOf(`Content-Length: 50\r\n${CHUNKED}`, 0)).toBe(BOTH);
  });

  it('is another field with an underscore, and then means nothing (case 145)', () => {
    expect(framingOf('Transfer_Encoding: chunked\r\n')).toEqual({ kind: 'none' });
    expect(framingOf('Transfer_Encoding: chunked\r\nContent-Length: 3\r\n')).toEqual({ kind: 'length', length: 3 });
  });

  it('of many thousand codings is refused without much ado', () => {
    expect(framingOf(`Transfer-Encoding: ${','.repeat(30_000)}chunked\r\n`)).toMatch(/^transfer encoding/);
    expect(framingOf(`Transfer-Encoding: a${' '.repeat(30_000)}a, chunked\r\n`)).toMatch(/^transfer encoding/);
  });
});

describe('the framing of a request', () => {
  it.each([0, 1])('without length and encoding has no content in HTTP/1.%d', (minor) => {
    expect(requestFraming(tableOf('Host: a\r\n'), minor)).toEqual({ kind: 'none' });
    expect(requestFraming(tableOf('Content-Length: 2\r\n'), minor)).toEqual({ kind: 'length', length: 2 });
  });
});

describe('the framing of a response', () => {
  const LENGTH = 'Content-Length: 5\r\n';
  type Expected = Framing | Violation;

  /** What the lines declare, by themselves; undefined when nothing. */
  const DECLARATIONS: readonly (readonly [
    lines: string,
    inHttp11: Expected | undefined,
    inHttp10: Expected | undefined,
  ])[] = [
    ['', undefined, undefined],
    [LENGTH, { kind: 'length', length: 5 }, { kind: 'length', length: 5 }],
    [CHUNKED, { kind: 'chunked' }, 'transfer encoding in HTTP/1.0'],
    [`${LENGTH}${CHUNKED}`, BOTH, BOTH],
    [`${CHUNKED}${LENGTH}`, BOTH, BOTH],
    [`${LENGTH}${LENGTH}`, 'repeated content length', 'repeated content length'],
    ['Content-Length: x\r\n', 'malformed content length', 'malformed content length'],
    ['Transfer-Encoding: gzip\r\n', 'transfer encoding does not end in chunked', 'transfer encoding in HTTP/1.0'],
    ['Transfer-Encoding: gzip, chunked\r\n', 'unknown transfer coding', 'transfer encoding in HTTP/1.0'],
  ];
  const STATUSES = [100, 102, 103, 199, 200, 201, 203, 204, 205, 206, 301, 304, 400, 404, 500, 503, 999];
  const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE', 'head', 'HEADS'];

  it('follows from method, status, version, length and encoding in every combination (cases 9, 10, 39)', () => {
    for (const [lines, inHttp11, inHttp10] of DECLARATIONS) {
      const fields = tableOf(lines);
      for (const [minor, declared] of [inHttp10, inHttp11].entries()) {
        for (const status of STATUSES) {
          for (const method of METHODS) {
            const hasNone = method === 'HEAD' || status < 200 || status === 204 || status === 304;
            const isBroken = typeof declared === 'string';
            const expected = isBroken ? declared : hasNone ? { kind: 'none' } : (declared ?? { kind: 'close' });
            const name = `${method} ${status} HTTP/1.${minor} ${lines}`;
            expect([name, responseFraming(fields, { minor, status, method })]).toEqual([name, expected]);
          }
        }
      }
    }
  });
});
