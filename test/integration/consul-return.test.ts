// What a pool is while an agent of Consul comes back, by the lists that a real one gives then, and who takes it over.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../gateway/core/clock.ts';
import { type DiscoveryUpdate, type ResumePoint, unasked } from '../../gateway/core/discovery-update.ts';
import type { Endpoint } from '../../gateway/core/instance.ts';
import { Asker } from '../../gateway/discovery/asker.ts';
import { createConsulSource } from '../../gateway/discovery/consul.ts';
import { mergeInstances } from '../../gateway/discovery/merge-instances.ts';
import { poolMark } from '../../gateway/discovery/pool-mark.ts';
import { consulCheck, consulEntry } from '../support/consul-entry.ts';
import { consulSourceOptions } from '../support/consul-source-options.ts';
import { type ScriptedConsul, startScriptedConsul } from '../support/scripted-consul.ts';
import { waitFor } from '../support/wait-for.ts';

const LIMIT_MS = 10_000;
const AWAY = { status: 500, body: 'No cluster leader' };
const WELL = 'PPP';

let consul: ScriptedConsul;
let asker: Asker;
let skewMs = 0;
/** What was told of the service `web`. */
let updates: DiscoveryUpdate[];
/** The endpoints of each pool that there was, as letters: well or not, in the order of their ports. */
let pools: string[];

beforeEach(async () => {
  consul = await startScriptedConsul();
  skewMs = 0;
  updates = [];
  pools = [];
  asker = startAsker();
});
afterEach(async () => {
  await asker.stop();
  await consul.stop();
});

function startAsker(): Asker {
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + skewMs };
  return new Asker({
    sourceOf: () => createConsulSource(consulSourceOptions({ agents: [consul.url], clock })),
    holdLastGoodMs: 600_000,
    clock,
    onUpdate(update) {
      if (update.status.service !== 'web') return;
      updates.push(update);
      if (update.endpoints !== null) pools.push(lettersOf(update.endpoints));
    },
  });
}

const lettersOf = (endpoints: readonly Endpoint[]) => endpoints.map(({ healthy }) => (healthy ? 'P' : 'C')).join('');

/** Instances on the ports 8001, 8002 …: passing, critical, or `-`: not registered. */
function list(statuses: string) {
  return [...statuses].flatMap((letter, at) => {
    const checks = [consulCheck(letter === 'P' ? 'passing' : 'critical')];
    return letter === '-' ? [] : [consulEntry({ id: `web-${at}`, port: 8001 + at, checks })];
  });
}

/** Consul lists that; waits until it was heard. */
async function tell(statuses: string, index?: string): Promise<void> {
  const before = updates.length;
  consul.set('web', { entries: list(statuses), ...(index !== undefined && { index }) });
  await waitFor(() => updates.length > before, { limitMs: LIMIT_MS, what: `an answer to ${statuses}` });
}

async function ask(...resume: readonly ResumePoint[]): Promise<void> {
  asker.ask(resume);
  await waitFor(() => updates.length > 0, { limitMs: LIMIT_MS, what: 'an answer' });
  await blocking();
}

function fresh(service = 'web'): ResumePoint {
  return { status: unasked(service, 'consul'), pool: poolMark([]) };
}

async function blocking(): Promise<void> {
  await waitFor(() => consul.waiting > 0, { limitMs: LIMIT_MS, what: 'a blocking query' });
}

/** The agent is away, for most of the time between two questions, and comes back with that list. */
async function outage(statuses: string, index?: string): Promise<void> {
  consul.always(AWAY);
  await waitFor(() => updates.at(-1)?.status.lastError?.includes('leader'), { limitMs: LIMIT_MS, what: 'a failure' });
  skewMs += 45_000;
  consul.set('web', { entries: list(statuses), ...(index !== undefined && { index }) });
  const before = updates.length;
  consul.always(undefined);
  const isHeard = () => updates.slice(before).some(({ status }) => !status.lastError?.includes('leader'));
  await waitFor(isHeard, { limitMs: LIMIT_MS, what: 'an answer after the outage' });
}

