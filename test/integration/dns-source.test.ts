// The DNS source against a scripted server on UDP.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../gateway/core/clock.ts';
import { createDnsSource, type DnsSourceOptions } from '../../gateway/discovery/dns.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import { recordWatch } from '../support/record-events.ts';
import { type ScriptedDns, startDns } from '../support/scripted-dns.ts';
import { waitFor } from '../support/wait-for.ts';

let dns: ScriptedDns;
const sources: DiscoverySource[] = [];
beforeEach(async () => {
  dns = await startDns();
});
afterEach(async () => {
  await Promise.all(sources.splice(0).map((source) => source.stop()));
  await dns.stop();
});

function watch(changes: Partial<DnsSourceOptions> = {}, hasPool = false) {
  const source = createDnsSource({
    resolver: dns.address,
    name: '{service}.test',
    type: 'srv',
    port: null,
    minTtlMs: 30,
    maxTtlMs: 60_000,
    confirmEmptyMs: 60,
    clock: systemClock,
    ...changes,
  });
  sources.push(source);
  return recordWatch({ ...source, watch: (options) => source.watch({ ...options, hasPool }) }, 'web');
}

const asked = (question: string) => dns.questions.filter((other) => other === question).length;

describe('SRV', () => {
  it('gives ports and weights of the lowest priority number, with the addresses of the targets', async () => {
    dns.set('SRV web.test', [
      { target: 'A.test', port: 8081, priority: 1, weight: 3 },
      { target: 'b.test', port: 8082, priority: 1, weight: 0 },
      { target: 'c.test', port: 8083, priority: 2, weight: 9 },
    ]);
    dns.set('A a.test', [{ address: '10.0.0.1' }]);
    dns.set('A b.test', []);
    dns.set('AAAA b.test', [{ address: 'fd00::2' }]);
    const answer = await watch().answer('an answer', () => true);
    expect(answer.instances).toEqual([
      { id: 'a.test/10.0.0.1:8081', host: '10.0.0.1', port: 8081, weight: 3, status: 'passing', tags: [], meta: {} },
      { id: 'b.test/[fd00::2]:8082', host: 'fd00::2', port: 8082, weight: 1, status: 'passing', tags: [], meta: {} },
    ]);
    expect(answer).toMatchObject({
      skipped: [],
      notes: [expect.stringMatching(/1 record of priority 2 in reserve/)],
      index: null,
      doubt: null,
    });
    expect(dns.questions).not.toContain('A c.test');
  });

  it('goes on to the next priority where no record of the first can be used', async () => {
    dns.set('SRV web.test', [
      { target: 'a.test', port: 8081, priority: 1 },
      { target: 'b.test', port: 8082, priority: 2 },
    ]);
    dns.set('A b.test', [{ address: '10.0.0.2' }]);
    const web = watch();
    await web.ports([8082]);
    expect(web.answers[0]?.skipped).toEqual(['target "a.test" has no address']);
    dns.set('A a.test', [{ address: '10.0.0.1' }]);
    await web.ports([8081]);
  });

  it('keeps a target where it was while that cannot be asked for', async () => {
    dns.set('SRV web.test', [
      { target: 'a.test', port: 8081 },
      { target: 'b.test', port: 8082 },
    ]);
    dns.set('A a.test', [{ address: '10.0.0.1' }]);
    dns.set('A b.test', [{ address: '10.0.0.2' }]);
    const web = watch();
    await web.ports([8081, 8082]);
    dns.set('A b.test', 'SERVFAIL');
    const answer = await web.answer('a note', ({ notes }) => notes.length > 0);
    expect(answer.notes).toEqual([expect.stringMatching(/"b\.test" stays where it was: .*SERVFAIL/)]);
    expect(answer.instances.map(({ host }) => host)).toEqual(['10.0.0.1', '10.0.0.2']);
    dns.set('A b.test', 'NXDOMAIN');
    await web.ports([8081]);
  });

  it('doubts an emptiness that comes from records that cannot be used', async () => {
    dns.set('SRV web.test', [{ target: 'a.test', port: 8081 }]);
    const answer = await watch().answer('an answer', () => true);
    expect(answer).toMatchObject({ instances: [], doubt: expect.stringMatching(/no record can be used/) });
  });

  it('takes the target "." for none, without doubt', async () => {
    dns.set('SRV web.test', [{ target: '.', port: 0 }]);
    expect(await watch().answer('an answer', () => true)).toMatchObject({ instances: [], skipped: [], doubt: null });
  });
});

it.each([
  ['a', 'A', '10.0.0.1'],
  ['aaaa', 'AAAA', 'fd00::1'],
] as const)('%s gives every address the port of the configuration', async (type, record, address) => {
  dns.set(`${record} web.test`, [{ address }]);
  const answer = await watch({ type, port: 8080 }).answer('an answer', () => true);
  expect(answer.instances).toMatchObject([{ host: address, port: 8080, weight: 1 }]);
});

describe('the time to live', () => {
  it('is waited for, within its bounds', async () => {
    dns.set('A web.test', [{ address: '10.0.0.1', ttl: 3600 }]);
    const web = watch({ type: 'a', port: 1, maxTtlMs: 150 });
    const startMs = performance.now();
    await waitFor(() => web.answers.length === 3, { limitMs: 2000, what: 'two more looks' });
    expect(performance.now() - startMs).toBeGreaterThan(280);
    expect(asked('A web.test')).toBe(3);
  });

  it('is that of the addresses where records are SRV', async () => {
    dns.set('SRV web.test', [{ target: 'a.test', port: 1 }]);
    dns.set('A a.test', [{ address: '10.0.0.1', ttl: 3600 }]);
    const web = watch();
    await web.ports([1]);
    dns.set('SRV web.test', [{ target: 'a.test', port: 2 }]);
    const other = watch();
    await other.ports([2]);
    expect(web.answers).toHaveLength(1);
    expect(asked('SRV web.test')).toBe(2);
  });
});

