import { describe, expect, it } from 'vitest';
import { RequestHead } from '../../../gateway/http1/request-head.ts';
import { CONTROLS, judgeRequest, LIMITS, OCTETS, octetOf, pairsOf, requestFault, TOKEN } from './parsing.ts';

/** What comes of a request with that first line. */
function judgeLine(line: string) {
  const head = judgeRequest(`${line}\r\nHost: a\r\n\r\n`);
  return typeof head === 'string' ? head : [head.method, head.target, head.minor];
}

function acceptedIn(line: (octet: string) => string): number[] {
  return OCTETS.filter((octet) => typeof judgeLine(line(octetOf(octet))) !== 'string');
}

const NO_CONTROL = OCTETS.filter((octet) => octet !== 0x20 && !CONTROLS.includes(octet));

describe('a method', () => {
  it('is made of token octets; every other octet in it is refused', () => {
    const token = [...TOKEN].map((octet) => octet.charCodeAt(0)).sort((one, other) => one - other);
    expect(acceptedIn((octet) => `G${octet}T / HTTP/1.1`)).toEqual(token);
    expect(acceptedIn((octet) => `${octet}GET / HTTP/1.1`)).toEqual(token);
    expect(acceptedIn((octet) => `GET${octet} / HTTP/1.1`)).toEqual(token);
  });

  it.each(['GET', 'get', 'M-SEARCH', 'BREW', 'X', '!', 'CONNECT', 'A'.repeat(100)])('may be %s', (method) => {
    expect(judgeLine(`${method} / HTTP/1.1`)).toEqual([method, '/', 1]);
  });
});

describe('a target', () => {
  it('holds every octet that is no control, no space and no #, and keeps it (cases 30, 34)', () => {
    const allowed = NO_CONTROL.filter((octet) => octet !== 0x23);
    expect(acceptedIn((octet) => `GET /a${octet}b HTTP/1.1`)).toEqual(allowed);
    expect(acceptedIn((octet) => `GET ${octet} HTTP/1.1`)).toEqual(allowed);
    const target = `/${allowed.map(octetOf).join('')}`;
    expect(judgeLine(`GET ${target} HTTP/1.1`)).toEqual(['GET', target, 1]);
  });

  it.each([
    '*',
    '/',
    '//bad?e=a@b',
    '//@',
    '/?',
    '?a=1',
    '/:@%00',
    '/a%20b/%2e%2e/%2F/%C3%A9?q=%26',
    '/%zz',
    '/%',
    'http://a/b?c',
    '/\\evil/x',
    'a:443',
  ])('is passed on as %j came (cases 33, 34, 157)', (target) => {
    expect(judgeLine(`GET ${target} HTTP/1.1`)).toEqual(['GET', target, 1]);
  });
});

describe('a request line', () => {
  it.each([
    ['GET / HTTP/1.1', 1],
    ['GET / HTTP/1.0', 0],
  ])('%j has its version', (line, minor) => expect(judgeLine(line)).toEqual(['GET', '/', minor]));

  it.each([
    ['', 'malformed request line'],
    ['GET', 'malformed request line'],
    ['GET ', 'malformed request line'],
    ['GET /', 'malformed request line'],
    ['GET / ', 'unknown version'],
    ['GET  HTTP/1.1', 'malformed request line'],
    ['GET  / HTTP/1.1', 'malformed request line'],
    ['GET /  HTTP/1.1', 'unknown version'],
    ['GET / HTTP/1.1 ', 'malformed request line'],
    ['GET / HTTP/1.1\t', 'malformed request line'],
    [' GET / HTTP/1.1', 'malformed request line'],
    ['\tGET / HTTP/1.1', 'malformed request line'],
    ['GET\t/ HTTP/1.1', 'malformed request line'],
    ['GET /\tHTTP/1.1', 'malformed request line'],
    ['GET / a HTTP/1.1', 'unknown version'],
    ['GET /a b HTTP/1.1', 'unknown version'],
    ['GET / HTTP/1.1 HTTP/1.1', 'malformed request line'],
    ['GET / HTTP/0.9', 'unknown version'],
    ['GET / HTTP/2.0', 'unknown version'],
    ['GET / HTTP/1.2', 'unknown version'],
    ['GET / HTTP/1.9', 'unknown version'],
    ['GET / HTTP/1.', 'unknown version'],
    ['GET / HTTP/1', 'unknown version'],
    ['GET / HTTP/2', 'unknown version'],
    ['GET / HTTP/', 'unknown version'],
    ['GET / HTTP', 'unknown version'],
    ['GET / H', 'unknown version'],
    ['GET / http/1.1', 'unknown version'],
    ['GET / HTTP/1,1', 'unknown version'],
    ['GET / HTTP /1.1', 'unknown version'],
    ['GET / HTTP/01.1', 'unknown version'],
    ['GET / HTTP/1.01', 'malformed request line'],
    ['GET / HTTP/1.10', 'malformed request line'],
    ['GET / HTTP/1.1x', 'malformed request line'],
    ['GET / ICE/1.1', 'unknown version'],
    ['GET / HTTPS/1.1', 'unknown version'],
    ['PRI * HTTP/2.0', 'unknown version'],
    ['HTTP/1.1 200 OK', 'malformed request line'],
    ['\x16\x03\x01\x02\x00\x01', 'malformed request line'],
  ])('%j is refused', (line, fault) => expect(judgeLine(line)).toBe(fault));

  it.each([
    'GET\n/ HTTP/1.1',
    'GET\r/ HTTP/1.1',
    'GET /\n HTTP/1.1',
    'GET /\r HTTP/1.1',
    'GET / HTTP/1.1\n',
    'GET / HTTP/1.1\r',
    'GET / HTTP/1.1\nX: 1',
    'GET / HTTP/1.1\rX: 1',
    '\nGET / HTTP/1.1',
    '\rGET / HTTP/1.1',
    'GET\n',
    'GET /\n',
  ])('%j has a bare line end', (line) => expect(judgeLine(line)).toBe('bare line end'));

  it('may not have a control octet anywhere', () => {
    const line = 'GET /a HTTP/1.1';
    for (let at = 0; at <= line.length; at++) {
      const accepted = CONTROLS.filter((octet) => {
        return typeof judgeLine(line.slice(0, at) + octetOf(octet) + line.slice(at)) !== 'string';
      });
      expect([at, accepted]).toEqual([at, []]);
    }
  });

  it('may have the length of the limit and not one more', () => {
    const line = `GET /${'a'.repeat(86)} HTTP/1.1`;
    expect(line).toHaveLength(100);
    const text = `${line}\r\nHost: a\r\n\r\n`;
    expect(requestFault(text, { ...LIMITS, firstLineBytes: 100 })).toBeNull();
    expect(requestFault(text, { ...LIMITS, firstLineBytes: 99 })).toBe('request line too long');
  });
});

