// What V8 still knows of the request path after a lull in which it has collected.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../support/lull-process.ts', import.meta.url));
const LIMIT_MS = 25_000;
const FLAGS = ['--trace-opt', '--trace-deopt'];
const COMPILED = /^\[completed (?:compiling|optimizing) .*?<JSFunction ([^ ]+) /gm;
const FORGOTTEN = /SharedFunctionInfo ([^>]+)>.* for deoptimization, reason: embedded weak objects cleared/g;

/** Functions of the request path, each of which makes or is given what lives no longer than a request. */
const OF_ALL = ['Attempts', 'Lease', 'Relay', 'Transaction', 'acquire', 'headArrived'];
const HTTP1_CLIENTS = ['#readHead', '#readRequest', 'ClientExchange', 'exchangeEnded', 'writeText'];
const HTTP2_CLIENTS = ['Http2Exchange', '#takeHead'];
const UPLOADS = ['IncomingContent', 'attach', 'onContent'];
const HTTP1_ENDPOINTS = ['Http1Call', 'onHead'];
const HTTP2_ENDPOINTS = ['Http2Call', 'assign'];

describe('after a lull without a request the code of the request path is as it was', () => {
  it.each([
    ['for HTTP/1.1', ['http:http'], [...HTTP1_CLIENTS, ...HTTP1_ENDPOINTS]],
    ['for HTTP/1.1 where the last client spoke HTTP/2', ['http:http', 'h2c:http'], HTTP1_CLIENTS],
    ['for HTTP/2 where the last client spoke HTTP/1.1', ['h2c:http', 'http:http'], HTTP2_CLIENTS],
    ['for uploads where the last request had no content', ['put:http', 'http:http'], UPLOADS],
    ['for HTTP/1.1 where the last endpoint spoke HTTP/2', ['http:http', 'http:h2c'], HTTP1_ENDPOINTS],
    ['for HTTP/2 where the last endpoint spoke HTTP/1.1', ['http:h2c', 'http:http'], HTTP2_ENDPOINTS],
  ])('%s', async (_what, pairs, functions) => {
    const args = [...FLAGS, SCRIPT, ...pairs];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26, timeout: LIMIT_MS });
    const [before = '', ...after] = stdout.split(/^lull$/m);
    const compiled = new Set(before.matchAll(COMPILED).map(([, name]) => name));
    const forgotten = new Set(
      after
        .join()
        .matchAll(FORGOTTEN)
        .map(([, name]) => name),
    );
    const expected = [...OF_ALL, ...functions];
    expect(after).toHaveLength(pairs.length);
    // Something always is: the words are still those of V8.
    expect(forgotten.size).toBeGreaterThan(0);
    expect(expected.filter((name) => !compiled.has(name))).toEqual([]);
    expect(expected.filter((name) => forgotten.has(name))).toEqual([]);
  });
});