describe('an empty answer', () => {
  it.each([
    ['NXDOMAIN', 'NXDOMAIN'],
    ['no records', []],
  ] as const)('(%s) is believed when a second look says the same', async (_name, answer) => {
    dns.set('A web.test', [{ address: '10.0.0.1' }]);
    const web = watch({ type: 'a', port: 1 });
    await web.ports([1]);
    const changedAtMs = performance.now();
    dns.set('A web.test', answer);
    await web.ports([]);
    expect(performance.now() - changedAtMs).toBeGreaterThan(55);
    expect(web.answers.at(-1)).toMatchObject({ doubt: null, skipped: [] });
    dns.set('A web.test', [{ address: '10.0.0.2' }]);
    await web.ports([1]);
  });

  it('that the second look does not repeat is not reported', async () => {
    dns.set('A web.test', 'NXDOMAIN');
    const web = watch({ type: 'a', port: 1, confirmEmptyMs: 100 });
    await waitFor(() => asked('A web.test') === 1, { limitMs: 2000, what: 'the first look' });
    dns.set('A web.test', [{ address: '10.0.0.1' }]);
    await web.ports([1]);
    expect(web.answers.filter(({ instances }) => instances.length === 0)).toEqual([]);
  });
});

describe('a failure', () => {
  it.each(['SERVFAIL', 'REFUSED'] as const)('%s is reported and changes nothing', async (answer) => {
    dns.set('A web.test', [{ address: '10.0.0.1' }]);
    const web = watch({ type: 'a', port: 1 });
    await web.ports([1]);
    dns.set('A web.test', answer);
    const failure = await waitFor(() => web.failures[0], { limitMs: 5000, what: 'a failure' });
    expect(failure.error).toMatch(new RegExp(`^DNS at ${dns.address} on "web\\.test": the resolver .*${answer}`));
    expect(web.last()).toEqual(['10.0.0.1:1 1 passing']);
    dns.set('A web.test', [{ address: '10.0.0.2' }]);
    await waitFor(() => web.last()?.[0]?.startsWith('10.0.0.2:'), { limitMs: 5000, what: 'the change' });
  });

  it('is a resolver that is silent', async () => {
    dns.set('A web.test', 'silence');
    const web = watch({ type: 'a', port: 1 });
    const failure = await waitFor(() => web.failures[0], { limitMs: 15_000, what: 'a failure' });
    expect(failure.error).toMatch(/did not answer in time/);
    expect(web.answers).toEqual([]);
  });

  it('is a resolver that is away; when it is back, its emptiness is doubted for a while', async () => {
    dns.set('A web.test', [{ address: '10.0.0.1' }]);
    const web = watch({ type: 'a', port: 1 });
    await web.ports([1]);
    await dns.stop();
    await waitFor(() => web.failures.length > 0, { limitMs: 15_000, what: 'a failure' });
    dns.set('A web.test', 'NXDOMAIN');
    await dns.restart();
    const empty = await web.answer('an empty answer', ({ instances }) => instances.length === 0, 15_000);
    expect(empty.doubt).toMatch(/may have come back a moment ago/);
    dns.set('A web.test', [{ address: '10.0.0.1' }]);
    await web.ports([1]);
  });

  it('may be unknown to one who takes over a pool: emptiness is doubted for a while', async () => {
    dns.set('A web.test', 'NXDOMAIN');
    const web = watch({ type: 'a', port: 1 }, true);
    const empty = await web.answer('an empty answer', ({ instances }) => instances.length === 0);
    expect(empty.doubt).toMatch(/may have come back a moment ago/);
  });

  it('is believed at once by one who took over a pool and has heard of instances since', async () => {
    dns.set('A web.test', [{ address: '10.0.0.5' }]);
    const web = watch({ type: 'a', port: 1 }, true);
    await web.answer('an instance', ({ instances }) => instances.length === 1);
    dns.set('A web.test', 'NXDOMAIN');
    const empty = await web.answer('an empty answer', ({ instances }) => instances.length === 0);
    expect(empty.doubt).toBeNull();
  });

  it('is a name that is none', async () => {
    const web = watch({ name: '{service}..test' });
    const failure = await waitFor(() => web.failures[0], { limitMs: 2000, what: 'a failure' });
    expect(failure.error).toMatch(/no DNS name/);
  });
});

it('ends its questions at once when it is stopped, and reports nothing more', async () => {
  dns.set('A web.test', [{ address: '10.0.0.1' }]);
  const web = watch({ type: 'a', port: 1 });
  await web.ports([1]);
  dns.set('A web.test', 'silence');
  const before = asked('A web.test');
  await waitFor(() => asked('A web.test') > before, { limitMs: 2000, what: 'a question on its way' });
  web.stop();
  const { length } = web.events;
  const stoppedAtMs = performance.now();
  await sources[0]?.stop();
  expect(performance.now() - stoppedAtMs).toBeLessThan(500);
  expect(web.events).toHaveLength(length);
});
