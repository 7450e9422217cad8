// The answers that Weir makes itself (the table of SPEC section 3), as a client sees them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePorts } from '../support/free-ports.ts';
import { startTcpServer } from '../support/local-server.ts';
import { sendRaw } from '../support/send-raw.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

interface Expected {
  readonly status: number;
  readonly error: string;
  readonly retryAfter?: boolean;
  /** Outcomes of the attempts, as the access log tells them. */
  readonly attempts: readonly string[];
}

const ANSWERS: Readonly<Record<string, Expected>> = {
  '/nowhere': { status: 404, error: 'destination_not_found', attempts: [] },
  '/empty': { status: 503, error: 'destination_unavailable', retryAfter: true, attempts: [] },
  '/refused': {
    status: 502,
    error: 'connection_refused',
    attempts: ['connection_refused', 'connection_refused', 'connection_refused'],
  },
  '/silent': { status: 504, error: 'http_response_timeout', attempts: ['http_response_timeout'] },
  '/closing': { status: 502, error: 'connection_terminated', attempts: ['connection_terminated'] },
  // Not HTTP, and then the end.
  '/garbage': { status: 502, error: 'http_protocol_error', attempts: ['http_protocol_error'] },
  // Not HTTP, and then nothing more: an SSH server, say.
  '/banner': { status: 502, error: 'http_protocol_error', attempts: ['http_protocol_error'] },
};
const PATHS = Object.keys(ANSWERS);
const RESPONSE_TIMEOUT_MS = 200;
const BANNER = 'SSH-2.0-OpenSSH_9.9\r\n';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

describe('an answer of the gateway itself', () => {
  const owned = new AsyncDisposableStack();
  let weir: WeirProcess;

  beforeAll(async () => {
    const silent = owned.adopt(await startTcpServer((socket) => socket.resume()), (server) => server.stop());
    const closing = owned.adopt(await startTcpServer((socket) => socket.once('data', () => socket.end())), (server) =>
      server.stop(),
    );
    const garbage = owned.adopt(
      await startTcpServer((socket) => socket.once('data', () => socket.end(BANNER))),
      (server) => server.stop(),
    );
    const banner = owned.adopt(await startTcpServer((socket) => socket.resume().write(BANNER)), (server) =>
      server.stop(),
    );
    const dead = (await findFreePorts(4)).map((port) => `127.0.0.1:${port}`);
    const route = (name: string, endpoints: readonly unknown[], keys = {}) => {
      return [name, { service: name, endpoints, match: [{ paths: [`/${name}`] }], ...keys }];
    };
    weir = owned.adopt(
      await startWeir({
        routes: Object.fromEntries([
          route('empty', [{ address: dead[0], weight: 0 }]),
          route('refused', dead.slice(0, 3)),
          route('silent', [`127.0.0.1:${silent.port}`], { timeout: { response: `${RESPONSE_TIMEOUT_MS}ms` } }),
          route('closing', [`127.0.0.1:${closing.port}`]),
          route('garbage', [`127.0.0.1:${garbage.port}`]),
          route('banner', [`127.0.0.1:${banner.port}`], { timeout: { response: '1s' } }),
        ]),
      }),
      (gateway) => gateway.close(),
    );
  });
  afterAll(() => owned.disposeAsync());

  it.each(PATHS)('to GET %s is problem+json with status, Proxy-Status and request id', async (path) => {
    const { status, error, retryAfter = false, attempts = [] } = ANSWERS[path] ?? {};
    const answer = await weir.get(path, { headers: { 'User-Agent': `json ${path}` } });
    const { headers, body } = answer;
    expect(answer.status).toBe(status);
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(UUID),
      'proxy-status': `weir; error=${error}`,
    });
    expect(headers['retry-after']).toEqual(retryAfter ? expect.stringMatching(/^\d+$/) : undefined);
    const requestId = headers['x-request-id'];
    expect(JSON.parse(body)).toMatchObject({
      type: 'about:blank',
      status,
      requestId,
      title: expect.stringMatching(/./),
      detail: expect.stringMatching(/./),
    });

    const line = await waitFor(() => weir.accessLog().find(({ userAgent }) => userAgent === `json ${path}`), {
      limitMs: 5000,
      what: 'its line in the access log',
    });
    expect(line).toMatchObject({ status, path, requestId, bytes: Buffer.byteLength(body) });
    expect(line.attempts.map(({ outcome }) => outcome)).toEqual(attempts);
  });

  it.each(PATHS)('to a browser that asks for %s is a small page', async (path) => {
    const { status, error } = ANSWERS[path] ?? {};
    const answer = await weir.get(path, { headers: { Accept: BROWSER } });
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(Buffer.byteLength(answer.body)),
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(UUID),
      'proxy-status': `weir; error=${error}`,
    });
    expect(answer.body).toMatch(/^<!doctype html>/);
    expect(answer.body).toContain(String(status));
    expect(answer.body).toContain(answer.headers['x-request-id']);
  });

  it.each(PATHS)('to HEAD %s has the fields and no content, and the connection goes on', async (path) => {
    const head = `HEAD ${path} HTTP/1.1\r\nHost: weir.test\r\n`;
    const octets = await sendRaw(weir.port, `${head}\r\n${head}Connection: close\r\n\r\n`);
    const answers = octets.split('HTTP/1.1 ').slice(1);
    expect(answers).toHaveLength(2);
    for (const answer of answers) {
      expect(answer).toMatch(new RegExp(`^${ANSWERS[path]?.status} `));
      expect(answer).toMatch(/\r\ncontent-length: [1-9]\d*\r\n/i);
      expect(answer).toMatch(/\r\n\r\n$/);
    }
  });

  it.each(['/silent', '/closing', '/garbage', '/banner'])('to POST %s comes after one attempt', async (path) => {
    const userAgent = `post ${path}`;
    const answer = await weir.get(path, { method: 'POST', body: 'content', headers: { 'User-Agent': userAgent } });
    expect(answer.status).toBe(ANSWERS[path]?.status);
    const line = await waitFor(() => weir.accessLog().find((each) => each.userAgent === userAgent), {
      limitMs: 5000,
      what: 'its line in the access log',
    });
    expect(line.attempts).toHaveLength(1);
  });

  it('comes when the response timeout is over, and not much later', async () => {
    const startedMs = performance.now();
    await weir.get('/silent');
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThan(RESPONSE_TIMEOUT_MS - 10);
    expect(tookMs).toBeLessThan(RESPONSE_TIMEOUT_MS + 400);
  });

  it('never ejects a lone endpoint, whatever it does', async () => {
    for (const name of ['silent', 'closing', 'garbage', 'banner']) {
      const { endpoints } = await weir.service(name);
      expect(endpoints, name).toMatchObject([{ state: 'active', ejections: 0 }]);
      expect(endpoints[0]?.failures, name).toBeGreaterThan(3);
    }
  });
});
