// What the registry source makes of the first lists after an outage, while instances come back one heartbeat at a time.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRegistrySource } from '../../gateway/discovery/registry.ts';
import type { DiscoverySource, SourceAnswer } from '../../gateway/discovery/source.ts';
import { type RunningRegistry, startRegistry } from '../../gateway/registration/registry-server.ts';
import { type RecordedWatch, recordWatch } from '../support/record-events.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 20_000;
const [ONE, TWO] = [8081, 8082];

let folder: string;
let registry: RunningRegistry;
let source: DiscoverySource;
let web: RecordedWatch;
const clock = createScriptedClock();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-registry-'));
  await start();
  source = createRegistrySource({ url: registry.url, intervalMs: 30, confirmEmptyMs: 30, clock });
  await tell('POST', ONE);
  await tell('POST', TWO);
  web = recordWatch(source, 'web');
  await web.ports([ONE, TWO]);
});
afterEach(async () => {
  web.stop();
  await source.stop();
  await registry.stop();
  await rm(folder, { recursive: true });
});

async function start(port = 0): Promise<void> {
  const store = { kind: 'sqlite', path: join(folder, 'registry.db') } as const;
  registry = await startRegistry({ host: '127.0.0.1', port, store });
}

async function tell(method: 'POST' | 'DELETE', port: number): Promise<void> {
  const record = { service: 'web', instance: `web-${port}`, addr: '127.0.0.1', port, meta: {} };
  const { status, body } = await send(`${registry.url}/register`, { method, body: JSON.stringify(record) });
  expect(status, body).toBe(200);
}

/** The registry is away for that long, for some of it unasked, and comes back without the instances of these ports. */
async function outage(ms: number, lost: readonly number[], unaskedMs = 0): Promise<void> {
  const { port } = registry;
  await registry.stop();
  await failure();
  clock.advance(ms);
  await failure();
  const database = new DatabaseSync(join(folder, 'registry.db'));
  for (const each of lost) database.exec(`DELETE FROM service_registry WHERE port = ${each}`);
  database.close();
  clock.advance(unaskedMs);
  await start(port);
}

async function failure(): Promise<void> {
  const before = web.failures.length;
  await waitFor(() => web.failures.length > before, { limitMs: LIMIT_MS, what: 'another failure' });
}

/** Waits for answers that were asked for from now on. */
async function freshAnswers(): Promise<void> {
  const before = web.answers.length;
  await waitFor(() => web.answers.length > before + 1, { limitMs: LIMIT_MS, what: 'two answers' });
}

describe('after an outage in which instances may have expired', () => {
  beforeEach(async () => {
    await outage(20_000, [ONE, TWO], 25_000);
    await tell('POST', ONE);
    await freshAnswers();
  });

  it('keeps those that are not listed again yet, and says so', async () => {
    await web.ports([ONE, TWO]);
    expect(web.answers.at(-1)?.notes).toEqual([
      'instance "web-8082": not listed since the outage, may be on its way back',
    ]);
    expect(web.answers.every(({ instances, doubt }) => instances.length === 2 || doubt !== null)).toBe(true);
    await tell('POST', TWO);
    await web.answer('an answer without notes', ({ notes, instances }) => notes.length === 0 && instances.length === 2);
  });

  it('lets go of one that was listed again and then left', async () => {
    await tell('POST', TWO);
    await freshAnswers();
    await tell('DELETE', TWO);
    await web.ports([ONE]);
  });

  it('lets go of those that do not come back for 30 s', async () => {
    clock.advance(29_000);
    await freshAnswers();
    await web.ports([ONE, TWO]);
    clock.advance(1000);
    await web.ports([ONE]);
  });
});

it('believes at once, for one who takes over a pool, that those left whom it had listed since', async () => {
  const taken = recordWatch({ ...source, watch: (options) => source.watch({ ...options, hasPool: true }) }, 'web');
  await taken.ports([ONE, TWO]);
  await tell('DELETE', ONE);
  await tell('DELETE', TWO);
  const empty = await taken.answer('an empty answer', ({ instances }) => instances.length === 0);
  expect(empty.doubt).toBeNull();
  taken.stop();
});

it('doubts for 30 s from the first answer on, for one who takes over a pool, that nobody is listed', async () => {
  const other = recordWatch({ ...source, watch: (options) => source.watch({ ...options, hasPool: true }) }, 'other');
  const isEmpty = ({ instances, doubt }: SourceAnswer, isDoubted: boolean) =>
    instances.length === 0 && (doubt !== null) === isDoubted;
  await other.answer('a doubtful answer', (answer) => isEmpty(answer, true));
  expect(other.answers.some((answer) => isEmpty(answer, false))).toBe(false);
  clock.advance(30_000);
  await other.answer('an answer without doubt', (answer) => isEmpty(answer, false));
  other.stop();
});

describe('after an outage too short for anybody to expire', () => {
  it('believes what is listed', async () => {
    await outage(5000, [TWO]);
    await web.ports([ONE]);
  });
});
