// The Consul source against a scripted Consul: what it asks, and what it makes of right and wrong answers.
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ConsulSourceOptions, createConsulSource } from '../../gateway/discovery/consul.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import { consulCheck, consulEntry } from '../support/consul-entry.ts';
import { consulSourceOptions } from '../support/consul-source-options.ts';
import { recordWatch } from '../support/record-events.ts';
import { type ScriptedConsul, startScriptedConsul } from '../support/scripted-consul.ts';
import type { RawReply } from '../support/scripted-consul-replies.ts';
import { waitFor } from '../support/wait-for.ts';

let consul: ScriptedConsul;
const sources: DiscoverySource[] = [];
beforeEach(async () => {
  consul = await startScriptedConsul();
});
afterEach(async () => {
  await Promise.all(sources.splice(0).map((source) => source.stop()));
  await waitFor(() => consul.openConnections === 0, { limitMs: 1000, what: 'the connections to close' });
  await consul.stop();
});

function createSource(changes: Partial<ConsulSourceOptions> = {}): DiscoverySource {
  const source = createConsulSource(consulSourceOptions({ agents: [consul.url], ...changes }));
  sources.push(source);
  return source;
}

const on = (...ports: number[]) => ports.map((port) => consulEntry({ id: `web-${port}`, port }));
const queriesSoFar = () => consul.queries.map(({ query }) => query);

it('blocks with the last index and hears of a change at once', async () => {
  consul.set('web', { entries: on(1), index: '7' });
  const web = recordWatch(createSource(), 'web');
  await web.ports([1]);
  await waitFor(() => consul.waiting === 1, { limitMs: 1000, what: 'a blocking query' });
  const changedAtMs = performance.now();
  consul.set('web', { entries: on(1, 2), index: '8' });
  await web.ports([1, 2]);
  expect(performance.now() - changedAtMs).toBeLessThan(100);
  await waitFor(() => consul.waiting === 1, { limitMs: 1000, what: 'the next blocking query' });
  expect(queriesSoFar()).toEqual(['', 'index=7&wait=60s', 'index=8&wait=60s']);
});

it('asks only for the health of the service, with the token in a field of its own (cases 72, 84)', async () => {
  consul.set('web', { entries: on(1) });
  const web = recordWatch(createSource({ token: 's3cret', datacenter: 'dc2', consistency: 'stale' }), 'web');
  await web.ports([1]);
  const [first] = consul.queries;
  expect(first?.url).toBe('/v1/health/service/web?dc=dc2&stale');
  expect(first?.headers['x-consul-token']).toBe('s3cret');
  expect(JSON.stringify(consul.queries.map(({ url }) => url))).not.toContain('s3cret');
});

it('begins anew after the index went backwards (case 61)', async () => {
  consul.set('web', { entries: on(1), index: '900' });
  const web = recordWatch(createSource(), 'web');
  await waitFor(() => consul.waiting === 1, { limitMs: 1000, what: 'a blocking query' });
  consul.set('web', { entries: on(2), index: '100' });
  await web.ports([2]);
  await waitFor(() => consul.waiting === 1, { limitMs: 1000, what: 'the next blocking query' });
  consul.set('web', { entries: on(3), index: '101' });
  await web.ports([3]);
  expect(queriesSoFar().slice(0, 4)).toEqual(['', 'index=900&wait=60s', '', 'index=100&wait=60s']);
});

it('returns an index above 2^53 digit for digit (case 63)', async () => {
  consul.set('web', { entries: on(1), index: '9007199254740992' });
  const web = recordWatch(createSource(), 'web');
  await waitFor(() => consul.waiting === 1, { limitMs: 1000, what: 'a blocking query' });
  consul.set('web', { entries: on(2), index: '9007199254740993' });
  await web.ports([2]);
  await waitFor(() => consul.queries.length === 3, { limitMs: 1000, what: 'the third query' });
  expect(queriesSoFar().slice(1)).toEqual(['index=9007199254740992&wait=60s', 'index=9007199254740993&wait=60s']);
});

it('asks a few times a second at most when it is woken all the time, and still sees a change (case 64)', async () => {
  let index = 1000;
  const churn = setInterval(() => {
    index += 1;
    const entries = [...on(1, 2)].toSorted(() => Math.random() - 0.5);
    consul.set('web', { entries: index > 1150 ? on(3) : entries, index: String(index) });
  }, 10);
  try {
    const web = recordWatch(createSource(), 'web');
    await waitFor(() => index >= 1150, { limitMs: 5000, what: 'the churn' });
    const [first] = consul.queries;
    const seconds = (performance.now() - (first?.atMs ?? 0)) / 1000;
    expect(consul.queries.length).toBeLessThan(8 + 4 * seconds);
    await web.ports([3], 2000);
  } finally {
    clearInterval(churn);
  }
});

it('skips what cannot be used, tells of it, and uses the rest (case 66)', async () => {
  const bad = [null, consulEntry({ port: 0 }), consulEntry({ address: 'a b' }), { ...consulEntry(), Service: null }];
  consul.set('web', { entries: [...bad, ...on(1)] });
  const web = recordWatch(createSource(), 'web');
  expect((await web.answer('an answer', () => true)).skipped).toHaveLength(4);
  await web.ports([1]);
});

