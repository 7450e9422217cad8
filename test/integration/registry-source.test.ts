// The source that reads the table registry, with a real registry on a real file.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../gateway/core/clock.ts';
import { createRegistrySource } from '../../gateway/discovery/registry.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import { type RunningRegistry, startRegistry } from '../../gateway/registration/registry-server.ts';
import { recordWatch } from '../support/record-events.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 20_000;

let folder: string;
let registry: RunningRegistry;
const sources: DiscoverySource[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-registry-'));
  await start();
});
afterEach(async () => {
  await Promise.all(sources.splice(0).map((source) => source.stop()));
  await registry.stop();
  await rm(folder, { recursive: true });
});

async function start(port = 0): Promise<void> {
  const store = { kind: 'sqlite', path: join(folder, 'registry.db') } as const;
  registry = await startRegistry({ host: '127.0.0.1', port, store });
}

async function call(method: 'POST' | 'DELETE', record: object): Promise<void> {
  const { status, body } = await send(`${registry.url}/register`, { method, body: JSON.stringify(record) });
  expect(status, body).toBe(200);
}

const web1 = { service: 'web', instance: 'web-1', addr: '127.0.0.1', port: 8080, meta: { env: 'prod', weight: '4' } };

describe('the registry source', () => {
  function watch(url = registry.url) {
    const source = createRegistrySource({ url, intervalMs: 30, confirmEmptyMs: 60, clock: systemClock });
    sources.push(source);
    return recordWatch(source, 'web');
  }

  it('reports the instances, and each change', async () => {
    await call('POST', { ...web1, meta: { weight: 4, tags: ['v2', 'blue'] } });
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
    await call('POST', { ...web1, instance: 'web-2', port: 8081 });
    await web.ports([8080, 8081]);
  });

  it('believes an empty list when it has seen it twice', async () => {
    await call('POST', web1);
    const web = watch();
    await web.ports([8080]);
    const emptiedAtMs = performance.now();
    await call('DELETE', { service: 'web', instance: 'web-1' });
    await web.ports([]);
    expect(performance.now() - emptiedAtMs).toBeGreaterThan(55);
    expect(web.answers.at(-1)).toMatchObject({ doubt: null });
  });

  it('goes on over an outage, and doubts an empty list right after it', async () => {
    await call('POST', web1);
    const web = watch();
    await web.ports([8080]);
    const { port } = registry;
    await registry.stop();
    const failure = await waitFor(() => web.failures[0], { limitMs: LIMIT_MS, what: 'a failure' });
    expect(failure.error).toMatch(/registry at .*: connection/);
    // As if every heartbeat had been missed.
    const database = new DatabaseSync(join(folder, 'registry.db'));
    database.exec('DELETE FROM service_registry');
    database.close();
    await start(port);
    const empty = await web.answer('an empty answer', ({ instances }) => instances.length === 0);
    expect(empty.doubt).toMatch(/may have come back a moment ago/);
    await call('POST', web1);
    await web.ports([8080]);
    expect(web.answers.every(({ instances, doubt }) => instances.length > 0 || doubt !== null)).toBe(true);
  });

  it('takes an answer that is none for a failure', async () => {
    const web = watch(`${registry.url}/no/such/place`);
    const failure = await waitFor(() => web.failures[0], { limitMs: LIMIT_MS, what: 'a failure' });
    expect(failure.error).toMatch(/status 404/);
    expect(web.answers).toEqual([]);
  });
});
