import { describe, expect, it } from 'vitest';
import { ChunkedDecoder } from '../../../gateway/http1/chunked-decoder.ts';
import { CONTROLS, decode, decodeLine, OCTETS, octetOf } from './parsing.ts';

const DONE = { content: 'abc', trailers: undefined, isDone: true, rest: 0, violation: null };

describe('a chunk size', () => {
  it.each(['3', '03', '000000000003'])('%s is three', (size) => expect(decodeLine(size)).toEqual(DONE));

  it.each([
    ['a', 10],
    ['A', 10],
    ['1f', 31],
    ['1F', 31],
    ['fF', 255],
    ['0010', 16],
    ['10000', 65_536],
  ])('%s is %d in any case', (size, octets) => {
    const content = 'x'.repeat(octets);
    expect(decode(`${size}\r\n${content}\r\n0\r\n\r\n`)).toEqual({ ...DONE, content });
  });

  it.each(['0', '00', '000000000000'])('%s ends the content', (size) => {
    expect(decode(`${size}\r\n\r\n`)).toEqual({ ...DONE, content: '' });
  });

  const MALFORMED = [
    '3zz',
    '0x3',
    '+3',
    '-1',
    '',
    ' ',
    '3 ',
    ' 3',
    '3\t',
    '\t3',
    '3 ;a',
    '3\t;a',
    '3 3',
    '3,3',
    '3.0',
    'x',
  ];

  it.each([...MALFORMED, '3\x00', '3\x7f', '3\x0b', '3\xa0', '\xb23', '3h', '3G', 'g', '"3"', '3=', '0x', '0-', '3\\'])(
    '%j is none (case 150)',
    (size) => expect(decodeLine(size)).toMatchObject({ content: '', isDone: false, violation: 'malformed chunk size' }),
  );

  it('has twelve digits at most, so that none is too large to count', () => {
    expect(decodeLine('0000000000003').violation).toBe('malformed chunk size');
    expect(decodeLine('FFFFFFFFFFFFFFFFF').violation).toBe('malformed chunk size');
    expect(decodeLine('ffffffffffff')).toMatchObject({ content: 'abc\r\n0\r\n\r\n', isDone: false, violation: null });
  });

  it('ends at CRLF, a semicolon or not at all: every octet behind it is judged', () => {
    const accepted = OCTETS.filter((octet) => decode(`3${octetOf(octet)}`).violation === null);
    const digits = [...'0123456789ABCDEFabcdef'].map((digit) => digit.charCodeAt(0));
    expect(accepted).toEqual([0x0d, ...digits, 0x3b].sort((one, other) => one - other));
  });
});

