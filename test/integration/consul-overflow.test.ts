// More services than connections: the Consul source against a scripted Consul, up to a thousand services.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConsulSourceOptions, createConsulSource } from '../../gateway/discovery/consul.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import { consulCheck, consulEntry } from '../support/consul-entry.ts';
import { consulSourceOptions } from '../support/consul-source-options.ts';
import { type RecordedWatch, recordWatch } from '../support/record-events.ts';
import { type ScriptedConsul, startScriptedConsul } from '../support/scripted-consul.ts';
import { waitFor } from '../support/wait-for.ts';

const COUNT = 1000;
const LISTS = ['catalog/services', 'health/state/critical', 'health/state/warning', 'catalog/nodes'];

let consul: ScriptedConsul;
let source: DiscoverySource;
beforeEach(async () => {
  consul = await startScriptedConsul();
});
afterEach(async () => {
  await source.stop();
  await waitFor(() => consul.openConnections === 0, { limitMs: 2000, what: 'the connections to close' });
  await consul.stop();
});

const nameOf = (at: number) => `service-${at}`;
const on = (...ports: number[]) => ports.map((port) => consulEntry({ id: `web-${port}`, port }));

/** Watches so many services, each with an instance on port 1, and waits until all know it and the lists are heard. */
async function watchMany(count: number, changes: Partial<ConsulSourceOptions> = {}): Promise<RecordedWatch[]> {
  for (let at = 0; at < count; at++) consul.set(nameOf(at), { entries: on(1) });
  source = createConsulSource(consulSourceOptions({ agents: [consul.url], ...changes }));
  const watches = Array.from({ length: count }, (_, at) => recordWatch(source, nameOf(at)));
  await Promise.all(watches.map((watch) => watch.ports([1], 20_000)));
  return watches;
}

/** Waits until nobody has asked for a while: every query that waits is a blocking one. */
async function quiet(): Promise<void> {
  let before = -1;
  const isQuiet = () => {
    const last = consul.queries.at(-1)?.atMs ?? 0;
    const settled = before === consul.queries.length && performance.now() - last > 150;
    before = consul.queries.length;
    return settled;
  };
  await waitFor(isQuiet, { limitMs: 5000, what: 'silence' });
}

const since = (count: number) => consul.queries.slice(count);

describe('a thousand services', () => {
  it('are all known in under 5 s, with fewer than 100 connections', async () => {
    const beganAtMs = performance.now();
    await watchMany(COUNT);
    expect(performance.now() - beganAtMs).toBeLessThan(5000);
    expect(consul.mostConnections).toBeLessThan(100);
  }, 30_000);

  // How fast: npm run bench:discovery.
  it('are followed without waiting for a poll, whichever changes', async () => {
    const watches = await watchMany(COUNT);
    await quiet();
    const delaysMs: number[] = [];
    for (let change = 0; change < 20; change++) {
      const at = (change * 379 + 130) % COUNT;
      const changedAtMs = performance.now();
      consul.set(nameOf(at), { entries: on(1, 2 + change) });
      await watches[at]?.ports([1, 2 + change]);
      delaysMs.push(performance.now() - changedAtMs);
      await quiet();
    }
    expect(delaysMs.toSorted((a, b) => a - b)[10]).toBeLessThan(1000);
    expect(consul.mostConnections).toBeLessThan(100);
  }, 60_000);
});

it('asks for a service alone when one of its checks changes', async () => {
  const watches = await watchMany(200);
  await quiet();
  const asked = consul.queries.length;
  const events = watches.map((watch) => watch.events.length);
  consul.set(nameOf(170), { entries: [consulEntry({ id: 'web-1', port: 1, checks: [consulCheck('critical')] })] });
  await watches[170]?.answer('the critical instance', ({ instances }) => instances[0]?.status === 'critical');
  await quiet();
  expect(new Set(since(asked).map(({ service }) => service))).toEqual(new Set([nameOf(170), '']));
  expect(watches.filter((watch, at) => watch.events.length !== events[at])).toHaveLength(1);
});

it('reports a change of one service as an event of that service alone', async () => {
  const watches = await watchMany(200);
  await quiet();
  const asked = consul.queries.length;
  const events = watches.map((watch) => watch.events.length);
  consul.set(nameOf(170), { entries: on(1, 2) });
  await watches[170]?.ports([1, 2]);
  await quiet();
  expect(watches.filter((watch, at) => watch.events.length !== events[at])).toEqual([watches[170]]);
  expect(since(asked).length).toBeLessThan(150);
});

it('asks for the index alone of services that may have changed, and for the instances of the one that has', async () => {
  const watches = await watchMany(200);
  await quiet();
  const asked = consul.queries.length;
  consul.set(nameOf(170), { entries: on(1, 2) });
  await watches[170]?.ports([1, 2]);
  await quiet();
  const questions = since(asked).filter(({ service }) => service !== '');
  const isForIndex = ({ query }: { query: string }): boolean => query.includes('tag=');
  expect(questions.filter(isForIndex).length).toBeGreaterThan(70);
  const whole = questions.filter((question) => !isForIndex(question));
  expect(new Set(whole.map(({ service }) => service))).toEqual(new Set([nameOf(170)]));
});

it('limits its questions while services that nobody uses change all the time', async () => {
  await watchMany(200);
  await quiet();
  const asked = consul.queries.length;
  const beganAtMs = performance.now();
  let port = 0;
  const churn = setInterval(() => consul.set('foreign', { entries: on(++port) }), 10);
  try {
    await waitFor(() => performance.now() - beganAtMs > 3000, { limitMs: 4000, what: 'three seconds of churn' });
  } finally {
    clearInterval(churn);
  }
  const perService = since(asked).filter(({ service }) => service === nameOf(190)).length;
  expect(perService).toBeLessThanOrEqual(8);
});

it('asks for no list while every service has a connection of its own', async () => {
  await watchMany(76);
  await quiet();
  expect(consul.queries.filter(({ service }) => service === '')).toEqual([]);
});

it('listens to the four lists with one blocking query each', async () => {
  await watchMany(100);
  await quiet();
  const blocking = consul.queries.filter(({ service, query }) => service === '' && query.includes('index='));
  expect(blocking.map(({ url }) => url.slice('/v1/'.length).split('?')[0]).sort()).toEqual(LISTS.toSorted());
});

it('polls where the lists cannot be had', async () => {
  consul.alwaysLists({ status: 403, body: 'Permission denied' });
  const watches = await watchMany(100);
  consul.set(nameOf(90), { entries: on(2) });
  await watches[90]?.ports([2], 3500);
  expect(consul.queries.filter(({ service }) => service === '').length).toBeLessThan(60);
});

it('asks everybody when the lists are heard again', async () => {
  const watches = await watchMany(100);
  await quiet();
  consul.alwaysLists('reset');
  consul.set(nameOf(90), { entries: on(2), wake: false });
  await waitFor(() => consul.queries.at(-1)?.service === '', {
    limitMs: 2000,
    what: 'a list that is asked for in vain',
  });
  consul.alwaysLists(undefined);
  await watches[90]?.ports([2], 3000);
});

it('then relies on no index, which may be that of another state of the cluster', async () => {
  const watches = await watchMany(100);
  await quiet();
  consul.alwaysLists('reset');
  const index = String(101 + 90);
  consul.set(nameOf(90), { entries: on(2), wake: false, index });
  await waitFor(() => consul.queries.at(-1)?.service === '', {
    limitMs: 2000,
    what: 'a list that is asked for in vain',
  });
  consul.alwaysLists(undefined);
  await watches[90]?.ports([2], 3000);
});
