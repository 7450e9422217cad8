// Weights from Consul, exact over all workers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from '../support/load.ts';
import { hasConsul, startConsul } from '../support/real-consul.ts';
import { registrationOf, type SampleInstance, startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const REQUESTS = 5000;
const WEIGHTS = [4, 2, 1];

describe.skipIf(!hasConsul())('weights in Consul', () => {
  const owned = new AsyncDisposableStack();
  let weir: WeirProcess;
  let instances: SampleInstance[];

  beforeAll(async () => {
    const consul = owned.adopt(await startConsul(), (agent) => agent.stop());
    instances = await startInstances('heavy', 'middle', 'light');
    for (const instance of instances) owned.adopt(instance, () => instance.kill());
    for (const [at, instance] of instances.entries()) {
      await consul.register(registrationOf('web', instance, WEIGHTS[at]));
    }
    weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
        gateway: { discovery: { consul: { agents: [consul.url] } } },
      }),
      (gateway) => gateway.close(),
    );
  });
  afterAll(() => owned.disposeAsync());

  it('decide the share of every endpoint exactly, over two workers that both do a good part of the work', async () => {
    const load = startLoad({ url: `${weir.url}/share`, fresh: 8, kept: 8, limit: REQUESTS });
    await load.finished;
    expect(load.failed).toEqual([]);
    const sum = WEIGHTS.reduce((total, weight) => total + weight, 0);
    for (const [at, { name }] of instances.entries()) {
      const exact = (REQUESTS * (WEIGHTS[at] ?? 0)) / sum;
      // One request for each of the two workers.
      expect(Math.abs((load.instances.get(name) ?? 0) - exact), `the share of ${name}`).toBeLessThanOrEqual(2);
    }
    const { endpoints } = await weir.serviceWith('web', 'all requests to be counted', ({ endpoints }) => {
      return endpoints.reduce((total, { requests }) => total + requests, 0) === REQUESTS;
    });
    const counted = new Map(endpoints.map(({ endpoint, requests }) => [endpoint, requests]));
    for (const { name, port } of instances) {
      expect(counted.get(`127.0.0.1:${port}`)).toBe(load.instances.get(name));
    }
    const lines = await waitFor(() => weir.accessLog().length === REQUESTS && weir.accessLog(), {
      limitMs: 5000,
      what: 'the access log of all requests',
    });
    const byWorker = Map.groupBy(lines, ({ worker }) => worker);
    expect([...byWorker.keys()].toSorted()).toEqual([1, 2]);
    for (const [worker, { length }] of byWorker) expect(length, `worker ${worker}`).toBeGreaterThan(REQUESTS / 10);
  });
});
