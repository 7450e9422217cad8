// The table registry's addresses, over a database in memory.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRegistryHandler, type RegistryHandler } from '../../../gateway/registration/registry-routes.ts';
import { openSqliteStore } from '../../../gateway/registration/sqlite-store.ts';
import type { RegistryStore } from '../../../gateway/registration/store.ts';
import { createScriptedClock, type ScriptedClock } from '../../support/scripted-clock.ts';

const limits = { perService: 3, total: 4 };
let clock: ScriptedClock;
let store: RegistryStore;
let handle: RegistryHandler;
beforeEach(() => {
  clock = createScriptedClock();
  store = openSqliteStore({ path: ':memory:', expirySeconds: 30, limits });
  handle = createRegistryHandler({ store, expirySeconds: 30, limits, clock });
});
afterEach(async () => {
  await store.close();
});

function send(method: string, target: string, body: unknown = '') {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return handle({ method, url: new URL(target, 'http://registry'), body: text });
}

const web1 = { service: 'web', instance: 'web-1', addr: '10.0.0.5', port: 8080, meta: { env: 'prod', weight: 4 } };
const { service: _, ...listed } = web1;

it('registers, lists, and deregisters', async () => {
  expect(await send('POST', '/register', web1)).toEqual({
    status: 200,
    document: { service: 'web', instance: 'web-1', outcome: 'registered', expiresInSeconds: 30 },
  });
  expect(await send('GET', '/instances?service=web')).toEqual({
    status: 200,
    document: { service: 'web', count: 1, instances: [listed] },
  });
  const key = { service: 'web', instance: 'web-1' };
  expect(await send('DELETE', '/register', key)).toEqual({ status: 200, document: { ...key, removed: true } });
  expect((await send('GET', '/instances?service=web')).document).toEqual({ service: 'web', count: 0, instances: [] });
  expect((await send('DELETE', '/register', key)).document).toEqual({ ...key, removed: false });
});

it('takes the parameters for a DELETE without body', async () => {
  await send('POST', '/register', web1);
  expect((await send('DELETE', '/register?service=web&instance=web-1')).document).toMatchObject({ removed: true });
});

it('tells what each register was: new, changed, or a heartbeat', async () => {
  const outcomes = [];
  for (const body of [web1, web1, { ...web1, port: 8081 }, { ...web1, port: 8081 }]) {
    outcomes.push((await send('POST', '/register', body)).document);
  }
  expect(outcomes).toMatchObject(['registered', 'heartbeat', 'changed', 'heartbeat'].map((outcome) => ({ outcome })));
});

it('lists by meta, sorted by instance, and keeps services apart', async () => {
  for (const [instance, env] of [
    ['b', 'prod'],
    ['a', 'prod'],
    ['c', 'test'],
  ]) {
    await send('POST', '/register', { ...web1, instance, meta: { env } });
  }
  await send('POST', '/register', { ...web1, service: 'other' });
  expect((await send('GET', '/instances?service=web&env=prod')).document).toMatchObject({
    count: 2,
    instances: [{ instance: 'a' }, { instance: 'b' }],
  });
});

describe('answers are remembered', () => {
  it('but never across a change made here', async () => {
    const count = async () => (await send('GET', '/instances?service=web')).document;
    expect(await count()).toMatchObject({ count: 0 });
    await send('POST', '/register', web1);
    expect(await count()).toMatchObject({ instances: [{ port: 8080 }] });
    await send('POST', '/register', { ...web1, port: 9090 });
    expect(await count()).toMatchObject({ instances: [{ port: 9090 }] });
    await send('DELETE', '/register', { service: 'web', instance: 'web-1' });
    expect(await count()).toMatchObject({ count: 0 });
  });

  it('for three seconds at most where the change was made elsewhere', async () => {
    const count = async () => (await send('GET', '/instances?service=web')).document;
    expect(await count()).toMatchObject({ count: 0 });
    await store.register(web1);
    clock.advance(2900);
    expect(await count()).toMatchObject({ count: 0 });
    clock.advance(101);
    expect(await count()).toMatchObject({ count: 1 });
  });

  it('not when a change came between the reading and the answer', async () => {
    const slow = createRegistryHandler({
      store: {
        ...store,
        async list(service) {
          const instances = await store.list(service);
          await store.register(web1);
          await slow({ method: 'DELETE', url: new URL('http://registry/register?service=web&instance=x'), body: '' });
          return instances;
        },
      },
      expirySeconds: 30,
      limits,
      clock,
    });
    const url = new URL('http://registry/instances?service=web');
    expect((await slow({ method: 'GET', url, body: '' })).document).toMatchObject({ count: 0 });
    expect((await slow({ method: 'GET', url, body: '' })).document).toMatchObject({ count: 1 });
  });
});

it('never remembers an answer for longer than what lies between two heartbeats', async () => {
  const hasty = createRegistryHandler({ store, expirySeconds: 3, limits, clock });
  const url = new URL('http://registry/instances?service=web');
  const count = async () => (await hasty({ method: 'GET', url, body: '' })).document;
  expect(await count()).toMatchObject({ count: 0 });
  await store.register(web1);
  clock.advance(999);
  expect(await count()).toMatchObject({ count: 0 });
  clock.advance(2);
  expect(await count()).toMatchObject({ count: 1 });
});

