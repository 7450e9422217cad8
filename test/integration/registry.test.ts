// The table registry on a real socket and a real file, and the source that reads it.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Pool } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../gateway/core/clock.ts';
import { createRegistrySource } from '../../gateway/discovery/registry.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import { type RunningRegistry, startRegistry } from '../../gateway/registration/registry-server.ts';
import { openSqliteStore } from '../../gateway/registration/sqlite-store.ts';
import { recordWatch } from '../support/record-events.ts';
import { waitFor } from '../support/wait-for.ts';

let folder: string;
let path: string;
let registry: RunningRegistry;
let pool: Pool;
const sources: DiscoverySource[] = [];
const logged: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-registry-'));
  path = join(folder, 'new', 'folders', 'registry.db');
  await start();
});
afterEach(async () => {
  await Promise.all(sources.splice(0).map((source) => source.stop()));
  await stop();
  await rm(folder, { recursive: true });
});

async function start(port = 0): Promise<void> {
  const log = (message: string) => logged.push(message);
  const logger = { info: log, warn: log, error: log };
  registry = await startRegistry({ host: '127.0.0.1', port, store: { kind: 'sqlite', path }, logger });
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
    expect(logged.at(-2)).toMatch(/1 instances expired/);
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
  expect(history()).toEqual([]);
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
  const other = openSqliteStore({ path, expirySeconds: 30 });
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
  await expect(startRegistry({ host: '127.0.0.1', port: 0, store: file })).rejects.toThrow();
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

describe('the registry source', () => {
  function watch(url = registry.url) {
    const source = createRegistrySource({ url, intervalMs: 30, confirmEmptyMs: 60, clock: systemClock });
    sources.push(source);
    return recordWatch(source, 'web');
  }

  it('reports the instances, and each change', async () => {
    await call('POST', '/register', { ...web1, meta: { weight: 4, tags: ['v2', 'blue'] } });
    const web = watch();
    await web.ports([8080]);
    expect(web.answers[0]).toEqual({
      kind: 'answer',
      instances: [
        {
          id: 'web-1',
          host: '127.0.0.1',
          port: 8080,
          weight: 4,
          status: 'passing',
          tags: ['v2', 'blue'],
          meta: { weight: '4', tags: 'v2,blue' },
        },
      ],
      skipped: [],
      notes: [],
      index: null,
      doubt: null,
    });
    await call('POST', '/register', { ...web1, instance: 'web-2', port: 8081 });
    await web.ports([8080, 8081]);
  });

  it('believes an empty list when it has seen it twice', async () => {
    await call('POST', '/register', web1);
    const web = watch();
    await web.ports([8080]);
    const emptiedAtMs = performance.now();
    await call('DELETE', '/register', { service: 'web', instance: 'web-1' });
    await web.ports([]);
    expect(performance.now() - emptiedAtMs).toBeGreaterThan(55);
    expect(web.answers.at(-1)).toMatchObject({ doubt: null });
  });

  it('goes on over an outage, and doubts an empty list right after it', async () => {
    await call('POST', '/register', web1);
    const web = watch();
    await web.ports([8080]);
    const { port } = registry;
    await stop();
    const failure = await waitFor(() => web.failures[0], { limitMs: 2000, what: 'a failure' });
    expect(failure.error).toMatch(/registry at .*: connection/);
    sql('DELETE FROM service_registry');
    await start(port);
    const empty = await web.answer('an empty answer', ({ instances }) => instances.length === 0);
    expect(empty.doubt).toMatch(/could not be asked a moment ago/);
    await call('POST', '/register', web1);
    await web.ports([8080]);
    expect(web.answers.every(({ instances, doubt }) => instances.length > 0 || doubt !== null)).toBe(true);
  });

  it('takes an answer that is none for a failure', async () => {
    const web = watch(`${registry.url}/no/such/place`);
    const failure = await waitFor(() => web.failures[0], { limitMs: 2000, what: 'a failure' });
    expect(failure.error).toMatch(/status 404/);
    expect(web.answers).toEqual([]);
  });
});