describe('a chunk line', () => {
  it.each([
    ['3\nabc\r\n0\r\n\r\n', 'bare line end'],
    ['3\rabc\r\n0\r\n\r\n', 'bare line end'],
    ['3\r\r\nabc\r\n0\r\n\r\n', 'bare line end'],
    ['3;a\nb\r\nabc\r\n0\r\n\r\n', 'bare line end'],
    ['3;a\n\r\nabc\r\n0\r\n\r\n', 'bare line end'],
    ['3;a="\n"\r\nabc\r\n0\r\n\r\n', 'bare line end'],
    ['3;\nabc\r\n0\r\n\r\n', 'bare line end'],
    ['3;a\rb\r\nabc\r\n0\r\n\r\n', 'bare line end'],
    ['3;a="\r\n"\r\nabc\r\n0\r\n\r\n', 'malformed chunk extension'],
    ['3\r\nabc\n0\r\n\r\n', 'malformed chunk'],
    ['3\r\nabc\r0\r\n\r\n', 'malformed chunk'],
    ['3\r\nabc0\r\n\r\n', 'malformed chunk'],
    ['3\r\nabcd\r\n0\r\n\r\n', 'malformed chunk'],
    ['3\r\nab\r\n0\r\n\r\n', 'malformed chunk'],
    ['3\r\nabc\r\n\r\n', 'malformed chunk size'],
    ['0\n\r\n', 'bare line end'],
    ['0\r\n\n', 'bare line end'],
    ['\r\n3\r\nabc\r\n0\r\n\r\n', 'malformed chunk size'],
    ['\n', 'malformed chunk size'],
  ])('in %j is refused (case 151)', (stream, violation) => {
    expect(decode(stream)).toMatchObject({ isDone: false, violation });
  });

  it.each(['3;foo=bar', '3;a', '3; a = "b c"', '3;a;b=c', '3;a="\\"";b'])(
    '%j is read without its extension (case 151)',
    (line) => {
      expect(decodeLine(line)).toEqual(DONE);
    },
  );

  it.each(['3;', '3;;', '3;=', '3;a=', '3;a b', '3;a="', '3;a\x00', '3;a\x7f', '3;\xe9', '3;a '])(
    '%j has a malformed extension',
    (line) => {
      expect(decodeLine(line).violation).toBe('malformed chunk extension');
    },
  );

  it('may have an extension of 4 KiB and not one octet more', () => {
    expect(decodeLine(`3;${'a'.repeat(4096)}`)).toEqual(DONE);
    expect(decodeLine(`3;${'a'.repeat(4097)}`).violation).toBe('chunk extension too long');
    expect(decode('3;', Buffer.alloc(1_048_576, 'a')).violation).toBe('chunk extension too long');
  });

  it('has the whole of the limit for its extension again in the next chunk, the last one too', () => {
    const line = `1;${'a'.repeat(3000)}\r\nx\r\n`;
    expect(decode(line.repeat(3), `0;${'a'.repeat(3000)}\r\n\r\n`)).toEqual({ ...DONE, content: 'xxx' });
  });
});

describe('chunks', () => {
  it('are joined, whatever they hold', () => {
    const content = OCTETS.map(octetOf).join('');
    expect(decode(`100\r\n${content}\r\n7\r\n\r\n0\r\n\r\n\r\n1\r\nx\r\n0\r\n\r\n`)).toEqual({
      ...DONE,
      content: `${content}\r\n0\r\n\r\nx`,
    });
  });

  it.each([
    '',
    '3',
    '3\r',
    '3\r\n',
    '3\r\nab',
    '3\r\nabc',
    '3\r\nabc\r',
    '3\r\nabc\r\n',
    '3\r\nabc\r\n0',
    '0\r\n',
    '0\r\n\r',
  ])('that break off as %j are not done', (stream) =>
    expect(decode(stream)).toMatchObject({ isDone: false, violation: null }),
  );

  it('leave what follows the message alone', () => {
    expect(decode('3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\n')).toEqual({ ...DONE, rest: 16 });
    expect(decode('0\r\nA: b\r\n\r\n\r\n\r\n')).toMatchObject({ isDone: true, rest: 4 });
  });

  it('begin where the piece is said to begin', () => {
    const decoder = new ChunkedDecoder();
    const piece = Buffer.from('POST\r\n\r\n1\r\nx\r\n0\r\n\r\nGET');
    expect(decoder.feed(piece, 8, { onContent: () => undefined })).toBe(piece.length - 3);
    expect(decoder.isDone).toBe(true);
  });

  it('of the next message are read after a reset, whatever became of the last', () => {
    const decoder = new ChunkedDecoder();
    const read: string[] = [];
    const feed = (text: string) =>
      decoder.feed(Buffer.from(text), 0, { onContent: (octets) => read.push(octets.toString()) });
    for (const stream of ['0\r\nA: b\r\n\r\n', '3;a="', '3\r\na', 'ff', '3zz', '0\r\nA', '0\r\nA\n', '0\r\n\r', 'x']) {
      feed(stream);
      decoder.reset();
      expect([decoder.isDone, decoder.trailers]).toEqual([false, undefined]);
      read.length = 0;
      expect([feed('3;a\r\nabc\r\n0\r\n\r\n'), decoder.isDone, decoder.trailers, read]).toEqual([
        15,
        true,
        undefined,
        ['abc'],
      ]);
      decoder.reset();
    }
  });

  it('give views of the piece, not copies', () => {
    const piece = Buffer.from('3\r\nabc\r\n');
    new ChunkedDecoder().feed(piece, 0, { onContent: (octets) => octets.fill(0x78) });
    expect(piece.toString()).toBe('3\r\nxxx\r\n');
  });
});