it('counts the age of an answer from the question, and asks once for all who wait for it', async () => {
  const gate = Promise.withResolvers<void>();
  let reads = 0;
  const slow = createRegistryHandler({
    store: {
      ...store,
      async list(service) {
        reads++;
        const instances = await store.list(service);
        await gate.promise;
        return instances;
      },
    },
    expirySeconds: 30,
    limits,
    clock,
  });
  const url = new URL('http://registry/instances?service=web');
  const answers = [1, 2, 3].map(() => slow({ method: 'GET', url, body: '' }));
  clock.advance(3001);
  gate.resolve();
  expect(await Promise.all(answers)).toMatchObject([{ status: 200 }, { status: 200 }, { status: 200 }]);
  expect(reads).toBe(1);
  await slow({ method: 'GET', url, body: '' });
  expect(reads).toBe(2);
});

describe('more instances than are kept', () => {
  const register = (service: string, instance: string) => send('POST', '/register', { ...web1, service, instance });

  it('are refused with 507 by service, while those that are there go on', async () => {
    for (const instance of ['1', '2', '3']) await register('web', instance);
    expect(await register('web', '4')).toEqual({
      status: 507,
      document: { error: '"web" has 3 instances already, no more are kept' },
    });
    expect(await register('web', '3')).toMatchObject({ status: 200, document: { outcome: 'heartbeat' } });
    await send('DELETE', '/register', { service: 'web', instance: '1' });
    expect(await register('web', '4')).toMatchObject({ status: 200, document: { outcome: 'registered' } });
  });

  it('are refused in all', async () => {
    for (const at of [1, 2]) for (const service of ['a', 'b']) await register(service, `${at}`);
    expect(await register('c', '1')).toEqual({
      status: 507,
      document: { error: 'there are 4 instances already, no more are kept' },
    });
  });
});

describe('the history', () => {
  beforeEach(async () => {
    for (const instance of ['1', '2', '3']) {
      await send('POST', '/register', { ...web1, instance });
      await send('DELETE', '/register', { service: 'web', instance });
    }
  });

  it('tells who was registered, until when, and why no longer', async () => {
    const { status, document } = await send('GET', '/history?service=web&limit=1');
    const time = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const times = { registered: time, lastSeen: time, gone: time };
    const entry = { ...web1, instance: '1', ...times, why: 'deregistered' };
    expect(status).toBe(200);
    expect(document).toEqual({ count: 1, entries: [entry], next: expect.any(String) });
  });

  it('comes in pages', async () => {
    const first = await send('GET', '/history?limit=2');
    expect(first.document).toMatchObject({ count: 2, entries: [{ instance: '1' }, { instance: '2' }] });
    const { next } = Object(first.document);
    const second = await send('GET', `/history?limit=2&after=${next}`);
    expect(second.document).toMatchObject({ count: 1, entries: [{ instance: '3' }], next: null });
  });

  it('is asked by service and by time', async () => {
    expect((await send('GET', '/history?service=other')).document).toEqual({ count: 0, entries: [], next: null });
    expect((await send('GET', '/history?since=1h')).document).toMatchObject({ count: 3 });
    expect((await send('GET', '/history?since=2020-01-01T00:00:00Z')).document).toMatchObject({ count: 3 });
    expect((await send('GET', '/history?since=2999-01-01T00:00:00Z')).document).toMatchObject({ count: 0 });
  });
});

describe('bad input', () => {
  it.each<[string, string, unknown, number, RegExp]>([
    ['POST', '/register', '', 400, /body is missing/],
    ['POST', '/register', '{"service":', 400, /not valid JSON/],
    ['POST', '/register', 'null', 400, /JSON object/],
    ['POST', '/register', { ...web1, port: 0 }, 400, /port must be/],
    ['DELETE', '/register', '', 400, /service is missing/],
    ['DELETE', '/register', '[]', 400, /JSON object/],
    ['GET', '/instances', '', 400, /service is missing/],
    ['GET', '/history?since=yesterday', '', 400, /since must be a time like/],
    ['GET', '/', '', 404, /\/register, \/instances, \/history/],
    ['GET', '/instances/', '', 404, /\/register/],
    ['GET', '/constructor', '', 404, /\/register/],
  ])('%s %s with %j: %d', async (method, target, body, status, sentence) => {
    expect(await send(method, target, body)).toEqual({ status, document: { error: expect.stringMatching(sentence) } });
  });

  it.each([
    ['GET', '/register', 'POST, DELETE'],
    ['PUT', '/register', 'POST, DELETE'],
    ['POST', '/instances', 'GET, HEAD'],
    ['constructor', '/instances', 'GET, HEAD'],
  ])('%s %s: 405, allowed are %s', async (method, target, allow) => {
    expect(await send(method, target)).toMatchObject({ status: 405, fields: { allow } });
  });
});
