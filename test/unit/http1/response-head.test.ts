import { describe, expect, it } from 'vitest';
import { ResponseHead } from '../../../gateway/http1/response-head.ts';
import { CONTROLS, judgeResponse, LIMITS, OCTETS, octetOf, pairsOf, responseFault } from './parsing.ts';

function judgeLine(line: string) {
  const head = judgeResponse(`${line}\r\nA: b\r\n\r\n`);
  return typeof head === 'string' ? head : [head.minor, head.status, head.reason];
}

describe('a status line', () => {
  it('has a status from 100 to 999 and no other', () => {
    const numbers = Array.from({ length: 1001 }, (_, status) => status);
    const accepted = numbers.filter((status) => Array.isArray(judgeLine(`HTTP/1.1 ${status} X`)));
    expect(accepted).toEqual(numbers.filter((status) => status >= 100 && status <= 999));
    expect(accepted.map((status) => judgeLine(`HTTP/1.1 ${status} X`))).toEqual(accepted.map((each) => [1, each, 'X']));
  });

  it.each([
    ['HTTP/1.1 200 OK', [1, 200, 'OK']],
    ['HTTP/1.0 404 Not Found', [0, 404, 'Not Found']],
    ['HTTP/1.1 200 ', [1, 200, '']],
    ['HTTP/1.1 200', [1, 200, '']],
    ['HTTP/1.1 200  two  spaces ', [1, 200, ' two  spaces ']],
    ['HTTP/1.1 200 caf\xe9\t\xff', [1, 200, 'caf\xe9\t\xff']],
    ['HTTP/1.1 200 200', [1, 200, '200']],
  ])('%j is read', (line, read) => expect(judgeLine(line)).toEqual(read));

  it.each([
    ['', 'unknown version'],
    ['NOT HTTP', 'unknown version'],
    ['HTTP', 'unknown version'],
    ['HTTP/1.', 'unknown version'],
    ['HTTP/2.0 200 OK', 'unknown version'],
    ['HTTP/2 200 OK', 'unknown version'],
    ['HTTP/0.9 200 OK', 'unknown version'],
    ['HTTP/1.2 200 OK', 'unknown version'],
    ['http/1.1 200 OK', 'unknown version'],
    ['ICY 200 OK', 'unknown version'],
    [' HTTP/1.1 200 OK', 'unknown version'],
    ['\r\nHTTP/1.1 200 OK', 'unknown version'],
    ['HTTP/1.1', 'malformed status line'],
    ['HTTP/1.1 ', 'malformed status line'],
    ['HTTP/1.1 99', 'malformed status line'],
    ['HTTP/1.1 99 X', 'malformed status line'],
    ['HTTP/1.1 099 X', 'malformed status line'],
    ['HTTP/1.1 000 X', 'malformed status line'],
    ['HTTP/1.1 1000', 'malformed status line'],
    ['HTTP/1.1 1000 X', 'malformed status line'],
    ['HTTP/1.1 20', 'malformed status line'],
    ['HTTP/1.1 2', 'malformed status line'],
    ['HTTP/1.1 2x0 OK', 'malformed status line'],
    ['HTTP/1.1 +20 OK', 'malformed status line'],
    ['HTTP/1.1 -20 OK', 'malformed status line'],
    ['HTTP/1.1 2e2 OK', 'malformed status line'],
    ['HTTP/1.1  200 OK', 'malformed status line'],
    ['HTTP/1.1\t200 OK', 'malformed status line'],
    ['HTTP/1.1 200\tOK', 'malformed status line'],
    ['HTTP/1.1 200OK', 'malformed status line'],
    ['HTTP/1.10 200 OK', 'malformed status line'],
    ['HTTP/1.1200 OK', 'malformed status line'],
    ['HTTP/1.1 OK', 'malformed status line'],
    ['HTTP/1.1 \xb200 OK', 'malformed status line'],
    ['HTTP/1.1 200 O\x00K', 'malformed status line'],
    ['HTTP/1.1\n200 OK', 'bare line end'],
    ['HTTP/1.1 200\nOK', 'bare line end'],
    ['HTTP/1.1 200\rOK', 'bare line end'],
    ['HTTP/1.1 200 OK\nA: b', 'bare line end'],
    ['HTTP/1.1 200 OK\rA: b', 'bare line end'],
    ['HTTP/1.1 200 OK\r', 'bare line end'],
  ])('%j is refused (case 16)', (line, fault) => expect(judgeLine(line)).toBe(fault));

  it('may not have a control octet anywhere but for a tab in the reason', () => {
    const line = 'HTTP/1.1 200 OK';
    for (let at = 0; at <= line.length; at++) {
      const accepted = CONTROLS.filter((octet) => {
        return typeof judgeLine(line.slice(0, at) + octetOf(octet) + line.slice(at)) !== 'string';
      });
      expect([at, accepted]).toEqual([at, at > 12 ? [0x09] : []]);
    }
  });

  it('has a reason of any octets that are no controls', () => {
    const octets = OCTETS.filter((octet) => octet === 0x09 || !CONTROLS.includes(octet));
    const reason = octets.map(octetOf).join('');
    expect(judgeLine(`HTTP/1.1 200 ${reason}`)).toEqual([1, 200, reason]);
  });

  it('may have the length of the limit and not one more', () => {
    const text = `HTTP/1.1 200 ${'a'.repeat(87)}\r\n\r\n`;
    expect(responseFault(text, { ...LIMITS, firstLineBytes: 100 })).toBeNull();
    expect(responseFault(text, { ...LIMITS, firstLineBytes: 99 })).toBe('head too large');
  });
});

