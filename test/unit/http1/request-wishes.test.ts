import { describe, expect, it } from 'vitest';
import { expectsContinue, wantsWebSocket } from '../../../gateway/http1/request-wishes.ts';
import { judgeRequest } from './parsing.ts';

function requestOf(line: string, fields: string) {
  const head = judgeRequest(`${line}\r\nHost: a\r\n${fields}\r\n\r\n`);
  if (typeof head === 'string') throw new Error(head);
  return head;
}

describe('a request expects a 100', () => {
  it.each([
    ['POST / HTTP/1.1', 'Expect: 100-continue', true],
    ['POST / HTTP/1.1', 'expect: 100-Continue ', true],
    ['POST / HTTP/1.0', 'Expect: 100-continue', false],
    ['POST / HTTP/1.1', 'Expect: 100-continues', false],
    ['POST / HTTP/1.1', 'Expect: 100_continue', false],
    ['POST / HTTP/1.1', 'Expect:', false],
    ['POST / HTTP/1.1', 'X-Expect: 100-continue', false],
  ])('by %s with %s: %s (case 24)', (line, fields, expected) => {
    expect(expectsContinue(requestOf(line, fields))).toBe(expected);
  });
});

describe('a request wants to become a WebSocket', () => {
  it.each([
    ['GET / HTTP/1.1', 'Upgrade: websocket', true],
    ['GET / HTTP/1.1', 'upgrade: WebSocket', true],
    ['GET / HTTP/1.0', 'Upgrade: websocket', false],
    ['POST / HTTP/1.1', 'Upgrade: websocket', false],
    ['get / HTTP/1.1', 'Upgrade: websocket', false],
    ['GET / HTTP/1.1', 'Upgrade: h2c', false],
    ['GET / HTTP/1.1', 'Upgrade: websocket, h2c', false],
    ['GET / HTTP/1.1', 'Upgrade: websockets', false],
    ['GET / HTTP/1.1', 'X: websocket', false],
  ])('by %s with %s: %s (cases 55, 160)', (line, fields, expected) => {
    expect(wantsWebSocket(requestOf(line, fields))).toBe(expected);
  });
});
