// Consul away for twenty seconds under load: the last good pool serves, says that it is stale, and is fresh afterwards.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Load, startLoad } from '../support/load.ts';
import { hasConsul, type RealConsul, startConsul } from '../support/real-consul.ts';
import { registrationOf, type SampleInstance, startInstances } from '../support/sample-service.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const OUTAGE_MS = 20_000;
/** The longest pause between two questions after failures is 30 seconds. */
const RETURN_LIMIT_MS = 45_000;

interface Scene extends AsyncDisposable {
  readonly consul: RealConsul;
  readonly weir: WeirProcess;
  readonly instances: readonly SampleInstance[];
  readonly load: Load;
}

describe.skipIf(!hasConsul()).concurrent('Consul away for twenty seconds', () => {
  it('frozen: fails no request, shows the pool as stale with its age, and is fresh when Consul answers again', async () => {
    await using scene = await setTheScene();
    const { consul, weir, load } = scene;
    await consul.freeze();
    try {
      await sitOutTheOutage(scene);
    } finally {
      consul.thaw();
    }
    await expectFresh(weir);
    await load.stop();
    expect(load.failed).toEqual([]);
  });

  it('killed, and back without memory: fails no request, and never empties the pool', async () => {
    await using scene = await setTheScene();
    const { consul, weir, instances, load } = scene;
    await consul.kill();
    await sitOutTheOutage(scene);
    await consul.restart();
    for (const instance of instances) await consul.register(registrationOf('web', instance));
    await expectFresh(weir);
    await weir.activePorts('web', portsOf(instances));
    await load.stop();
    expect(load.failed).toEqual([]);
    const changes = weir.log().filter(({ msg }) => msg === 'pool changed');
    expect(changes.flatMap(({ removed }) => removed)).toEqual([]);
  });
});

async function setTheScene(): Promise<Scene> {
  await using owned = new AsyncDisposableStack();
  const consul = owned.adopt(await startConsul(), (agent) => agent.stop());
  const instances = await startInstances('one', 'two', 'three');
  for (const instance of instances) {
    owned.adopt(instance, () => instance.kill());
    await consul.register(registrationOf('web', instance));
  }
  const options = {
    routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
    gateway: { discovery: { consul: { agents: [consul.url], wait: '2s' } } },
  };
  const weir = owned.adopt(await startWeir(options), (gateway) => gateway.close());
  await weir.activePorts('web', portsOf(instances));
  const load = owned.adopt(startLoad({ url: `${weir.url}/item`, fresh: 2, kept: 4, pauseMs: 5 }), (each) =>
    each.stop(),
  );
  const kept = owned.move();
  return { consul, weir, instances, load, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Looks at the pool until the outage has lasted long enough. */
async function sitOutTheOutage({ weir, instances, load }: Scene): Promise<void> {
  const beganMs = performance.now();
  const stale = await weir.serviceWith('web', 'a stale pool', ({ state }) => state === 'stale');
  expect(stale.lastError).toMatch(/consul/i);
  const sentBefore = load.sent;
  let ageSeconds = stale.ageSeconds ?? Number.NaN;
  while (performance.now() - beganMs < OUTAGE_MS) {
    // The outage has to last; what is awaited here is the time itself.
    await delay(1000);
    const service = await weir.service('web');
    expect(service).toMatchObject({ state: 'stale', lastError: expect.any(String) });
    expect(service.ageSeconds).toBeGreaterThan(ageSeconds);
    expect(service.endpoints.map(({ state }) => state)).toEqual(instances.map(() => 'active'));
    ageSeconds = service.ageSeconds ?? Number.NaN;
  }
  expect(ageSeconds).toBeGreaterThan(OUTAGE_MS / 1000 - 2);
  expect(load.sent - sentBefore).toBeGreaterThan(1000);
}

async function expectFresh(weir: WeirProcess): Promise<void> {
  const fresh = await weir.serviceWith('web', 'a fresh pool', ({ state }) => state === 'healthy', RETURN_LIMIT_MS);
  expect(fresh).toMatchObject({ lastError: null });
  expect(fresh.ageSeconds).toBeLessThan(3);
}

function portsOf(instances: readonly SampleInstance[]): number[] {
  return instances.map(({ port }) => port);
}