it.each<[string, readonly string[]]>([
  ['calls its instances critical until each has beaten', ['CCC', 'PCC', 'PPC', 'PPP']],
  // As recorded: the catalog is that of before, the agent's own view reaches it a moment later.
  ['tells the old list first', ['PPP', 'PPC', 'CPC', 'CCC', 'CPC', 'PPC', 'PPP']],
  ['tells the old list, and loses one after the other', ['PPP', 'CCC', 'CCP', 'PCP', 'PPP']],
])('keeps half of a pool at least when an agent comes back that %s', async (_what, [first = '', ...lists]) => {
  consul.set('web', { entries: list(WELL) });
  await ask(fresh());
  await outage(first);
  for (const each of lists) await tell(each);
  expect(pools.at(-1)).toBe(WELL);
  for (const pool of pools) expect([...pool].filter((letter) => letter === 'P').length).toBeGreaterThanOrEqual(2);
});

it.each<[string, string]>([
  ['lower', '5'],
  ['higher', '900'],
])('keeps a pool when an agent comes back without its data, by a %s index', async (_what, index) => {
  consul.set('web', { entries: list(WELL), index: '500' });
  await ask(fresh());
  await outage('---', index);
  await tell('P--', String(Number(index) + 1));
  await tell('PP-', String(Number(index) + 2));
  await tell('PPP', String(Number(index) + 3));
  expect(pools).toEqual([WELL]);
});

it('believes the agent once it had the time to know', async () => {
  consul.set('web', { entries: list(WELL) });
  await ask(fresh());
  await outage('PCC');
  expect(pools).toEqual([WELL]);
  skewMs += 31_000;
  await tell('PCC');
  expect(pools).toEqual([WELL, 'PCC']);
});

it('keeps the pool that another leader, or the file, has left when the agent knows nobody who is well', async () => {
  const instances = [1, 2].map((at) => ({ id: `n1/web-${at}`, host: '10.0.0.5', port: 8000 + at, weight: 1 }));
  const left = mergeInstances(
    instances.map((each) => ({ ...each, status: 'passing', tags: [], meta: {} })),
    ['passing'],
  );
  consul.set('web', { entries: list('CC') });
  await ask({ ...fresh(), pool: poolMark(left) });
  expect(updates.at(-1)?.status.lastError).toMatch(/nobody is well/);
  expect(pools).toEqual([]);
  await tell('--');
  expect(updates.at(-1)?.status.lastError).toMatch(/empty/);
  expect(pools).toEqual([]);
});

describe('a service that holds no connection and asks nothing while the agent is away', () => {
  beforeEach(async () => {
    const others = Array.from({ length: 100 }, (_, at) => `service-${at}`);
    for (const each of others) consul.set(each, { entries: list('P') });
    consul.set('web', { entries: list(WELL) });
    asker.ask([...others, 'web'].map(fresh));
    // 76 services, and the four lists.
    const areHeard = () => pools.length > 0 && consul.waiting === 80;
    await waitFor(areHeard, { limitMs: LIMIT_MS, what: 'all answers, and the lists' });
    const before = updates.length;
    // The lists alone have a query under way.
    consul.alwaysLists(AWAY);
    consul.alwaysLists(undefined);
    await waitFor(() => updates.length > before, { limitMs: LIMIT_MS, what: 'an answer after the outage' });
  });

  it('keeps its pool when all are critical then', async () => {
    await tell('CCC');
    expect(updates.at(-1)?.status.notes).toHaveLength(3);
    expect(pools).toEqual([WELL]);
  });

  it('believes it as soon as the agent had the time to know', async () => {
    skewMs += 29_500;
    await tell('CCC');
    await waitFor(() => pools.length === 2, { limitMs: LIMIT_MS, what: 'another pool' });
    expect(pools).toEqual([WELL, 'CCC']);
  });
});
