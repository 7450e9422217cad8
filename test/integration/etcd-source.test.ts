// The etcd source against a real etcd.
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../gateway/core/clock.ts';
import { createEtcdSource, type EtcdSourceOptions } from '../../gateway/discovery/etcd.ts';
import { createEtcdClient } from '../../gateway/discovery/etcd-client.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import { startHttpServer } from '../support/local-server.ts';
import { hasEtcd, type RealEtcd, startEtcd } from '../support/real-etcd.ts';
import { recordWatch } from '../support/record-events.ts';
import { waitFor } from '../support/wait-for.ts';

describe.skipIf(!hasEtcd())('the etcd source with a real etcd', () => {
  let etcd: RealEtcd;
  const sources: DiscoverySource[] = [];
  beforeAll(async () => {
    etcd = await startEtcd();
  }, 30_000);
  afterEach(async () => {
    await Promise.all(sources.splice(0).map((source) => source.stop()));
  });
  afterAll(async () => {
    await etcd.close();
  });

  function options(): EtcdSourceOptions {
    return {
      endpoints: [etcd.url],
      prefix: '/services/',
      username: '',
      password: '',
      tls: { ca: '', cert: '', key: '' },
      confirmEmptyMs: 200,
      clock: systemClock,
    };
  }

  function watch(service: string, changes: Partial<EtcdSourceOptions> = {}) {
    const source = createEtcdSource({ ...options(), ...changes });
    sources.push(source);
    return recordWatch(source, service);
  }

  const put = (service: string, port: number, lease?: string) =>
    etcd.put(`/services/${service}/${port}`, { host: '127.0.0.1', port }, lease);

  /** Whether the watch ever reported an emptiness to be believed. */
  const wasEmptied = ({ answers }: ReturnType<typeof watch>) =>
    answers.some(({ instances, doubt }) => instances.length === 0 && doubt === null);

  it('hears within 100 ms of what is set, changed and deleted', async () => {
    await put('quick', 1);
    const web = watch('quick');
    await web.ports([1]);
    const delaysMs: number[] = [];
    for (let port = 2; port < 7; port++) {
      const changedAtMs = performance.now();
      await put('quick', port);
      await web.ports([1, port]);
      delaysMs.push(performance.now() - changedAtMs);
      await etcd.delete(`/services/quick/${port}`);
      await web.ports([1]);
    }
    expect(delaysMs.toSorted((a, b) => a - b)[2]).toBeLessThan(100);
    expect(web.failures).toEqual([]);
  });

  it('reads weight, tags and meta, and skips junk and the keys of neighbours', async () => {
    await etcd.put('/services/full/a', { host: '10.0.0.5', port: 8080, weight: 4, tags: ['v2'], meta: { zone: 'ä' } });
    await etcd.put('/services/full/junk', 'not JSON');
    await etcd.put('/services/full', { host: '10.0.0.6', port: 1 });
    await etcd.put('/services/full-other/b', { host: '10.0.0.7', port: 1 });
    await etcd.put('/services/full0', { host: '10.0.0.8', port: 1 });
    const answer = await watch('full').answer('an answer', () => true);
    expect(answer.instances).toEqual([
      {
        id: 'a',
        host: '10.0.0.5',
        port: 8080,
        weight: 4,
        status: 'passing',
        tags: ['v2'],
        meta: { zone: 'ä' },
      },
    ]);
    expect(answer.skipped).toEqual(['instance "junk": its value is not JSON: "not JSON"']);
    expect(answer.index).toMatch(/^[1-9]\d*$/);
  });

  it('takes an instance out when its lease expires', async () => {
    await put('leased', 1);
    await put('leased', 2, await etcd.grant(1));
    const web = watch('leased');
    await web.ports([1, 2]);
    await web.ports([1], 10_000);
  });

  it('believes that a service is gone when the last key is deleted, and hears when one comes back', async () => {
    await put('brief', 1);
    const web = watch('brief');
    await web.ports([1]);
    const deletedAtMs = performance.now();
    await etcd.delete('/services/brief/1');
    await web.ports([]);
    expect(performance.now() - deletedAtMs).toBeGreaterThan(190);
    expect(web.answers.at(-1)).toMatchObject({ doubt: null });
    await put('brief', 2);
    await web.ports([2]);
  });

  it('does not blink when the last key is replaced', async () => {
    await put('swap', 1);
    const web = watch('swap');
    await web.ports([1]);
    await etcd.delete('/services/swap/1');
    await put('swap', 2);
    await web.ports([2]);
    expect(wasEmptied(web)).toBe(false);
  });

  it('goes on when etcd was killed and comes back, also with a compaction behind its back', async () => {
    for (const port of [1, 2]) await put('lasting', port);
    const web = watch('lasting');
    await web.ports([1, 2]);
    await etcd.kill();
    await waitFor(() => web.failures.length >= 2, { limitMs: 5000, what: 'failures' });
    expect(web.failures[0]?.error).toMatch(/^etcd at http:.* on "\/services\/lasting\/": /);
    await etcd.restart();
    await etcd.delete('/services/lasting/1');
    await etcd.compact(await put('lasting', 3));
    await web.ports([2, 3]);
    await put('lasting', 4);
    await web.ports([2, 3, 4]);
    expect(web.answers.every(({ instances }) => instances.length > 0)).toBe(true);
  });

  it('goes on when etcd is restarted politely', async () => {
    await put('polite', 1);
    const web = watch('polite');
    await web.ports([1]);
    await etcd.stop();
    await etcd.restart();
    await put('polite', 2);
    await web.ports([1, 2], 10_000);
    expect(web.answers.every(({ instances }) => instances.length > 0)).toBe(true);
  });

  it('is told by etcd when what it would hear is compacted', async () => {
    const first = await put('compact', 1);
    await etcd.compact(await put('compact', 2));
    const client = createEtcdClient({ ...options(), endpoints: [etcd.url] });
    const question = { prefix: '/services/compact/', endpoint: 0, revision: String(BigInt(first) - 1n) };
    const messages = await Array.fromAsync(client.watch(question, new AbortController().signal));
    await client.stop();
    expect(messages.at(-1)).toMatchObject({ kind: 'canceled', compactRevision: expect.stringMatching(/^\d+$/) });
  });

  it('ranges again, and calls it no failure, when a compaction comes between range and watch', async () => {
    await put('race', 1);
    let watches = 0;
    const between = async (path: string | undefined) => {
      if (path !== '/v3/watch' || watches++ > 0) return;
      await put('race', 2);
      await etcd.compact(await put('race', 3));
    };
    const proxy = await startHttpServer(async (incoming, outgoing) => {
      await between(incoming.url);
      const forwarded = request(
        `${etcd.url}${incoming.url}`,
        { method: 'POST', headers: incoming.headers },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        },
      );
      forwarded.on('error', () => outgoing.destroy());
      outgoing.on('close', () => forwarded.destroy());
      incoming.pipe(forwarded);
    });
    const web = watch('race', { endpoints: [`http://127.0.0.1:${proxy.port}`] });
    await web.ports([1, 2, 3]);
    expect(web.answers[0]?.instances.map(({ port }) => port)).toEqual([1]);
    await put('race', 4);
    await web.ports([1, 2, 3, 4]);
    expect([watches, web.failures]).toEqual([2, []]);
    await proxy.stop();
  });

  it('polls for the services beyond those that may hold a connection', async () => {
    const names = Array.from({ length: 130 }, (_, at) => `many-${at}`);
    await Promise.all(names.map((name) => put(name, 1)));
    const source = createEtcdSource(options());
    sources.push(source);
    const watches = names.map((name) => recordWatch(source, name));
    await Promise.all(watches.map((web) => web.ports([1], 10_000)));
    await Promise.all(names.map((name) => put(name, 2)));
    await Promise.all(watches.map((web) => web.ports([1, 2], 10_000)));
    expect(watches.flatMap(({ failures }) => failures)).toEqual([]);
    // Whoever listens was told twice, whoever polls asks on.
    const polling = () => watches.filter(({ answers }) => answers.length > 2).length;
    await waitFor(() => polling() >= 10, { limitMs: 10_000, what: 'those that poll' });
    expect(polling()).toBe(10);
  });

  it('goes to the next endpoint when one does not answer', async () => {
    await put('other', 1);
    const web = watch('other', { endpoints: ['http://127.0.0.1:1', etcd.url] });
    await web.ports([1]);
    expect(web.failures).toHaveLength(1);
    await put('other', 2);
    await web.ports([1, 2]);
  });

  it('loses nothing between one watch and the next', async () => {
    await put('steady', 1);
    const web = watch('steady', { listenMs: 200 });
    await web.ports([1]);
    for (let port = 2; port < 40; port++) {
      await put('steady', port);
      if (port > 5) await etcd.delete(`/services/steady/${port - 4}`);
      if (port % 8 === 0) await web.ports([1, port - 3, port - 2, port - 1, port]);
    }
    await waitFor(() => web.answers.length > 80, { limitMs: 10_000, what: 'more ranges' });
    await web.ports([1, 36, 37, 38, 39]);
    expect(web.failures).toEqual([]);
  });

  it('notices that etcd is frozen, and goes on when it thaws', async () => {
    await put('frozen', 1);
    const web = watch('frozen', { listenMs: 300 });
    await web.ports([1]);
    await etcd.freeze();
    try {
      await waitFor(() => web.failures.length > 0, { limitMs: 8000, what: 'the deadline' });
    } finally {
      etcd.thaw();
    }
    await put('frozen', 2);
    await web.ports([1, 2], 10_000);
    expect(web.answers.every(({ instances }) => instances.length > 0)).toBe(true);
  });

  it('leaves nothing behind when it is stopped', async () => {
    await put('stopped', 1);
    const web = watch('stopped');
    await web.ports([1]);
    const { length } = web.events;
    web.stop();
    await put('stopped', 2);
    await sources[0]?.stop();
    expect(web.events).toHaveLength(length);
  });

  it('logs in where etcd wants that, and again when its token is no longer good', async () => {
    await put('locked', 1);
    await etcd.requirePassword('root', 's3cret');
    try {
      const stranger = watch('locked');
      await waitFor(() => stranger.failures.length > 0, { limitMs: 5000, what: 'a refusal' });
      const impostor = watch('locked', { username: 'root', password: 'wrong' });
      const refusal = await waitFor(() => impostor.failures[0], { limitMs: 5000, what: 'a refusal' });
      expect(refusal.error).toMatch(/the login failed: status 400/);
      expect([...stranger.answers, ...impostor.answers]).toEqual([]);

      const web = watch('locked', { username: 'root', password: 's3cret', listenMs: 300 });
      await web.ports([1]);
      await etcd.requirePassword('root', 's3cret');
      await waitFor(() => web.failures.length > 0, { limitMs: 5000, what: 'a token that is forgotten' });
      await put('locked', 2);
      await web.ports([1, 2], 10_000);
      expect(JSON.stringify([web.events, impostor.events])).not.toMatch(/s3cret|wrong/);
    } finally {
      await etcd.requireNoPassword();
    }
  });

  it('doubts the emptiness of an etcd that forgot everything', async () => {
    await put('forgotten', 1);
    const web = watch('forgotten');
    await web.ports([1]);
    await etcd.kill();
    await etcd.restart({ isForgetful: true });
    const empty = await web.answer('an empty answer', ({ instances }) => instances.length === 0, 10_000);
    expect(empty.doubt).toMatch(/revision went back/);
    await put('forgotten', 2);
    await web.ports([2]);
    expect(wasEmptied(web)).toBe(false);
  });
});