describe('wrong answers are failures, and the watch recovers by itself (cases 69, 73)', () => {
  const html = { headers: { 'Content-Type': 'text/html' }, body: '<html>[]</html>' };
  it.each<[string, RawReply, RegExp]>([
    ['500', { status: 500, body: 'No cluster leader' }, /status 500: "No cluster leader"/],
    ['403', { status: 403, body: 'Permission denied' }, /status 403: "Permission denied"/],
    ['404', { status: 404, body: '' }, /status 404$/],
    ['429', { status: 429, body: '[]' }, /status 429/],
    ['502', { status: 502, body: '[]' }, /status 502/],
    ['503', { status: 503, body: '[]' }, /status 503/],
    ['204', { status: 204, body: '' }, /status 204/],
    ['a redirect', { status: 301, headers: { Location: '/v1/health/service/other' }, body: '[]' }, /status 301/],
    ['HTML', html, /"text\/html" is not JSON/],
    ['truncated JSON', { body: '[{"Node":{' }, /not JSON/],
    ['an object', { body: '{}' }, /not a list, but an object/],
    ['null', { body: 'null' }, /not a list, but null/],
    ['nothing', { body: '' }, /it is empty/],
    ['gzip', { headers: { 'Content-Encoding': 'gzip' }, body: gzipSync('[]') }, /content coding "gzip"/],
    ['a body that breaks off', { cutAfter: '[]' }, /before the answer was whole/],
  ])('%s', async (_what, reply, error) => {
    consul.set('web', { entries: on(1) });
    const web = recordWatch(createSource(), 'web');
    await web.ports([1]);
    consul.always(reply);
    consul.set('web', { entries: on(2) });
    const failure = await waitFor(() => web.failures[0], { limitMs: 2000, what: 'a failure' });
    expect(failure.error).toMatch(error);
    expect(web.last()).toEqual(['10.0.0.5:1 1 passing']);
    consul.always(undefined);
    await web.ports([2]);
    expect(web.answers.every(({ instances }) => instances.length === 1)).toBe(true);
  });

  it('backs off from one failure to the next (case 73)', async () => {
    consul.always({ status: 403, body: 'Permission denied' });
    recordWatch(createSource(), 'web');
    await waitFor(() => consul.queries.length === 5, { limitMs: 5000, what: 'five queries' });
    const times = consul.queries.map(({ atMs }) => atMs);
    const gapsMs = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
    expect(gapsMs[0]).toBeLessThan(300);
    for (const [at, gapMs] of gapsMs.entries()) expect(gapMs).toBeGreaterThan(0.9 * 125 * 2 ** at);
  });

  it('never tells the token in an error', async () => {
    consul.always({ status: 403, body: 'token s3cret may not' });
    const web = recordWatch(createSource({ token: 's3cret' }), 'web');
    const failure = await waitFor(() => web.failures[0], { limitMs: 1000, what: 'a failure' });
    expect(failure.error).toContain('*** may not');
    expect(failure.error).not.toContain('s3cret');
  });
});

describe('an empty answer', () => {
  const leaderless = { 'X-Consul-KnownLeader': 'false' };
  it.each<[string, Record<string, string>, RegExp]>([
    ['without a known leader (case 70)', leaderless, /no leader/],
    ['after a minute without contact (case 70)', { 'X-Consul-LastContact': '60000' }, /60000 ms/],
    ['filtered by ACLs (case 72)', { 'X-Consul-Results-Filtered-By-ACLs': 'true' }, /ACL/],
  ])('%s is doubtful, and what follows is heard', async (_what, headers, doubt) => {
    consul.set('web', { entries: on(1, 2, 3) });
    const web = recordWatch(createSource(), 'web');
    await web.ports([1, 2, 3]);
    consul.set('web', { entries: [], headers });
    await web.answer('a doubtful answer', (answer) => answer.doubt !== null && doubt.test(answer.doubt));
    expect(web.answers.every(({ instances, doubt }) => instances.length > 0 || doubt !== null)).toBe(true);
    consul.set('web', { entries: on(1, 2, 3) });
    await web.ports([1, 2, 3]);
  });

  it('with a known leader is reported once a consistent read has confirmed it (case 70)', async () => {
    consul.set('web', { entries: on(1) });
    const web = recordWatch(createSource(), 'web');
    await web.ports([1]);
    const emptiedAtMs = performance.now();
    consul.set('web', { entries: [] });
    await web.ports([]);
    expect(performance.now() - emptiedAtMs).toBeGreaterThan(95);
    expect(web.answers.at(-1)).toMatchObject({ instances: [], doubt: null });
    expect(queriesSoFar()).toContain('consistent');
  });

  it('is never reported when the instances come back before it is confirmed', async () => {
    consul.set('web', { entries: on(1) });
    const web = recordWatch(createSource({ confirmEmptyMs: 2000 }), 'web');
    await web.ports([1]);
    consul.set('web', { entries: [] });
    await waitFor(() => queriesSoFar().some((query) => /wait=\d+ms|wait=2s/.test(query)), {
      limitMs: 1000,
      what: 'the query that listens while the answer is unconfirmed',
    });
    consul.set('web', { entries: on(2) });
    await web.ports([2], 500);
    expect(web.answers.every(({ instances }) => instances.length === 1)).toBe(true);
  });

  it('is doubtful when the confirmation fails', async () => {
    consul.set('web', { entries: on(1) });
    const web = recordWatch(createSource(), 'web');
    await web.ports([1]);
    consul.set('web', { entries: [], wake: false });
    consul.set('web', { entries: [] });
    consul.always({ status: 500, body: 'No cluster leader' });
    const doubtful = await web.answer('a doubtful answer', ({ doubt }) => doubt !== null);
    expect(doubtful.doubt).toMatch(/not confirmed: .*status 500/);
  });
});

