import { describe, expect, it } from 'vitest';
import { HeadReader } from '../../../gateway/http1/head-reader.ts';
import { LIMITS } from './parsing.ts';

const HEAD = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** Feeds the pieces and says for each what came of it, with the text behind the last. */
function feedAll(pieces: readonly string[], of: 'request' | 'response' = 'request', limits = LIMITS) {
  const reader = new HeadReader(limits, of);
  const ends = pieces.map((piece) => reader.feed(Buffer.from(piece, 'latin1')));
  return { ends, text: reader.text, isUnfinished: reader.isUnfinished };
}

describe('a head in one piece', () => {
  it('ends behind its empty line, whatever follows', () => {
    const whole = { ends: [HEAD.length], text: HEAD, isUnfinished: false };
    expect(feedAll([HEAD])).toEqual(whole);
    expect(feedAll([`${HEAD}${HEAD}`])).toEqual(whole);
    expect(feedAll([`${HEAD}\xff\x00`])).toEqual(whole);
  });

  it('keeps its octets', () => {
    const head = 'GET /\xe9 HTTP/1.1\r\nHost: \xff\r\n\r\n';
    expect(feedAll([head]).text).toBe(head);
  });
});

describe('a head in two pieces', () => {
  it('ends at the same octet, wherever it is cut', () => {
    for (let cut = 1; cut < HEAD.length; cut++) {
      const { ends, text, isUnfinished } = feedAll([HEAD.slice(0, cut), `${HEAD.slice(cut)}more`]);
      expect([cut, ends, text, isUnfinished]).toEqual([cut, [0, HEAD.length - cut], HEAD, false]);
    }
  });

  it('is unfinished after the first', () => {
    expect(feedAll(['GET'])).toEqual({ ends: [0], text: 'GET', isUnfinished: true });
    expect(feedAll([''])).toEqual({ ends: [0], text: '', isUnfinished: false });
  });

  it('is refused with the first if that breaks a rule already', () => {
    expect(feedAll(['GET / HTTP/1.1\n']).ends).toEqual(['bare line end']);
    expect(feedAll(['GET', ' / HTTP/1.1\n']).ends).toEqual([0, 'bare line end']);
    expect(feedAll(['x'.repeat(8193)]).ends).toEqual(['request line too long']);
    expect(feedAll([HEAD.slice(0, -2), 'X: 1'.repeat(9000)]).ends).toEqual([0, 'head too large']);
  });
});

describe('empty lines', () => {
  it('in front of a request are left out, wherever they are cut', () => {
    const stream = `\r\n\r\n${HEAD}`;
    expect(feedAll([stream])).toEqual({ ends: [stream.length], text: HEAD, isUnfinished: false });
    for (let cut = 1; cut < stream.length; cut++) {
      const { ends, text } = feedAll([stream.slice(0, cut), stream.slice(cut)]);
      expect([cut, ends, text]).toEqual([cut, [0, stream.length - cut], HEAD]);
    }
  });

  it('alone begin no request, but half of one may be the beginning of anything', () => {
    expect(feedAll(['\r\n\r\n'])).toEqual({ ends: [0], text: '', isUnfinished: false });
    expect(feedAll(['\r\n\r'])).toEqual({ ends: [0], text: '\r', isUnfinished: true });
    expect(feedAll(['\r', '\n'])).toEqual({ ends: [0, 0], text: '', isUnfinished: false });
  });

  it('in front of a response belong to it, and it is refused for them', () => {
    expect(feedAll(['\r\n\r\n'], 'response')).toEqual({ ends: [4], text: '\r\n\r\n', isUnfinished: false });
    expect(feedAll(['\r\nHTTP/1.1 200\r\n\r\n'], 'response').text).toBe('\r\nHTTP/1.1 200\r\n\r\n');
  });
});

describe('a reader of heads', () => {
  it('reads head after head', () => {
    const reader = new HeadReader(LIMITS, 'request');
    const feed = (text: string) => [reader.feed(Buffer.from(text)), reader.text];
    expect(feed(HEAD)).toEqual([HEAD.length, HEAD]);
    expect(feed('\r\nGET')).toEqual([0, 'GET']);
    expect(feed(' /a HTTP/1.0\r\n\r\n')).toEqual([16, 'GET /a HTTP/1.0\r\n\r\n']);
    expect(feed(HEAD)).toEqual([HEAD.length, HEAD]);
  });
});
