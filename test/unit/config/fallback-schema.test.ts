// The `fallback` section of a route: what each key accepts, and what it refuses.
import { describe, expect, it } from 'vitest';
import { checkRoute, problemLines, valid } from './checking.ts';

const RESPOND = { kind: 'respond', status: 503, contentType: 'text/plain; charset=utf-8', file: null };

describe('accepted values', () => {
  it('a chain of anything, in its order', () => {
    const text = 'fallback: { chain: [{ stale: {} }, { upstream: [http://a, "http://[::1]:81/"] }, { respond: {} }] }';
    expect(valid(checkRoute(`service: a\n${text}`)).fallback).toEqual({
      on: ['empty', 'unreachable', 'breaker'],
      chain: [
        { kind: 'stale', maxAgeMs: 600_000 },
        {
          kind: 'upstream',
          origins: [
            { host: 'a', port: 80 },
            { host: '::1', port: 81 },
          ],
        },
        { ...RESPOND, content: new Uint8Array() },
      ],
    });
  });

  it.each([
    ['fallback: { on: [empty], chain: [{ respond: {} }] }', ['fallback', 'on'], ['empty']],
    [
      'fallback: { on: [status-5xx, breaker], chain: [{ respond: {} }] }',
      ['fallback', 'on'],
      ['status-5xx', 'breaker'],
    ],
    ['fallback: { chain: [{ stale: { maxAge: 24h } }] }', ['fallback', 'chain', 0, 'maxAgeMs'], 86_400_000],
    [
      'fallback: { chain: [{ respond: { body: not supported yet } }] }',
      ['fallback', 'chain', 0, 'content'],
      new TextEncoder().encode('not supported yet'),
    ],
    [
      'fallback: { chain: [{ respond: { body: "ä€" } }] }',
      ['fallback', 'chain', 0, 'content'],
      Uint8Array.of(0xc3, 0xa4, 0xe2, 0x82, 0xac),
    ],
    ['fallback: { chain: [{ respond: { status: 204 } }] }', ['fallback', 'chain', 0, 'status'], 204],
    ['fallback: { chain: [{ respond: { status: 204, body: "" } }] }', ['fallback', 'chain', 0, 'status'], 204],
    [
      'fallback: { chain: [{ respond: { file: pages/sorry.html, contentType: text/html } }] }',
      ['fallback', 'chain', 0],
      { ...RESPOND, contentType: 'text/html', content: new Uint8Array(), file: 'pages/sorry.html' },
    ],
  ])('%s', (text, path, value) => {
    expect(valid(checkRoute(`service: a\n${text}`))).toHaveProperty(path, value);
  });
});

describe('refused values, each with its place and what was expected', () => {
  const links = 'expected a list of links, each with stale, upstream or respond, not empty';
  const notOne = '2:21 fallback.chain[0]: not one link of a chain, expected one of stale, upstream and respond';
  const reasons = 'empty, unreachable, breaker';

  it.each([
    ['fallback: {}', `2:1 fallback.chain: missing, ${links}`],
    ['fallback: { chain: [] }', `2:20 fallback.chain: empty, ${links}`],
    [
      'fallback: { on: [], chain: [{ respond: {} }] }',
      `2:17 fallback.on: empty, expected a list of ${reasons}, status-5xx, not empty`,
    ],
    [
      'fallback: { on: [full], chain: [{ respond: {} }] }',
      `2:18 fallback.on[0]: unknown value, expected ${reasons} or status-5xx`,
    ],
    ['fallback: { chain: [{}] }', notOne],
    ['fallback: { chain: [{ upstream: [http://a], respond: {} }] }', notOne],
    ['fallback: { chain: [{ stale: {}, respond: {} }] }', notOne],
    [
      'fallback: { chain: [{ upstream: [] }] }',
      '2:33 fallback.chain[0].upstream: empty, expected a list of URLs like http://127.0.0.1:8000, not empty',
    ],
    [
      'fallback: { chain: [{ upstream: ["http://a/x"] }] }',
      '2:34 fallback.chain[0].upstream[0]: not valid, expected a URL like http://127.0.0.1:8000, without path',
    ],
    [
      'fallback: { chain: [{ stale: { maxAge: 577h } }] }',
      '2:40 fallback.chain[0].stale.maxAge: out of range, expected 1ms to 576h',
    ],
    [
      'fallback: { chain: [{ stale: { maxAge: 10 } }] }',
      '2:40 fallback.chain[0].stale.maxAge: wrong type (a number), expected a duration like 5s or 250ms',
    ],
    [
      'fallback: { chain: [{ stale: off }] }',
      '2:30 fallback.chain[0].stale: wrong type (text), expected a mapping with maxAge',
    ],
    ['fallback: { chain: [{ stale: { age: 10m } }] }', '2:32 fallback.chain[0].stale.age: unknown key'],
    [
      'fallback: { chain: [{ respond: { body: a, file: b } }] }',
      '2:49 fallback.chain[0].respond.file: both body and file, expected one of them',
    ],
    [
      'fallback: { chain: [{ respond: { body: "", file: b } }] }',
      '2:50 fallback.chain[0].respond.file: both body and file, expected one of them',
    ],
    [
      'fallback: { chain: [{ respond: { file: "" } }] }',
      '2:40 fallback.chain[0].respond.file: not valid, expected a file, relative to the route file',
    ],
    [
      'fallback: { chain: [{ respond: { status: 204, body: x } }] }',
      '2:53 fallback.chain[0].respond.body: a response with status 204 has no body',
    ],
    [
      'fallback: { chain: [{ respond: { status: 304, file: x } }] }',
      '2:53 fallback.chain[0].respond.file: a response with status 304 has no body',
    ],
    [
      'fallback: { chain: [{ respond: { status: 600 } }] }',
      '2:42 fallback.chain[0].respond.status: out of range, expected a status from 200 to 599',
    ],
    [
      'fallback: { chain: [{ respond: { contentType: "a\\nb" } }] }',
      '2:47 fallback.chain[0].respond.contentType: not valid, expected text (numbers in quotes) without control characters or outer spaces',
    ],
  ])('%s', (text, problem) => {
    expect(problemLines(checkRoute(`service: a\n${text}`))).toEqual([`r.yaml:${problem}`]);
  });
});
