// Targets that one reader takes for another path than the next: refused before a service sees them.
import { describe, expect, it } from 'vitest';
import { basicLine, USERS } from '../../support/access-scene.ts';
import { ask, endHttp2AfterEach, sessionTo } from '../../support/http2-scene.ts';
import { exchange, get } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor, nodeUpstream } from '../../support/scene.ts';

endAfterEach();
endHttp2AfterEach();

const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
const EVASIVE = [
  '//admin',
  '/x/..%2fadmin/x',
  '/x/..;/admin/x',
  '/admin;a/x',
  '/x\\..\\admin/x',
  '/admin%2fx',
  '/x//../admin/x',
  '/x//%2e%2e/%61dmin/x',
];
const BASIC = { basic: { users: 'u' } };
const ADMIN = { match: [{ paths: ['/admin', '/admin/*'] }] };

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);

/** All paths to one route; what the others take and want stands in `otherRoutes`. */
async function scene(options: Pick<Parameters<typeof gatewayFor>[0], 'otherRoutes' | 'route'> = {}) {
  const service = await nodeUpstream();
  const { port } = await gatewayFor({
    endpoints: [service.port],
    users: USERS,
    listener: { http2: true },
    ...options,
  });
  return { service, port, asked: () => service.requests.map(({ url }) => url) };
}

describe('a target with a #', () => {
  it.each(['/a#b', '/#', '/a?b#c', '/admin#'])('%s is malformed in HTTP/1.1, HTTP/2 and an upgrade', async (target) => {
    const { port, asked } = await scene({ route: { websocket: true } });
    expect(statusOf(await exchange(port, get(target)))).toBe(400);
    expect(statusOf(await exchange(port, `GET ${target} HTTP/1.1\r\nHost: s\r\n${UPGRADE}\r\n`))).toBe(400);
    expect((await ask(sessionTo(port), { ':path': target })).status).toBe(400);
    expect(asked()).toEqual([]);
  });
});

describe('a path that a lenient service reads as one that another route guards', () => {
  it.each(EVASIVE)('%s is malformed in HTTP/1.1 and HTTP/2, whoever asks', async (path) => {
    const { port, asked } = await scene({ otherRoutes: { admin: { ...ADMIN, auth: BASIC } } });
    expect(statusOf(await exchange(port, get(path)))).toBe(400);
    expect(statusOf(await exchange(port, get(path, basicLine())))).toBe(400);
    expect((await ask(sessionTo(port), { ':path': path })).status).toBe(400);
    expect(asked()).toEqual([]);
  });

  it.each(['/x//y', '/x;a=1/y', '/x%2fy', '/x\\y', '/admins;a/x'])('is not %s, which passes as it is', async (path) => {
    const { port, asked } = await scene({ otherRoutes: { admin: { ...ADMIN, auth: BASIC } } });
    expect(statusOf(await exchange(port, get(path)))).toBe(200);
    expect(asked()).toEqual([path]);
  });

  it.each(EVASIVE)('%s passes as it is where no route is guarded', async (path) => {
    const { port, asked } = await scene({ otherRoutes: { admin: ADMIN } });
    expect(statusOf(await exchange(port, get(path)))).toBe(200);
    expect(asked()).toEqual([path]);
  });

  it.each(EVASIVE)('%s passes as it is to who may come in where one route takes both', async (path) => {
    const { port, asked } = await scene({ route: { match: [{ paths: ['/*'] }], auth: BASIC } });
    expect(statusOf(await exchange(port, get(path)))).toBe(401);
    expect(statusOf(await exchange(port, get(path, basicLine())))).toBe(200);
    expect(asked()).toEqual([path]);
  });
});

describe('a path that climbs out of the prefix that its route adds', () => {
  it.each(['/../b/secret', '/%2e%2e/b', '/..%2fb', '/a/../../b', '/..;/b'])('%s is malformed', async (path) => {
    const { port, asked } = await scene({ route: { rewrite: { addPrefix: '/tenant-a' } } });
    const answer = await exchange(port, get(path));
    expect(statusOf(answer)).toBe(400);
    expect((await ask(sessionTo(port), { ':path': path })).status).toBe(400);
    expect(asked()).toEqual([]);
  });

  it('is not one that comes back down', async () => {
    const { port, asked } = await scene({ route: { rewrite: { addPrefix: '/tenant-a' } } });
    expect(statusOf(await exchange(port, get('/a/../b')))).toBe(200);
    expect(asked()).toEqual(['/tenant-a/a/../b']);
  });
});