describe('the fields of a request', () => {
  it('may have the size of the limit and not one more', () => {
    const fields = `Host: a\r\nX: ${'a'.repeat(86)}\r\n`;
    expect(fields).toHaveLength(100);
    const text = `GET / HTTP/1.1\r\n${fields}\r\n`;
    expect(requestFault(text, { ...LIMITS, fieldsBytes: 100 })).toBeNull();
    expect(requestFault(text, { ...LIMITS, fieldsBytes: 99 })).toBe('head too large');
  });

  it('may be as many as the limit and not one more', () => {
    const text = `GET / HTTP/1.1\r\nHost: a\r\n${'X: 1\r\n'.repeat(9)}\r\n`;
    expect(requestFault(text, { ...LIMITS, fieldCount: 10 })).toBeNull();
    expect(requestFault(text, { ...LIMITS, fieldCount: 9 })).toBe('too many fields');
  });

  it.each([
    [' Host: a\r\n', 'folded line'],
    ['Host : a\r\n', 'space before colon'],
    ['Host: a\r\n b\r\n', 'folded line'],
    ['Host: a\nX: 1\r\n', 'bare line end'],
    ['Host: a\x00\r\n', 'control octet in a field value'],
    ['Ho\x00st: a\r\n', 'malformed field name'],
  ])('%j are refused (case 153)', (lines, fault) =>
    expect(requestFault(`GET /x HTTP/1.1\r\n${lines}\r\n`)).toBe(fault),
  );

  it('end with the head, whatever follows', () => {
    const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const request = new RequestHead(LIMITS);
    expect(request.parse(`${head}X: 1\r\n\r\n`, head.length)).toBeNull();
    expect(pairsOf(request.fields)).toEqual([['Host', 'a']]);
  });
});

describe('the Host of a request', () => {
  const judgeHost = (lines: string, minor = 1) => {
    const head = judgeRequest(`GET / HTTP/1.${minor}\r\n${lines}\r\n`);
    return typeof head === 'string' ? head : head.host;
  };

  it.each([
    ['', 1, 'missing host'],
    ['A: b\r\n', 1, 'missing host'],
    ['Hosts: a\r\n', 1, 'missing host'],
    ['Host: a\r\nHost: b\r\n', 1, 'repeated host'],
    ['Host: a\r\nhost: a\r\n', 1, 'repeated host'],
    ['Host: a\r\nB: c\r\nHOST: a\r\n', 1, 'repeated host'],
    ['Host:\r\nHost:\r\n', 1, 'repeated host'],
    ['Host: a\r\nHost: b\r\n', 0, 'repeated host'],
  ])('in %j of HTTP/1.%d is refused (case 159)', (lines, minor, fault) => expect(judgeHost(lines, minor)).toBe(fault));

  it.each([
    ['Host: a\r\n', 1, 'a'],
    ['B: c\r\nhOsT:\ta:80 \r\n', 1, 'a:80'],
    ['Host:\r\n', 1, ''],
    ['Host: a\r\n', 0, 'a'],
    ['', 0, ''],
    ['B: c\r\n', 0, ''],
  ])('in %j of HTTP/1.%d is %3$j', (lines, minor, host) => expect(judgeHost(lines, minor)).toBe(host));
});

describe('a parser of request heads', () => {
  it('forgets one request with the next, refused ones too', () => {
    const head = new RequestHead(LIMITS);
    const parse = (text: string) => head.parse(text, text.length);
    expect(parse('POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n')).toBeNull();
    expect(head.framing).toEqual({ kind: 'length', length: 3 });
    expect(parse('POST /b HTTP/1.1\r\nHost: b\r\nContent-Length: x\r\n\r\n')).toBe('malformed content length');
    expect(parse('GET /c HTTP/1.0\r\n\r\n')).toBeNull();
    expect([head.method, head.target, head.minor, head.host, head.framing, head.fields.count]).toEqual([
      'GET',
      '/c',
      0,
      '',
      { kind: 'none' },
      0,
    ]);
  });
});
