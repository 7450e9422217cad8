// The table registry on a real socket and a real file.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Pool } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RunningRegistry, startRegistry } from '../../gateway/registration/registry-server.ts';
import { openSqliteStore } from '../../gateway/registration/sqlite-store.ts';
import { waitFor } from '../support/wait-for.ts';

let folder: string;
let path: string;
let registry: RunningRegistry;
let pool: Pool;
const logged: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-registry-'));
  path = join(folder, 'new', 'folders', 'registry.db');
  await start();
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

async function start(port = 0, secret = ''): Promise<void> {
  const write = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: write, info: write, warn: write, error: write };
  registry = await startRegistry({ host: '127.0.0.1', port, secret, store: { kind: 'sqlite', path }, log });
  pool = new Pool(registry.url, { allowH2: false });
}

async function stop(): Promise<void> {
  await pool.destroy();
  await registry.stop();
}

async function call(method: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'HEAD', target: string, body?: unknown) {
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await pool.request({ method, path: target, body: body === undefined ? null : (sent ?? null) });
  const text = await answer.body.text();
  const document: unknown = text === '' ? undefined : JSON.parse(text);
  return { status: answer.statusCode, headers: answer.headers, document };
}

/** Runs SQL on a connection of its own, as another process would. */
function sql(statement: string): Record<string, unknown>[] {
  const database = new DatabaseSync(path, { timeout: 2000 });
  try {
    return database.prepare(statement).all();
  } finally {
    database.close();
  }
}

const web1 = { service: 'web', instance: 'web-1', addr: '127.0.0.1', port: 8080, meta: { env: 'prod', weight: '4' } };
const list = async () => (await call('GET', '/instances?service=web')).document;

it('registers, lists by meta and deregisters, and a change is seen at once', async () => {
  expect(await list()).toEqual({ service: 'web', count: 0, instances: [] });
  expect((await call('POST', '/register', web1)).status).toBe(200);
  await call('POST', '/register', { ...web1, instance: 'web-2', port: 8081, meta: { env: 'test' } });
  const { service: _, ...listed } = web1;
  const prod = await call('GET', '/instances?service=web&env=prod');
  expect(prod.document).toEqual({ service: 'web', count: 1, instances: [listed] });
  expect(prod.headers['content-type']).toBe('application/json');
  expect(await list()).toMatchObject({ count: 2 });
  await call('DELETE', '/register', { service: 'web', instance: 'web-1' });
  expect(await list()).toMatchObject({ count: 1, instances: [{ instance: 'web-2' }] });
});

it('keeps times by the clock of the database, and the first registration for good', async () => {
  await call('POST', '/register', web1);
  const [first] = sql(
    "SELECT registered, heartbeat, abs(registered - unixepoch('subsec')) < 5 AS now FROM service_registry",
  );
  expect(first).toMatchObject({ now: 1 });
  await call('POST', '/register', { ...web1, port: 9090 });
  const [second, ...others] = sql('SELECT port, registered, heartbeat FROM service_registry');
  expect(others).toEqual([]);
  expect(second).toMatchObject({ port: 9090, registered: first?.registered });
  expect(Number(second?.heartbeat)).toBeGreaterThan(Number(first?.heartbeat));
});

describe('an instance is gone 30 s after its last heartbeat', () => {
  async function registerAgedBy(seconds: number): Promise<void> {
    await call('POST', '/register', web1);
    sql(`UPDATE service_registry SET heartbeat = heartbeat - ${seconds}`);
  }

  it('but not before', async () => {
    await registerAgedBy(29);
    expect(await list()).toMatchObject({ count: 1 });
  });

  it('for who reads', async () => {
    await registerAgedBy(31);
    expect(await list()).toMatchObject({ count: 0 });
  });

  it('and back with the next heartbeat, at once', async () => {
    await registerAgedBy(31);
    expect(await list()).toMatchObject({ count: 0 });
    expect((await call('POST', '/register', web1)).document).toMatchObject({ outcome: 'registered' });
    expect(await list()).toMatchObject({ count: 1 });
  });

  it('and moved to the history at the next clean-up, with why and when', async () => {
    await registerAgedBy(31);
    await stop();
    await start();
    await waitFor(() => logged.includes('registry: instances expired {"count":1}'), {
      limitMs: 5000,
      what: 'the clean-up',
    });
    expect(sql('SELECT * FROM service_registry')).toEqual([]);
    expect(sql("SELECT *, abs(gone - unixepoch('subsec')) < 5 AS now FROM service_registry_history")).toMatchObject([
      { service: 'web', instance: 'web-1', port: 8080, why: 'expired', now: 1 },
    ]);
  });
});

it('remembers who was deregistered, and forgets history after thirty days', async () => {
  await call('POST', '/register', web1);
  await call('DELETE', '/register', { service: 'web', instance: 'web-1' });
  const history = () => sql('SELECT why FROM service_registry_history');
  expect(history()).toEqual([{ why: 'deregistered' }]);
  sql('UPDATE service_registry_history SET gone = gone - 86400 * 31');
  await stop();
  await start();
  await waitFor(() => history().length === 0, { limitMs: 5000, what: 'the clean-up' });
});

