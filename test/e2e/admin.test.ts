// The admin address is for those who may, and the public listener serves nothing of it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { send } from '../support/send.ts';
import { sendRaw } from '../support/send-raw.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const TOKEN = 'only-for-tests-4711';
const PAGES = ['/debug/upstreams', '/metrics', '/healthz', '/readyz'];

describe('the admin address', () => {
  const owned = new AsyncDisposableStack();
  let upstream: LocalServer;
  let weir: WeirProcess;

  beforeAll(async () => {
    upstream = owned.adopt(await startHttpServer((_request, response) => response.end('item')), (server) =>
      server.stop(),
    );
    weir = owned.adopt(
      await startWeir({
        routes: {
          items: { service: 'web', endpoints: [`127.0.0.1:${upstream.port}`], match: [{ paths: ['/items/*'] }] },
        },
        adminToken: TOKEN,
      }),
      (gateway) => gateway.close(),
    );
  });
  afterAll(() => owned.disposeAsync());

  it('gives its pages to those who send the token, and nothing to others', async () => {
    for (const path of ['/debug/upstreams', '/metrics']) {
      expect((await weir.admin(path)).status, path).toBe(200);
      for (const Authorization of ['', 'Bearer', `Bearer ${TOKEN}x`, `Basic ${btoa(`admin:${TOKEN}`)}`, TOKEN]) {
        const answer = await send(
          `${weir.adminUrl}${path}`,
          Authorization === '' ? {} : { headers: { Authorization } },
        );
        expect([answer.status, answer.headers['www-authenticate']], `${path} with ${Authorization}`).toEqual([
          401,
          'Bearer',
        ]);
        expect(answer.body).not.toContain('web');
      }
    }
    const restart = await send(`${weir.adminUrl}/debug/workers/1/restart?abrupt`, { method: 'POST' });
    expect(restart.status).toBe(401);
    expect((await weir.upstreams()).gateway.workers).toHaveLength(2);
  });

  it.each(['/healthz', '/readyz'])('answers %s to health checkers without a token', async (path) => {
    expect((await send(`${weir.adminUrl}${path}`)).status).toBe(200);
  });

  it('never shows its token', async () => {
    await weir.admin('/debug/upstreams');
    const { body } = await weir.admin('/debug/upstreams');
    expect(body).not.toContain(TOKEN);
    expect(JSON.stringify([weir.log(), weir.accessLog()])).not.toContain(TOKEN);
  });

  it.each([
    ...PAGES,
    '//debug/upstreams',
    '/debug//upstreams',
    '/debug/./upstreams',
    '/items/../debug/upstreams',
    '/items/%2e%2e/metrics',
    '/%64ebug/upstreams',
    '/debug%2fupstreams',
    '/debug/upstreams/',
    '/debug/upstreams?x=1',
  ])('is not behind %s of the public listener, whatever Host says', async (target) => {
    const hosts = ['weir.test', 'localhost', '127.0.0.1', new URL(weir.adminUrl).host];
    for (const host of hosts) {
      const answer = await sendRaw(weir.port, rawGet(target, host));
      expect(answer, `${target} at ${host}`).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).toContain('error=destination_not_found');
    }
  });

  it('is not behind the absolute form either', async () => {
    for (const page of PAGES) {
      for (const origin of [weir.adminUrl, weir.url, 'http://localhost', 'http://localhost:9901']) {
        const answer = await sendRaw(weir.port, rawGet(`${origin}${page}`, new URL(origin).host));
        expect(answer, `${origin}${page}`).toMatch(/^HTTP\/1\.1 404 /);
      }
    }
  });

  it('without a token answers nobody who came by a name, which may lead to the loopback', async () => {
    const open = owned.adopt(await startWeir({ routes: {} }), (gateway) => gateway.close());
    for (const host of ['evil.example', 'evil.example:9901', '127.0.0.1.evil.example']) {
      expect(await open.admin('/debug/upstreams', { headers: { host } })).toMatchObject({ status: 403 });
      const restart = { method: 'POST', headers: { host, origin: `http://${host}` } };
      expect(await open.admin('/debug/workers/1/restart?abrupt', restart)).toMatchObject({ status: 403 });
    }
    for (const host of ['localhost', '127.0.0.1:9901', '[::1]:9901']) {
      expect(await open.admin('/debug/upstreams', { headers: { host } })).toMatchObject({ status: 200 });
    }
  });

  it('restarts no worker for a request to the public listener', async () => {
    for (const target of ['/debug/workers/1/restart?abrupt', `${weir.adminUrl}/debug/workers/1/restart?abrupt`]) {
      const octets = rawGet(target, 'localhost')
        .replace('GET', 'POST')
        .replace('\r\n\r\n', '\r\nContent-Length: 0\r\n\r\n');
      expect(await sendRaw(weir.port, octets)).toMatch(/^HTTP\/1\.1 404 /);
    }
    expect((await weir.admin('/metrics')).body).toContain('weir_worker_restarts_total 0\n');
  });
});

function rawGet(target: string, host: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`;
}