describe('trailers', () => {
  const decodeTrailers = (lines: string) => decode(`3\r\nabc\r\n0\r\n${lines}`);

  it('are fields like others, in their order and case (case 40)', () => {
    expect(decodeTrailers('X-Sum: abc\r\nx-late:\t1 \r\nX-Sum: caf\xe9\r\n\r\nGET')).toEqual({
      ...DONE,
      trailers: [
        ['X-Sum', 'abc'],
        ['x-late', '1'],
        ['X-Sum', 'caf\xe9'],
      ],
      rest: 3,
    });
  });

  it.each([
    ['A: b\n\r\n', 'bare line end'],
    ['A: b\r\n\n', 'bare line end'],
    ['A: b\n\n', 'bare line end'],
    ['\n', 'bare line end'],
    ['\r\rA: b\r\n\r\n', 'bare line end'],
    ['A: b\rC: d\r\n\r\n', 'bare line end'],
    ['A: b\r\r\n\r\n', 'bare line end'],
    ['A\nB: c\r\n\r\n', 'bare line end'],
    ['A: b\r\nC: d\ne\r\n\r\n', 'bare line end'],
    [' A: b\r\n\r\n', 'folded line'],
    ['A: b\r\n c\r\n\r\n', 'folded line'],
    ['A : b\r\n\r\n', 'space before colon'],
    ['A\r\n\r\n', 'malformed field name'],
    [': b\r\n\r\n', 'malformed field name'],
    ['GET / HTTP/1.1\r\n\r\n', 'space before colon'],
    ['A: b\x00\r\n\r\n', 'control octet in a field value'],
    ['A\x00: b\r\n\r\n', 'malformed field name'],
  ])('like %j are refused (case 151)', (lines, violation) => {
    expect(decodeTrailers(lines)).toMatchObject({ isDone: false, trailers: undefined, violation });
  });

  it('may not have a control octet anywhere', () => {
    const lines = 'Ab: c d\r\n\r\n';
    for (let at = 0; at < lines.length - 1; at++) {
      const accepted = CONTROLS.filter((octet) => {
        return decodeTrailers(lines.slice(0, at) + octetOf(octet) + lines.slice(at)).isDone;
      });
      expect([at, accepted]).toEqual([at, at >= 3 && at <= 7 ? [0x09] : []]);
    }
  });

  it('may have 16 KiB with their empty line and not one octet more, however they arrive', () => {
    for (const [length, violation] of [
      [16_384, null],
      [16_385, 'trailer section too large'],
    ] as const) {
      const lines = `A: ${'b'.repeat(length - 7)}\r\n\r\n`;
      expect(lines).toHaveLength(length);
      for (const cut of [0, 1, 8000, 16_000, length - 4, length - 3, length - 2, length - 1]) {
        const pieces = ['0\r\n', lines.slice(0, cut), lines.slice(cut)].filter((piece) => piece !== '');
        expect([cut, decode(...pieces).violation]).toEqual([cut, violation]);
      }
    }
  });

  it('that do not end are refused at the limit', () => {
    expect(decode(`0\r\n${'A: b\r\n'.repeat(3000)}`).violation).toBe('trailer section too large');
    expect(decode('0\r\n', ...Array<string>(3000).fill('A: b\r\n')).violation).toBe('trailer section too large');
  });

  it('may be 64 and not one more', () => {
    expect(decodeTrailers(`${'A: b\r\n'.repeat(64)}\r\n`).trailers).toHaveLength(64);
    expect(decodeTrailers(`${'A: b\r\n'.repeat(65)}\r\n`).violation).toBe('too many fields');
  });
});
