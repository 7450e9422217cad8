// Without Consul: endpoints fixed in the route's file, the table registry inside the gateway, DNS and etcd.
import { afterAll, describe, expect, it } from 'vitest';
import { findFreePorts } from '../support/free-ports.ts';
import { startLoad } from '../support/load.ts';
import { parsePrometheusText, sumOf } from '../support/prometheus-text.ts';
import { hasEtcd, startEtcd } from '../support/real-etcd.ts';
import { type SampleInstance, startInstances } from '../support/sample-service.ts';
import { startDns } from '../support/scripted-dns.ts';
import { send } from '../support/send.ts';
import { startWeir } from '../support/weir-process.ts';

describe('a gateway without Consul', () => {
  const owned = new AsyncDisposableStack();
  afterAll(() => owned.disposeAsync());

  async function instances(...names: string[]): Promise<SampleInstance[]> {
    const started = await startInstances(...names);
    for (const instance of started) owned.adopt(instance, () => instance.kill());
    return started;
  }

  it('serves fixed endpoints of a route by their weights', async () => {
    const [plain, heavy] = await instances('plain', 'heavy');
    const endpoints = [`127.0.0.1:${plain?.port}`, { address: `127.0.0.1:${heavy?.port}`, weight: 3, tags: ['v2'] }];
    const weir = owned.adopt(
      await startWeir({ routes: { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }] } } }),
      (gateway) => gateway.close(),
    );
    const load = startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 4, limit: 400 });
    await load.finished;
    expect(load.failed).toEqual([]);
    expect(load.instances).toEqual(
      new Map([
        ['plain', 100],
        ['heavy', 300],
      ]),
    );
    expect(await weir.service('web')).toMatchObject({
      source: 'static',
      state: 'healthy',
      lastError: null,
      endpoints: expect.arrayContaining([
        expect.objectContaining({ weight: 1, tags: [] }),
        expect.objectContaining({ weight: 3, tags: ['v2'] }),
      ]),
    });
  });

  it('serves what registers in its own registry, while it is registered', async () => {
    const [one, two] = await instances('one', 'two');
    const [registryPort] = await findFreePorts(1);
    const registry = `http://127.0.0.1:${registryPort}`;
    const weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
        gateway: {
          discovery: {
            source: 'registry',
            registry: { url: registry, interval: '100ms' },
            embeddedRegistry: { address: `127.0.0.1:${registryPort}`, store: 'sqlite:data/registry.db' },
            confirmEmpty: '100ms',
          },
        },
      }),
      (gateway) => gateway.close(),
    );
    const tell = async (method: string, record: object) => {
      const headers = { 'Content-Type': 'application/json' };
      const answer = await send(`${registry}/register`, { method, headers, body: JSON.stringify(record) });
      expect(answer.status, answer.body).toBe(200);
    };
    const keyOf = (instance: SampleInstance | undefined) => ({ service: 'web', instance: instance?.name });
    const record = (instance: SampleInstance | undefined, weight: number) => {
      return { ...keyOf(instance), addr: '127.0.0.1', port: instance?.port, meta: { weight } };
    };
    expect((await weir.get('/')).status).toBe(503);

    await tell('POST', record(one, 1));
    await tell('POST', record(two, 4));
    await weir.activePorts('web', [one?.port ?? 0, two?.port ?? 0]);
    const load = startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 4, limit: 200 });
    await load.finished;
    expect(load.failed).toEqual([]);
    expect(load.instances).toEqual(
      new Map([
        ['one', 40],
        ['two', 160],
      ]),
    );

    await tell('DELETE', keyOf(two));
    await weir.activePorts('web', [one?.port ?? 0]);
    // The table outlives the gateway.
    await weir.start();
    await weir.activePorts('web', [one?.port ?? 0]);
    expect(await weir.get('/')).toMatchObject({ status: 200, headers: { 'x-instance': 'one' } });
    await tell('DELETE', keyOf(one));
    await weir.activePorts('web', []);
    expect((await weir.get('/')).status).toBe(503);
  });

  it('serves what DNS names, by the weights of the SRV records, on a route that names its source', async () => {
    const [one, two] = await instances('one', 'two');
    const dns = owned.adopt(await startDns(), (server) => server.stop());
    const record = (instance: SampleInstance | undefined, weight: number) => {
      return { target: 'host.test', port: instance?.port ?? 0, weight };
    };
    dns.set('A host.test', [{ address: '127.0.0.1' }]);
    dns.set('SRV web.service.test', [record(one, 1), record(two, 3)]);
    const weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', source: 'dns', match: [{ paths: ['/*'] }] } },
        gateway: {
          discovery: {
            dns: { resolver: dns.address, name: '{service}.service.test', minTtl: '100ms' },
            confirmEmpty: '100ms',
          },
        },
      }),
      (gateway) => gateway.close(),
    );
    await weir.activePorts('web', [one?.port ?? 0, two?.port ?? 0]);
    const load = startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 4, limit: 400 });
    await load.finished;
    expect(load.failed).toEqual([]);
    expect(load.instances).toEqual(
      new Map([
        ['one', 100],
        ['two', 300],
      ]),
    );

    dns.set('SRV web.service.test', 'SERVFAIL');
    await weir.serviceWith('web', 'an error of DNS', ({ lastError }) => /SERVFAIL/.test(lastError ?? ''));
    expect((await weir.get('/')).status).toBe(200);
    const during = parsePrometheusText((await weir.admin('/metrics')).body);
    expect(sumOf(during, 'weir_discovery_stale', { service: 'web' })).toBe(1);
    const [good, bad] = ['answer', 'failure'].map((result) => {
      return sumOf(during, 'weir_discovery_queries_total', { source: 'dns', result });
    });
    expect(good).toBeGreaterThan(0);
    expect(bad).toBeGreaterThan(0);
    const timed = sumOf(during, 'weir_discovery_query_duration_seconds_count', { source: 'dns' });
    // Both are read in this order, while the gateway goes on asking.
    expect(timed).toBeGreaterThanOrEqual(sumOf(during, 'weir_discovery_queries_total'));
    dns.set('SRV web.service.test', [record(two, 1)]);
    await weir.activePorts('web', [two?.port ?? 0]);
  });

  it.skipIf(!hasEtcd())('serves what is in etcd, through a crash of etcd', async () => {
    const [one, two] = await instances('one', 'two');
    const etcd = owned.adopt(await startEtcd(), (server) => server.close());
    const put = (instance: SampleInstance | undefined, weight: number) =>
      etcd.put(`/weir/web/${instance?.name}`, { host: '127.0.0.1', port: instance?.port, weight, tags: ['v2'] });
    await put(one, 1);
    await put(two, 4);
    const weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
        gateway: { discovery: { source: 'etcd', etcd: { endpoints: [etcd.url], prefix: '/weir/' } } },
      }),
      (gateway) => gateway.close(),
    );
    await weir.activePorts('web', [one?.port ?? 0, two?.port ?? 0]);
    const load = startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 4, limit: 200 });
    await load.finished;
    expect(load.failed).toEqual([]);
    expect(load.instances).toEqual(
      new Map([
        ['one', 40],
        ['two', 160],
      ]),
    );

    await etcd.kill();
    await weir.serviceWith('web', 'an error of etcd', ({ lastError }) => lastError !== null);
    expect((await weir.get('/')).status).toBe(200);
    await etcd.restart();
    await etcd.delete('/weir/web/two');
    await weir.activePorts('web', [one?.port ?? 0]);
    expect(await weir.service('web')).toMatchObject({ source: 'etcd', state: 'healthy', lastError: null });
  });
});