it('reports instances that are out with their status (cases 75, 76, 82)', async () => {
  const deadNode = [consulCheck('critical', 'serfHealth', ''), consulCheck('passing')];
  consul.set('web', {
    entries: [
      consulEntry({ node: 'n1', id: 'web', port: 1 }),
      consulEntry({ node: 'n2', id: 'web', port: 2, checks: deadNode }),
      consulEntry({ node: 'n3', id: 'web', port: 3, checks: [consulCheck('critical', '_node_maintenance', '')] }),
    ],
  });
  const web = recordWatch(createSource(), 'web');
  const answer = await web.answer('an answer', () => true);
  expect(answer.instances.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'n1/web passing',
    'n2/web critical',
    'n3/web maintenance',
  ]);
});

it('asks again when a blocking query is never answered (case 85)', async () => {
  consul.set('web', { entries: on(1) });
  const web = recordWatch(createSource({ waitMs: 200 }), 'web');
  await web.ports([1]);
  consul.always('hang');
  await waitFor(() => web.failures.length > 0, { limitMs: 200 + 200 / 16 + 2500, what: 'the deadline' });
  expect(web.failures[0]?.error).toMatch(/no answer within \d+ ms/);
  consul.always(undefined);
  consul.set('web', { entries: on(1, 2) });
  await web.ports([1, 2], 6000);
});

it('applies new data that comes with the old index when the wait is over (case 97)', async () => {
  consul.set('web', { entries: on(1), index: '7' });
  const web = recordWatch(createSource({ waitMs: 300 }), 'web');
  await waitFor(() => consul.waiting === 1, { limitMs: 1000, what: 'a blocking query' });
  consul.set('web', { entries: on(2), index: '7', wake: false });
  await web.ports([2]);
});

it('resumes from the index it is given', async () => {
  consul.set('web', { entries: on(1), index: '7' });
  recordWatch(createSource(), 'web', '7');
  await waitFor(() => consul.waiting === 1, { limitMs: 1000, what: 'a blocking query' });
  expect(queriesSoFar()).toEqual(['index=7&wait=60s']);
});

it('goes to the next agent when one fails, at once', async () => {
  consul.set('web', { entries: on(1) });
  // Nobody listens on port 1.
  const web = recordWatch(createSource({ agents: ['http://127.0.0.1:1', consul.url] }), 'web');
  await web.ports([1], 1000);
  expect(web.failures).toHaveLength(1);
  expect(web.failures[0]?.error).toMatch(/connection refused/);
});

it('becomes live when Consul appears later (case 88)', async () => {
  consul.always('reset');
  consul.set('web', { entries: on(1) });
  const web = recordWatch(createSource(), 'web');
  await waitFor(() => web.failures.length >= 2, { limitMs: 2000, what: 'two failures' });
  expect(web.answers).toEqual([]);
  consul.always(undefined);
  await web.ports([1]);
});

it('serves more services than it may open connections, all of them', async () => {
  const services = Array.from({ length: 300 }, (_, at) => `service-${at}`);
  for (const service of services) consul.set(service, { entries: on(1) });
  const source = createSource();
  const watches = services.map((service) => recordWatch(source, service));
  await Promise.all(watches.map((watch) => watch.ports([1], 10_000)));
  for (const service of services) consul.set(service, { entries: on(2) });
  await Promise.all(watches.map((watch) => watch.ports([2], 10_000)));
  expect(consul.mostConnections).toBeLessThanOrEqual(96);
  expect(consul.waiting).toBeGreaterThan(70);
}, 30_000);

it('is silent once it was stopped, and closes its connections', async () => {
  consul.set('web', { entries: on(1) });
  const source = createSource();
  const web = recordWatch(source, 'web');
  const other = recordWatch(source, 'other');
  await web.ports([1]);
  await waitFor(() => consul.waiting === 2, { limitMs: 1000, what: 'two blocking queries' });
  web.stop();
  const events = web.events.length;
  consul.set('web', { entries: on(2) });
  await waitFor(() => consul.waiting === 1, { limitMs: 1000, what: 'the end of the query' });
  other.stop();
  await source.stop();
  expect(web.events).toHaveLength(events);
});
