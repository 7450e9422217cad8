// An instance that dies without a word, under load: traffic shows it, and traffic brings it back.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from '../support/load.ts';
import { hasConsul, startConsul } from '../support/real-consul.ts';
import { registrationOf, type SampleInstance, startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

describe.skipIf(!hasConsul())('an instance that is killed without deregistering', () => {
  const owned = new AsyncDisposableStack();
  let weir: WeirProcess;
  let instances: SampleInstance[];

  beforeAll(async () => {
    const consul = owned.adopt(await startConsul(), (agent) => agent.stop());
    instances = await startInstances('one', 'two', 'three');
    for (const instance of instances) {
      owned.adopt(instance, () => instance.kill());
      await consul.register(registrationOf('web', instance));
    }
    weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', match: [{ paths: ['/*'] }], ejection: { base: '1s' } } },
        gateway: { discovery: { consul: { agents: [consul.url] } } },
      }),
      (gateway) => gateway.close(),
    );
    await weir.activePorts(
      'web',
      instances.map(({ port }) => port),
    );
  });
  afterAll(() => owned.disposeAsync());

  it('costs no GET, is ejected with a reason, and is back by itself after its restart', async () => {
    const [, victim] = instances;
    if (victim === undefined) throw new Error('no instance');
    const endpoint = `127.0.0.1:${victim.port}`;
    const find = async () => (await weir.service('web')).endpoints.find((each) => each.endpoint === endpoint);
    const load = startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 8 });
    try {
      await waitFor(() => load.instances.get('two'), { limitMs: 5000, what: 'traffic on the victim' });

      await victim.kill();
      const killedMs = Date.now();
      const ejected = await waitFor(
        async () => (await find().then((each) => each?.state === 'ejected' && each)) || false,
        {
          limitMs: 5000,
          what: 'the ejection',
        },
      );
      expect(ejected).toMatchObject({ effectiveWeight: 0, status: 'passing', ejections: expect.any(Number) });
      expect(ejected.why).toMatch(/^ejected: \d+ failures in a row, the last: connection \w+/);
      // The first ejection lasts base, 20 % more or less; a test that looks late may see a longer one.
      expect(Date.parse(ejected.until ?? '')).toBeGreaterThan(killedMs + 700);
      expect(Date.parse(ejected.until ?? '')).toBeLessThan(killedMs + 30_000);

      await victim.start();
      const back = await waitFor(async () => (await find().then((each) => each?.state === 'active' && each)) || false, {
        limitMs: 20_000,
        what: 'the return of the victim',
      });
      expect(back).toMatchObject({ why: null, until: null, effectiveWeight: 1 });
      await waitFor(async () => (await victim.requests()) > 20, { limitMs: 5000, what: 'traffic after the return' });
    } finally {
      await load.stop();
    }
    expect(load.failed).toEqual([]);
    expect(load.statuses.keys().toArray()).toEqual([200]);
    for (const message of ['endpoint ejected', 'endpoint is back in service']) {
      expect(await weir.logged(message)).toContainEqual(expect.objectContaining({ service: 'web', endpoint }));
    }
  });
});
