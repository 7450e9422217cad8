// What is refused on the admin address, and that nothing of it can be done from outside.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { type SendOptions, send } from '../support/send.ts';
import { sendRaw } from '../support/send-raw.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const TOKEN = 'only-for-tests-4711';
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('orders to the gateway', () => {
  const owned = new AsyncDisposableStack();
  let upstream: LocalServer;
  let weir: WeirProcess;
  let endpoint: string;

  beforeAll(async () => {
    upstream = owned.adopt(await startHttpServer((_request, response) => response.end('item')), (server) =>
      server.stop(),
    );
    endpoint = `127.0.0.1:${upstream.port}`;
    weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', endpoints: [endpoint], match: [{ paths: ['/items/*'] }] } },
        adminToken: TOKEN,
      }),
      (gateway) => gateway.close(),
    );
  });
  afterAll(async () => {
    // Nothing of all this has had an effect.
    try {
      expect(await weir.service('web')).toMatchObject({ maintenance: null, endpoints: [{ state: 'active' }] });
      expect((await weir.admin('/metrics')).body).toContain('weir_worker_restarts_total 0\n');
      expect(weir.log().filter(({ msg }) => msg?.includes('operator') || msg?.includes('reloaded'))).toEqual([]);
    } finally {
      await owned.disposeAsync();
    }
  });

  const orders = (): [string, string?][] => [
    [`/debug/upstreams/web/${endpoint}/drain`],
    [`/debug/upstreams/web/${endpoint}/eject`],
    ['/debug/services/web/degraded', '{"on":true,"reason":"x"}'],
    ['/debug/workers/1/restart'],
    ['/debug/workers/1/restart?abrupt'],
    ['/debug/reload'],
  ];

  const order = (path: string, options: SendOptions = {}) => weir.admin(path, { method: 'POST', ...options });

  it.each([
    ['web', '127.0.0.1:1', 'drain'],
    ['nobody', 'ENDPOINT', 'drain'],
    ['web', 'ENDPOINT', 'destroy'],
    ['web', 'ENDPOINT', 'toString'],
    ['web', '..', 'drain'],
    ['web%00', 'ENDPOINT', 'drain'],
    ['constructor', 'ENDPOINT', 'drain'],
  ])('are 404 where there is no such service, endpoint or action: %s %s %s', async (service, at, action) => {
    const path = `/debug/upstreams/${service}/${at.replace('ENDPOINT', endpoint)}/${action}`;
    expect(await order(path)).toMatchObject({ status: 404 });
  });

  it('are 404 for a service or a worker that there is not, and 400 where the path is malformed', async () => {
    const body = '{"on":true,"reason":"x"}';
    expect(await order('/debug/services/nobody/degraded', { headers: JSON_TYPE, body })).toMatchObject({ status: 404 });
    for (const id of ['0', '3', '99999999999999999999', 'x', '-1', '1e0']) {
      expect(await order(`/debug/workers/${id}/restart`)).toMatchObject({ status: 404 });
    }
    expect(await order(`/debug/upstreams/web/%zz/drain`)).toMatchObject({ status: 400 });
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '"on"',
    '{}',
    '{"on":"true"}',
    '{"on":1}',
    '{"on":true,"reason":7}',
    '{"on":true,"x":1}',
  ])('are 400 where the body is not what it must be: %s', async (body) => {
    const answer = await order('/debug/services/web/degraded', { headers: JSON_TYPE, body });
    expect(answer).toMatchObject({ status: 400, headers: { 'content-type': 'application/problem+json' } });
    expect(JSON.parse(answer.body).detail).toMatch(/must be|is text/);
  });

  it('are 400 where the reason is too long, and 413 where the body is', async () => {
    const long = JSON.stringify({ on: true, reason: 'x'.repeat(201) });
    const longer = JSON.stringify({ on: true, reason: 'x'.repeat(300_000) });
    const path = '/debug/services/web/degraded';
    expect(await order(path, { headers: JSON_TYPE, body: long })).toMatchObject({ status: 400 });
    expect(await order(path, { headers: JSON_TYPE, body: longer })).toMatchObject({ status: 413 });
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', 'application/jsonx'])(
    'are 415 as %s, which a form of any page can send',
    async (type) => {
      const options = { headers: { 'Content-Type': type }, body: '{"on":true,"reason":"x"}' };
      expect(await order('/debug/services/web/degraded', options)).toMatchObject({ status: 415 });
      for (const [path] of orders()) expect(await order(path, options)).toMatchObject({ status: 415 });
    },
  );

  it.each([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: 'http://127.0.0.1:1' },
  ])('are 403 from a page of another site: %j', async (from) => {
    for (const [path, body] of orders()) {
      const options = { headers: { ...from, ...JSON_TYPE }, ...(body !== undefined && { body }) };
      expect(await order(path, options), path).toMatchObject({ status: 403 });
    }
  });

  it('are 401 without the token, whatever the forwarding fields say', async () => {
    const forwarded = { 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1', 'X-Real-IP': '127.0.0.1' };
    for (const [path, body] of orders()) {
      const options = { method: 'POST', headers: { ...forwarded, ...JSON_TYPE }, ...(body !== undefined && { body }) };
      expect(await send(`${weir.adminUrl}${path}`, options), path).toMatchObject({ status: 401 });
    }
    for (const path of ['/debug/config', '/debug/upstreams', '/debug/explain', '/metrics', '/debug/nothing']) {
      expect(await send(`${weir.adminUrl}${path}`, { headers: forwarded }), path).toMatchObject({ status: 401 });
    }
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])('are 405 by %s', async (method) => {
    for (const [path] of orders()) {
      expect(await order(path, { method }), path).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    }
  });

  it('cannot be given on the public listener, however they are spelt (case 163)', async () => {
    const spellings = (path: string) => [
      path,
      `/${path}`,
      path.replace('/debug', '/./debug'),
      path.replace('/debug', '/items/../debug'),
      path.replace('/debug', '/items/%2e%2e/debug'),
      path.replace('/debug', '/%64ebug'),
      path.replace('/debug', '/DEBUG'),
      path.replace('/debug', '/debug;x=1'),
      `${path}/`,
      `${weir.adminUrl}${path}`,
      `http://localhost${path}`,
    ];
    const others = ['/debug/config', '/debug/explain?method=GET&url=http://a/items/1'];
    for (const path of [...orders().map(([each]) => each), ...others]) {
      for (const target of spellings(path)) {
        for (const method of ['GET', 'POST']) {
          const answer = await sendRaw(weir.port, rawOrder(method, target, hostOf(target)));
          expect(answer, `${method} ${target}`).toMatch(/^HTTP\/1\.1 40[04] /);
        }
      }
    }
  }, 30_000);

  const hostOf = (target: string) => (target.startsWith('http:') ? new URL(target).host : 'localhost');
});

function rawOrder(method: string, target: string, host: string): string {
  const fields = `Host: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\nX-Forwarded-For: 127.0.0.1\r\nConnection: close`;
  return `${method} ${target} HTTP/1.1\r\n${fields}\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n`;
}