it('heeds no time of those who register: none is taken, and the Date of their requests is not read', async () => {
  const refused = await call('POST', '/register', { ...web1, heartbeat: 0 });
  expect(refused).toMatchObject({ status: 400, document: { error: expect.stringMatching(/unknown key "heartbeat"/) } });
  const headers = { date: new Date(Date.now() - 3_600_000).toUTCString() };
  const answer = await pool.request({ method: 'POST', path: '/register', body: JSON.stringify(web1), headers });
  expect(answer.statusCode).toBe(200);
  await answer.body.dump();
  expect(sql("SELECT abs(heartbeat - unixepoch('subsec')) < 5 AS now FROM service_registry")).toEqual([{ now: 1 }]);
});

it('keeps its rows over a restart', async () => {
  await call('POST', '/register', web1);
  await stop();
  await start();
  expect(await list()).toMatchObject({
    count: 1,
    instances: [{ instance: 'web-1', meta: { env: 'prod', weight: '4' } }],
  });
});

it('shares its file with another process', async () => {
  const other = openSqliteStore({ path, expirySeconds: 30, limits: { perService: 1000, total: 1000 } });
  try {
    await Promise.all(
      Array.from({ length: 50 }, (_, at) => [
        call('POST', '/register', { ...web1, instance: `a-${at}` }),
        other.register({ ...web1, instance: `b-${at}` }),
      ]).flat(),
    );
    expect(await other.list('web')).toHaveLength(100);
  } finally {
    await other.close();
  }
});

it('takes meta that somebody wrote into the table by hand for none if it is no object', async () => {
  sql("INSERT INTO service_registry (service, instance, addr, port, meta) VALUES ('web', 'hand', 'h', 1, '[oops')");
  expect(await list()).toMatchObject({ instances: [{ instance: 'hand', meta: {} }] });
});

describe('bad input is told', () => {
  it('as 400 with a sentence', async () => {
    const refused = await call('POST', '/register', { ...web1, port: 70000 });
    expect(refused).toMatchObject({ status: 400, document: { error: 'port must be an integer 1..65535, got 70000' } });
    expect(await call('POST', '/register', '{')).toMatchObject({
      status: 400,
      document: { error: expect.stringMatching(/JSON/) },
    });
  });

  it('as 404 and 405', async () => {
    expect(await call('GET', '/')).toMatchObject({ status: 404 });
    const refused = await call('PUT', '/register', web1);
    expect(refused).toMatchObject({ status: 405, headers: { allow: 'POST, DELETE' } });
    expect(await call('HEAD', '/instances?service=web')).toMatchObject({ status: 200, document: undefined });
  });

  it('as 413 when it is larger than 64 KiB, and the next request is none of its rest', async () => {
    const large = { ...web1, meta: { a: 'x'.repeat(70_000) } };
    expect(await call('POST', '/register', large)).toMatchObject({
      status: 413,
      document: { error: expect.stringMatching(/65536 bytes/) },
    });
    expect(await list()).toMatchObject({ count: 0 });
  });

  it('as 403 when a web page sends it', async () => {
    const headers = { origin: 'https://evil.example' };
    const answer = await pool.request({ method: 'POST', path: '/register', body: JSON.stringify(web1), headers });
    expect(answer.statusCode).toBe(403);
    await answer.body.dump();
    expect(await list()).toMatchObject({ count: 0 });
  });

  it('as 401 when it lacks the secret, and reading needs none', async () => {
    const secret = 's3cret';
    await stop();
    await start(0, secret);
    const write = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await pool.request({ method: 'POST', path: '/register', body: JSON.stringify(web1), headers });
      return { status: answer.statusCode, fields: answer.headers, text: await answer.body.text() };
    };
    const refused = await write();
    expect(refused).toMatchObject({ status: 401, fields: { 'www-authenticate': 'Bearer' } });
    expect(refused.text).not.toContain(secret);
    for (const wrong of [secret, `Basic ${secret}`, `Bearer ${secret}x`, 'Bearer s3cre', 'Bearer', 'Bearer ']) {
      expect((await write(wrong)).status).toBe(401);
    }
    expect((await call('DELETE', '/register?service=web&instance=web-1')).status).toBe(401);
    expect(await list()).toMatchObject({ count: 0 });
    expect((await write(`Bearer ${secret}`)).status).toBe(200);
    expect((await write(`bearer ${secret}`)).status).toBe(200);
    expect(await list()).toMatchObject({ count: 1 });
    expect((await call('GET', '/history')).status).toBe(200);
    expect(logged.join()).not.toContain(secret);
  });

  it('as 400 when it is not UTF-8 or the target is no path', async () => {
    const answer = await pool.request({ method: 'POST', path: '/register', body: Buffer.from([0x22, 0xff, 0x22]) });
    expect(answer.statusCode).toBe(400);
    await answer.body.dump();
    expect(await call('GET', '//')).toMatchObject({ status: 404 });
  });
});

it('refuses to start on a port that is taken or a file that is none', async () => {
  const store = { kind: 'sqlite', path } as const;
  await expect(startRegistry({ host: '127.0.0.1', port: registry.port, store })).rejects.toThrow(/EADDRINUSE/);
  const file = { kind: 'sqlite', path: join(path, 'below-a-file') } as const;
  await expect(startRegistry({ host: '127.0.0.1', port: 0, store: file })).rejects.toThrow(/the registry cannot use/);
});

it('stops although a client holds a connection with half a request', async () => {
  const socket = connect(registry.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('POST /register HTTP/1.1\r\nHost: r\r\nContent-Length: 100\r\n\r\n{');
  await waitFor(() => socket.readyState === 'open', { limitMs: 1000, what: 'the connection' });
  await stop();
  socket.destroy();
  expect((await stat(path)).size).toBeGreaterThan(0);
  await start();
});
