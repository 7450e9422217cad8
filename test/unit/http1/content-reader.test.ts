import { describe, expect, it } from 'vitest';
import { ContentReader } from '../../../gateway/http1/content-reader.ts';
import type { Framing } from '../../../gateway/http1/framing.ts';
import { pairsOf } from './parsing.ts';

function feedAll(reader: ContentReader, framing: Framing, pieces: readonly string[]) {
  const content: string[] = [];
  reader.begin(framing);
  const into = { onContent: (octets: Buffer) => content.push(octets.toString('latin1')) };
  const ends = pieces.map((piece) => reader.feed(Buffer.from(piece, 'latin1'), 0, into));
  return { ends, content: content.join(''), isWhole: reader.isWhole };
}

const CHUNKED: Framing = { kind: 'chunked' };

describe('content', () => {
  it.each<readonly [Framing, readonly string[], ReturnType<typeof feedAll>]>([
    [{ kind: 'none' }, [], { ends: [], content: '', isWhole: true }],
    [{ kind: 'none' }, ['abc'], { ends: [0], content: '', isWhole: true }],
    [{ kind: 'length', length: 0 }, ['abc'], { ends: [0], content: '', isWhole: true }],
    [{ kind: 'length', length: 3 }, [], { ends: [], content: '', isWhole: false }],
    [{ kind: 'length', length: 3 }, ['ab'], { ends: [2], content: 'ab', isWhole: false }],
    [{ kind: 'length', length: 3 }, ['abcd'], { ends: [3], content: 'abc', isWhole: true }],
    [{ kind: 'length', length: 3 }, ['ab', '', 'cd'], { ends: [2, 0, 1], content: 'abc', isWhole: true }],
    [{ kind: 'close' }, ['ab', 'cd'], { ends: [2, 2], content: 'abcd', isWhole: false }],
    [CHUNKED, [], { ends: [], content: '', isWhole: false }],
    [CHUNKED, ['3\r\nab', 'c\r\n0\r\n\r\nx'], { ends: [5, 8], content: 'abc', isWhole: true }],
    [CHUNKED, ['3zz\r\n'], { ends: ['malformed chunk size'], content: '', isWhole: false }],
  ])('framed as %j ends where it says: %j', (framing, pieces, read) => {
    expect(feedAll(new ContentReader(), framing, pieces)).toEqual(read);
  });

  it('begins where the piece is said to begin', () => {
    const reader = new ContentReader();
    const content: string[] = [];
    const feed = (text: string, start: number) =>
      reader.feed(Buffer.from(text), start, { onContent: (octets) => content.push(octets.toString()) });
    reader.begin({ kind: 'length', length: 4 });
    expect([feed('xxab', 2), feed('xcdyy', 1), content, reader.isWhole]).toEqual([4, 3, ['ab', 'cd'], true]);
    reader.begin(CHUNKED);
    expect([feed('xx0\r\n\r\ny', 2), reader.isWhole]).toEqual([7, true]);
  });

  it('ends with the connection only where nothing else ends it', () => {
    const reader = new ContentReader();
    const framings: Framing[] = [{ kind: 'none' }, { kind: 'length', length: 9 }, CHUNKED, { kind: 'close' }, CHUNKED];
    const ends = framings.map((framing) => {
      reader.begin(framing);
      return reader.endsWithConnection;
    });
    expect(ends).toEqual([false, false, false, true, false]);
  });

  it('has the trailers of its own message and of no other', () => {
    const reader = new ContentReader();
    feedAll(reader, CHUNKED, ['0\r\nA: b\r\n\r\n']);
    expect(reader.trailers === undefined ? [] : pairsOf(reader.trailers)).toEqual([['A', 'b']]);
    for (const framing of [{ kind: 'length', length: 1 }, { kind: 'none' }, { kind: 'close' }, CHUNKED] as const) {
      reader.begin(framing);
      expect([framing.kind, reader.trailers]).toEqual([framing.kind, undefined]);
    }
  });

  it('of one message does not reach into the next, though it broke off', () => {
    const reader = new ContentReader();
    feedAll(reader, CHUNKED, ['ff\r\nabc']);
    expect(feedAll(reader, CHUNKED, ['1\r\nx\r\n0\r\n\r\n'])).toEqual({ ends: [11], content: 'x', isWhole: true });
    feedAll(reader, { kind: 'close' }, ['abc']);
    expect(feedAll(reader, { kind: 'none' }, ['abc'])).toEqual({ ends: [0], content: '', isWhole: true });
  });
});