describe('the fields of a response', () => {
  it('are kept in order, repeated and with their octets (cases 28, 30)', () => {
    const text =
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nset-cookie: b=2; Expires=Mon, 1\r\nX: \xe4\xb8\xad\r\nSet-Cookie: a=1\r\n\r\n';
    const head = judgeResponse(text);
    expect(typeof head === 'string' ? head : pairsOf(head.fields)).toEqual([
      ['Set-Cookie', 'a=1'],
      ['set-cookie', 'b=2; Expires=Mon, 1'],
      ['X', '\xe4\xb8\xad'],
      ['Set-Cookie', 'a=1'],
    ]);
  });

  it('may be none', () => {
    expect(responseFault('HTTP/1.1 200 OK\r\n\r\n')).toBeNull();
    expect(responseFault('HTTP/1.1 200\r\n\r\n')).toBeNull();
  });

  it.each([
    ['X-A: a\x01b\r\n', 'control octet in a field value'],
    ['X-A : 1\r\n', 'space before colon'],
    ['X-A: 1\r\n b\r\n', 'folded line'],
    ['X-A: 1\nX-B: 2\r\n', 'bare line end'],
    ['Content-Length: 1\r\nContent-Length: 2\r\n', 'repeated content length'],
    ['Content-Length: 1\r\nTransfer-Encoding: chunked\r\n', 'content length and transfer encoding'],
    ['Transfer-Encoding: gzip\r\n', 'transfer encoding does not end in chunked'],
  ])('%j are refused, with content or without (case 16)', (lines, fault) => {
    const heads = [200, 204, 304, 100].map((status) => `HTTP/1.1 ${status} X\r\n${lines}\r\n`);
    expect(heads.map((text) => responseFault(text))).toEqual([fault, fault, fault, fault]);
    expect(judgeResponse(heads[0] ?? '', 'HEAD')).toBe(fault);
  });

  it('keep the limits of size and number', () => {
    const text = `HTTP/1.1 200 OK\r\n${'X: 12345\r\n'.repeat(10)}\r\n`;
    expect(responseFault(text, { ...LIMITS, fieldsBytes: 100, fieldCount: 10 })).toBeNull();
    expect(responseFault(text, { ...LIMITS, fieldsBytes: 99, fieldCount: 10 })).toBe('head too large');
    expect(responseFault(text, { ...LIMITS, fieldsBytes: 100, fieldCount: 9 })).toBe('too many fields');
  });
});

describe('the framing of a response', () => {
  it.each([
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', 'GET', { kind: 'length', length: 5 }],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', 'HEAD', { kind: 'none' }],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', 'GET', { kind: 'chunked' }],
    ['HTTP/1.1 304 X\r\nTransfer-Encoding: chunked\r\n\r\n', 'GET', { kind: 'none' }],
    ['HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n', 'GET', { kind: 'none' }],
    ['HTTP/1.1 200 OK\r\n\r\n', 'GET', { kind: 'close' }],
    ['HTTP/1.0 200 OK\r\n\r\n', 'GET', { kind: 'close' }],
  ])('of %j to a %s is decided with the head (cases 9, 10, 27, 39)', (text, method, framing) => {
    const head = judgeResponse(text, method);
    expect(typeof head === 'string' ? head : head.framing).toEqual(framing);
  });

  it('is that of the last response parsed', () => {
    const head = new ResponseHead(LIMITS);
    for (const [text, kind] of [
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', 'chunked'],
      ['HTTP/1.0 204\r\n\r\n', 'none'],
      ['HTTP/1.1 200 OK\r\n\r\n', 'close'],
    ] as const) {
      expect([head.parse(text, text.length, 'GET'), head.framing.kind]).toEqual([null, kind]);
    }
  });
});
