// Several agents of one cluster: on to the next when one fails, and back to the first when it works again.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createConsulSource } from '../../gateway/discovery/consul.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import { consulEntry } from '../support/consul-entry.ts';
import { consulSourceOptions } from '../support/consul-source-options.ts';
import { recordWatch } from '../support/record-events.ts';
import { type ScriptedConsul, startScriptedConsul } from '../support/scripted-consul.ts';
import { waitFor } from '../support/wait-for.ts';

const on = (...ports: number[]) => ports.map((port) => consulEntry({ id: `web-${port}`, port }));

let agents: readonly [ScriptedConsul, ScriptedConsul];
let source: DiscoverySource;
beforeEach(async () => {
  agents = [await startScriptedConsul(), await startScriptedConsul()];
  source = createConsulSource(
    consulSourceOptions({ agents: agents.map(({ url }) => url), waitMs: 1000, firstAgentRetryMs: 200 }),
  );
});
afterEach(async () => {
  await source.stop();
  for (const agent of agents) await agent.stop();
});

/** The cluster tells every agent the same. */
function set(service: string, ...ports: number[]): void {
  for (const agent of agents) agent.set(service, { entries: on(...ports) });
}

it('asks the first agent alone while it works', async () => {
  set('web', 1);
  const web = recordWatch(source, 'web');
  await web.ports([1]);
  set('web', 2);
  await web.ports([2]);
  expect(agents[1].queries).toEqual([]);
});

it.each([
  ['refuses', { status: 500, body: 'No cluster leader' } as const],
  ['breaks off', 'reset' as const],
  ['is no Consul', { body: '<html>' } as const],
])('goes on to the next agent when the first %s, and keeps what it knows', async (_what, reply) => {
  set('web', 1);
  const web = recordWatch(source, 'web');
  await web.ports([1]);
  agents[0].always(reply);
  await waitFor(() => agents[1].waiting === 1, { limitMs: 3000, what: 'a blocking query at the second agent' });
  set('web', 2);
  await web.ports([2], 1000);
  expect(web.answers.every(({ instances }) => instances.length === 1)).toBe(true);
});

it('tries the first agent now and then, with one question for all services, and stays while it fails', async () => {
  set('web', 1);
  const watches = ['web', 'other', 'third'].map((service) => recordWatch(source, service));
  agents[0].always({ status: 500, body: 'No cluster leader' });
  await waitFor(() => agents[1].waiting === 3, { limitMs: 3000, what: 'all services at the second agent' });
  const tried = agents[0].queries.length;
  const failures = watches.map((watch) => watch.failures.length);
  await waitFor(() => agents[0].queries.length >= tried + 3, { limitMs: 3000, what: 'three tries' });
  const [first, , third] = agents[0].queries.slice(tried);
  expect((third?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(350);
  expect(watches.map((watch) => watch.failures.length)).toEqual(failures);
});

it('returns to the first agent when it works again', async () => {
  set('web', 1);
  set('other', 1);
  const watches = ['web', 'other'].map((service) => recordWatch(source, service));
  for (const watch of watches) await watch.ports([1]);
  agents[0].always('reset');
  await waitFor(() => agents[1].waiting === 2, { limitMs: 3000, what: 'both services at the second agent' });
  agents[0].always(undefined);
  await waitFor(() => agents[0].waiting === 2 && agents[1].waiting === 0, {
    limitMs: 4000,
    what: 'both services at the first agent',
  });
  set('web', 2);
  await watches[0]?.ports([2], 500);
  expect(watches.flatMap(({ failures }) => failures).length).toBeLessThanOrEqual(2);
});

it('does not return to an agent that knows no leader', async () => {
  set('web', 1);
  const web = recordWatch(source, 'web');
  await web.ports([1]);
  agents[0].always('reset');
  await waitFor(() => agents[1].waiting === 1, { limitMs: 3000, what: 'the service at the second agent' });
  const tried = agents[0].queries.length;
  agents[0].always({ body: '[]', headers: { 'x-consul-index': '7', 'x-consul-knownleader': 'false' } });
  await waitFor(() => agents[0].queries.length >= tried + 3, { limitMs: 3000, what: 'three tries' });
  expect(agents[0].queries.slice(tried).every(({ query }) => query === '')).toBe(true);
  set('web', 2);
  await web.ports([2], 1500);
});

it('does not wait for an agent that swallows questions once for every service', async () => {
  const services = Array.from({ length: 200 }, (_, at) => `service-${at}`);
  for (const service of services) set(service, 1);
  agents[0].always('hang');
  const watches = services.map((service) => recordWatch(source, service));
  // Five seconds until the first questions are overdue, and not that for each of the sixteen that pass at a time.
  await Promise.all(watches.map((watch) => watch.ports([1], 9000)));
  expect(agents[0].queries.length).toBeLessThan(40);
}, 20_000);
