// Reloads that change where endpoints come from: discovery is asked first, so that no request finds an empty pool.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigFiles } from '../support/config-files.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { type Load, startLoad } from '../support/load.ts';
import { hasConsul, type RealConsul, startConsul } from '../support/real-consul.ts';
import { unexplained } from '../support/resets.ts';
import { registrationOf, type SampleInstance, startInstances } from '../support/sample-service.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 10_000;
/** Workers that are replaced while a load runs, at most. */
const WORKERS_GONE = 4;

describe.skipIf(!hasConsul())('a reload under load', () => {
  const owned = new AsyncDisposableStack();
  let consul: RealConsul;
  let instances: SampleInstance[];
  let discovery: object;
  let weir: WeirProcess;
  let files: ConfigFiles;
  let load: Load;

  beforeAll(async () => {
    consul = owned.adopt(await startConsul(), (agent) => agent.stop());
    instances = await startInstances('one', 'two', 'three');
    for (const instance of instances) owned.adopt(instance, () => instance.kill());
    const [one, two, three] = instances;
    if (one === undefined || two === undefined || three === undefined) throw new Error('no instances');
    await consul.register(registrationOf('first', one));
    await consul.register(registrationOf('second', two));
    const [registryPort, nobodysPort] = await findFreePorts(2);
    const registry = `http://127.0.0.1:${registryPort}`;
    discovery = {
      consul: { agents: [consul.url] },
      registry: { url: registry, interval: '200ms' },
      etcd: { endpoints: [`http://127.0.0.1:${nobodysPort}`] },
      embeddedRegistry: { address: `127.0.0.1:${registryPort}`, store: 'sqlite:data/registry.db' },
    };
    weir = owned.adopt(
      await startWeir({
        routes: { web: routeTo('first') },
        gateway: { discovery },
      }),
      (gateway) => gateway.close(),
    );
    files = new ConfigFiles(weir);
    const body = JSON.stringify({ service: 'second', instance: 'three', addr: '127.0.0.1', port: three.port });
    const headers = { 'Content-Type': 'application/json' };
    expect((await send(`${registry}/register`, { method: 'POST', headers, body })).status).toBeLessThan(300);
    await weir.activePorts('first', [one.port]);
  });
  afterAll(() => owned.disposeAsync());

  beforeEach(() => {
    load = startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 4, pauseMs: 1 });
  });
  afterEach(() => load.stop());

  /** Waits until the instance serves a hundred requests in a row; none of all may have failed. */
  async function servedBy(name: string): Promise<void> {
    const others = () => String([...load.instances].filter(([instance]) => instance !== name));
    let [since, before] = [load.sent, others()];
    const isAlone = () => {
      if (others() !== before || !load.instances.has(name)) [since, before] = [load.sent, others()];
      return load.sent - since > 100;
    };
    await waitFor(isAlone, { limitMs: LIMIT_MS, what: `traffic on ${name} alone` });
    expect(unexplained(load, WORKERS_GONE)).toEqual([]);
  }

  it('asks for the new service of a route before it changes over', async () => {
    await servedBy('one');
    await files.route('web', routeTo('second'));
    expect(await files.reload()).toMatchObject({ result: 'applied', changed: ['web'] });
    await servedBy('two');
    expect((await weir.upstreams()).services.map(({ service }) => service)).toEqual(['second']);
  });

  it('asks for the service of a new route before the first request can come', async () => {
    await files.route('more', { service: 'first', match: [{ paths: ['/more'] }] });
    expect(await files.reload()).toMatchObject({ result: 'applied', added: ['more'] });
    const answers = await Promise.all(Array.from({ length: 20 }, () => weir.get('/more')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await files.removeRoute('more');
    await files.reload();
    expect(unexplained(load, WORKERS_GONE)).toEqual([]);
  });

  it('takes another source for a service', async () => {
    await files.route('web', { ...routeTo('second'), source: 'registry' });
    expect(await files.reload()).toMatchObject({ result: 'applied', changed: ['web'], gatewayKeys: [] });
    await servedBy('three');
    expect(await weir.service('second')).toMatchObject({ source: 'registry', state: 'healthy', lastError: null });
    await files.route('web', routeTo('second'));
    await files.reload();
    await servedBy('two');
    expect(await weir.service('second')).toMatchObject({ source: 'consul' });
  });

  it('takes another default source for all routes that name none', async () => {
    for (const [source, name] of [
      ['registry', 'three'],
      ['consul', 'two'],
    ] as const) {
      await files.gateway({ discovery: { ...discovery, source } });
      const report = await files.reload();
      expect(report).toMatchObject({ result: 'applied', changed: ['web'], gatewayKeys: ['discovery.source'] });
      await servedBy(name);
    }
  });

  it('keeps the last good pool when the new source cannot be reached', async () => {
    const before = (await weir.service('second')).endpoints;
    await files.route('web', { ...routeTo('second'), source: 'etcd' });
    expect(await files.reload()).toMatchObject({ result: 'applied', changed: ['web'] });
    const service = await weir.serviceWith('second', 'an error', ({ lastError }) => lastError !== null);
    expect(service).toMatchObject({ source: 'etcd', state: 'stale' });
    expect(service.endpoints.map(({ endpoint }) => endpoint)).toEqual(before.map(({ endpoint }) => endpoint));
    await servedBy('two');
    await files.route('web', routeTo('second'));
    await files.reload();
    await weir.serviceWith('second', 'health', ({ state, source }) => state === 'healthy' && source === 'consul');
    expect(unexplained(load, WORKERS_GONE)).toEqual([]);
  });

  function routeTo(service: string): object {
    return { service, match: [{ paths: ['/item'] }] };
  }
});
