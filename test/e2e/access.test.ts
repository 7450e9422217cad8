// Who may come in, with the real process: on every worker, while users change, keys cannot be had, and a service hangs.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJwtIssuer } from '../support/jwt-issuer.ts';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { parsePrometheusText, sumOf } from '../support/prometheus-text.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';
import { clientsByWorker, type WorkerClient } from '../support/worker-clients.ts';

const LIMIT_MS = 15_000;
const WORKERS = 2;

const as = (name: string, password = `${name}s password`) => {
  return { headers: { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` } };
};
const lineOf = (name: string) => `${name}:${hashSync(`${name}s password`, 5)}\n`;

describe('a gateway that does not let everybody in', () => {
  const owned = new AsyncDisposableStack();
  const issuer = createJwtIssuer('ES256', 'one');
  const hanging: ServerResponse[] = [];
  let usersFile: string;
  let keys: LocalServer;
  let weir: WeirProcess;
  let clients: WorkerClient[];

  const serve = async (onRequest: Parameters<typeof startHttpServer>[0]) =>
    owned.adopt(await startHttpServer(onRequest), (server) => server.stop());

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-users-'));
    owned.defer(() => rm(folder, { recursive: true, force: true }));
    usersFile = join(folder, 'users');
    await writeFile(usersFile, lineOf('anna'));
    const service = await serve((request, response) => response.end(`for ${request.headers['x-user']}`));
    const judge = await serve((_request, response) => void hanging.push(response));
    keys = await serve((_request, response) => response.end(issuer.keySet));
    const to = { service: 'web', endpoints: [`127.0.0.1:${service.port}`] };
    const forward = { url: `http://127.0.0.1:${judge.port}/`, timeout: '3s' };
    const jwt = { jwks: `http://127.0.0.1:${keys.port}/keys`, claims: { sub: 'x-user' } };
    weir = owned.adopt(
      await startWeir({
        routes: {
          basic: { ...to, match: [{ paths: ['/basic'] }], auth: { basic: { users: usersFile } } },
          token: { ...to, match: [{ paths: ['/token'] }], auth: { jwt } },
          hung: { ...to, match: [{ paths: ['/hung'] }], auth: { forward } },
          open: { ...to, match: [{ paths: ['/open'] }] },
          closed: { ...to, match: [{ paths: ['/closed'] }], deny: ['127.0.0.0/8'] },
        },
      }),
      (gateway) => gateway.close(),
    );
    clients = await clientsByWorker(weir, WORKERS);
    owned.defer(() => {
      for (const client of clients) client.close();
    });
  });
  afterAll(() => owned.disposeAsync());

  const statuses = (path: string, options = {}) =>
    Promise.all(clients.map(async ({ get }) => (await get(path, options)).status));
  const everywhere = (path: string, status: number, options = {}) =>
    waitFor(async () => (await statuses(path, options)).every((each) => each === status), {
      limitMs: LIMIT_MS,
      what: `${status} from every worker`,
    });

  it('asks on every worker, and counts whom it refuses', async () => {
    expect(await statuses('/basic')).toEqual([401, 401]);
    expect(await statuses('/basic', as('anna', 'wrong'))).toEqual([401, 401]);
    expect(await statuses('/basic', as('anna'))).toEqual([200, 200]);
    expect(await statuses('/closed')).toEqual([403, 403]);
    expect((await weir.get('/basic', as('anna'))).body).toBe('for anna');
    // Through no other route of the service can a client say that it is somebody.
    expect((await weir.get('/open', { headers: { 'X-User': 'root' } })).body).toBe('for undefined');
    const metrics = parsePrometheusText((await weir.admin('/metrics')).body);
    const refused = (route: string, reason: string) => sumOf(metrics, 'weir_access_refused_total', { route, reason });
    expect([refused('basic', 'credentials'), refused('closed', 'address'), refused('open', 'address')]).toEqual([
      4, 2, 0,
    ]);
    const refusal = await waitFor(() => weir.accessLog().find(({ path }) => path === '/closed'), {
      limitMs: LIMIT_MS,
      what: 'the access log of a refusal',
    });
    expect(refusal).toMatchObject({ route: 'closed', service: 'web', status: 403, error: 'forbidden', user: null });
    const line = (status: number) => weir.accessLog().find((each) => each.path === '/basic' && each.status === status);
    await waitFor(() => line(200) !== undefined, { limitMs: LIMIT_MS, what: 'the access log of a user' });
    expect(line(200)).toMatchObject({ user: 'anna', scheme: 'http' });
    expect(line(401)).toMatchObject({ user: null, scheme: 'http' });
  });

  it('takes other users from a file that changes under load, without refusing those who stay', async () => {
    const seen: number[] = [];
    let isOver = false;
    const load = clients.map(async ({ get }) => {
      while (!isOver) seen.push((await get('/basic', as('anna'))).status);
    });
    await writeFile(usersFile, lineOf('anna') + lineOf('bob'));
    const bobComesIn = async () => (await weir.get('/basic', as('bob'))).status === 200;
    await waitFor(bobComesIn, { limitMs: LIMIT_MS, what: 'bob to come in' });
    isOver = true;
    await Promise.all(load);
    expect(seen.length).toBeGreaterThan(WORKERS);
    expect(seen.every((status) => status === 200)).toBe(true);
    await writeFile(usersFile, lineOf('bob'));
    await everywhere('/basic', 401, as('anna'));
    expect(await statuses('/basic', as('bob'))).toEqual([200, 200]);
  });

  it('keeps the last good users while the file is broken, and says which line it is', async () => {
    await writeFile(usersFile, `${lineOf('carl')}dora:secret\n`);
    const quarantined = await weir.logged('configuration file is quarantined');
    expect(JSON.stringify(quarantined)).toMatch(/users:2:1: not a hash of a password/);
    expect(JSON.stringify(quarantined)).not.toContain('secret');
    expect(await statuses('/basic', as('bob'))).toEqual([200, 200]);
    expect(await statuses('/basic', as('carl'))).toEqual([401, 401]);
    await writeFile(usersFile, lineOf('carl'));
    await everywhere('/basic', 200, as('carl'));
  });

  it('lets tokens in with the last good keys when their server dies', async () => {
    const bearer = async () => ({ headers: { authorization: `Bearer ${await issuer.token()}` } });
    await everywhere('/token', 200, await bearer());
    await keys.stop();
    const claims = { sub: 'zoe' };
    const later = { headers: { authorization: `Bearer ${await issuer.token({ claims })}` } };
    expect(await statuses('/token', later)).toEqual([200, 200]);
    expect((await weir.get('/token', later)).body).toBe('for zoe');
    const zoe = () => weir.accessLog().find(({ path, user }) => path === '/token' && user === 'zoe');
    await waitFor(() => zoe() !== undefined, { limitMs: LIMIT_MS, what: 'the access log of the token' });
    const forged = createJwtIssuer('ES256', 'one');
    expect(await statuses('/token', { headers: { authorization: `Bearer ${await forged.token()}` } })).toEqual([
      401, 401,
    ]);
  });

  it('lets nobody in whom a service does not answer for in time, and serves the others meanwhile', async () => {
    let isDecided = false;
    const refused = weir.get('/hung').finally(() => {
      isDecided = true;
    });
    await waitFor(() => hanging.length > 0, { limitMs: LIMIT_MS, what: 'the question' });
    expect(await statuses('/open')).toEqual([200, 200]);
    expect(isDecided).toBe(false);
    const { status, headers } = await refused;
    expect([status, headers['retry-after'], headers['proxy-status']]).toEqual([
      503,
      '5',
      'weir; error=http_request_denied',
    ]);
    await weir.logged('the service for authentication cannot be used: nobody comes in');
  });
});
