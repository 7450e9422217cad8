import { describe, expect, it } from 'vitest';
import { findHeadEnd, judgeUnfinished, leadingEmptyLines } from '../../../gateway/http1/head-search.ts';
import { LIMITS, requestFault, responseFault } from './parsing.ts';

const SMALL = { firstLineBytes: 20, fieldsBytes: 30, fieldCount: 5 };

describe('the end of a head', () => {
  it('is behind the first empty line', () => {
    const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    expect(findHeadEnd(`${head}GET / HTTP/1.1\r\n\r\n`, 0)).toBe(head.length);
    expect(findHeadEnd('GET / HTTP/1.0\r\n\r\n', 0)).toBe(18);
  });

  it.each([
    '',
    'GET / HTTP/1.1\r\nHost: a\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\n\r',
    'GET / HTTP/1.1\n\n',
    'GET / HTTP/1.1\r\n\n',
    'GET / HTTP/1.1\n\r\n',
    'GET / HTTP/1.1\r\r',
    '\r\n\n\r\n\r',
  ])('is not in %j', (text) => expect(findHeadEnd(text, 0)).toBe(0));

  it('is found when it is split over pieces anywhere', () => {
    const text = 'GET / HTTP/1.1\r\nHost: a\r\n\r\nmore';
    const end = text.indexOf('more');
    for (let known = 0; known < end; known++) {
      expect(findHeadEnd(text.slice(0, known), 0)).toBe(0);
      expect(findHeadEnd(text, known)).toBe(end);
    }
  });
});

describe('a head that is not whole', () => {
  it('may still become a good one at every octet of a good one', () => {
    const text = 'GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n\r\n';
    for (let length = 0; length < text.length; length++) {
      expect(judgeUnfinished(text.slice(0, length), LIMITS)).toBeNull();
    }
  });

  it.each([
    '\n',
    'GET / HTTP/1.1\n',
    'GET / HTTP/1.1\nHost: a\r\n',
    'GET / HTTP/1.1\r\nHost: a\n',
    'GET / HTTP/1.1\r\nHost: a\r\nX: 1\n2',
    'GET / HTTP/1.1\r\n\n',
    'GET / HTTP/1.1\r\nHost: a\r\n\n\r',
  ])('is refused for the bare line feed in %j', (text) => {
    expect(judgeUnfinished(text, LIMITS)).toBe('bare line end');
  });

  it('is refused as soon as its first line is longer than the limit, but not at the limit', () => {
    const line = 'GET /12345 HTTP/1.1';
    const atLimit = { ...SMALL, firstLineBytes: line.length };
    const oneOver = { ...SMALL, firstLineBytes: line.length - 1 };
    for (const text of [line, `${line}\r`, `${line}\r\n`, `${line}\r\nHost: a\r\n`]) {
      expect([text, judgeUnfinished(text, atLimit)]).toEqual([text, null]);
      expect([text, judgeUnfinished(text, oneOver)]).toEqual([text, 'request line too long']);
    }
    expect(requestFault(`${line}\r\nHost: a\r\n\r\n`, atLimit)).toBeNull();
    expect(requestFault(`${line}\r\nHost: a\r\n\r\n`, oneOver)).toBe('request line too long');
  });

  it('is refused as soon as its fields are larger than the limit, but not at the limit', () => {
    const line = 'GET / HTTP/1.1\r\n';
    const fields = 'Host: a\r\nX-A: 12345\r\n';
    const atLimit = { ...SMALL, fieldsBytes: fields.length };
    const oneOver = { ...SMALL, fieldsBytes: fields.length - 1 };
    for (const end of ['', '\r']) {
      expect(judgeUnfinished(`${line}${fields}${end}`, atLimit)).toBeNull();
      expect(judgeUnfinished(`${line}${fields}${end}`, oneOver)).toBe('head too large');
    }
    expect(judgeUnfinished(`${line}${fields}X`, atLimit)).toBe('head too large');
    expect(requestFault(`${line}${fields}\r\n`, atLimit)).toBeNull();
    expect(requestFault(`${line}${fields}\r\n`, oneOver)).toBe('head too large');
  });

  it('of a response keeps the same limits', () => {
    const [line, fields] = ['HTTP/1.1 200 Alright\r\n', 'A: 12345\r\n'];
    const atLimit = { firstLineBytes: line.length - 2, fieldsBytes: fields.length, fieldCount: 5 };
    expect(judgeUnfinished(`${line}${fields}\r`, atLimit)).toBeNull();
    expect(responseFault(`${line}${fields}\r\n`, atLimit)).toBeNull();
    for (const oneOver of [
      { ...atLimit, firstLineBytes: atLimit.firstLineBytes - 1 },
      { ...atLimit, fieldsBytes: atLimit.fieldsBytes - 1 },
    ]) {
      expect(judgeUnfinished(`${line}${fields}\r`, oneOver)).not.toBeNull();
      expect(responseFault(`${line}${fields}\r\n`, oneOver)).toBe('head too large');
    }
  });

  it('of the first line alone is bounded, however it arrives', () => {
    expect(judgeUnfinished('x'.repeat(21), SMALL)).toBe('request line too long');
    expect(judgeUnfinished('\r'.repeat(22), SMALL)).toBe('request line too long');
    expect(judgeUnfinished('x'.repeat(20), SMALL)).toBeNull();
  });
});

describe('empty lines in front of a request', () => {
  it.each([
    ['', 0],
    ['GET', 0],
    ['\r\nGET', 2],
    ['\r\n\r\n\r\nGET', 6],
    ['\r\n', 2],
    ['\r', 0],
    ['\r\n\r', 2],
    ['\n\r\nGET', 0],
    ['\r\rGET', 0],
    [' \r\nGET', 0],
    ['GET\r\n', 0],
  ])('%j: %d octets', (text, octets) => expect(leadingEmptyLines(text)).toBe(octets));
});
