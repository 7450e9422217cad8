// A pool that runs empty: the fallback answers and says so, and the pool takes over again when it fills.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from '../support/load.ts';
import { hasConsul, type RealConsul, startConsul } from '../support/real-consul.ts';
import { registrationOf, type SampleInstance, startInstances } from '../support/sample-service.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const BODY = '{"error":"temporarily unavailable"}';
const DEGRADED = 'service is degraded: its fallback answers';
const RECOVERED = 'service answers from its pool again';

describe.skipIf(!hasConsul())('a service whose instances have all deregistered', () => {
  const owned = new AsyncDisposableStack();
  let consul: RealConsul;
  let weir: WeirProcess;
  let instances: SampleInstance[];

  beforeAll(async () => {
    consul = owned.adopt(await startConsul(), (agent) => agent.stop());
    instances = await startInstances('one', 'two');
    for (const instance of instances) {
      owned.adopt(instance, () => instance.kill());
      await consul.register(registrationOf('web', instance));
    }
    const respond = { status: 503, contentType: 'application/json', body: BODY };
    weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', match: [{ paths: ['/*'] }], fallback: { chain: [{ respond }] } } },
        gateway: { discovery: { consul: { agents: [consul.url] }, confirmEmpty: '200ms' } },
      }),
      (gateway) => gateway.close(),
    );
    await weir.activePorts(
      'web',
      instances.map(({ port }) => port),
    );
  });
  afterAll(() => owned.disposeAsync());

  const messages = (message: string) => weir.log().filter(({ msg }) => msg === message);

  it('is answered for by the fallback, until one registers, and each change is logged once', async () => {
    expect((await weir.get('/')).status).toBe(200);
    for (const { name } of instances) await consul.deregister(`web-${name}`);
    await weir.activePorts('web', []);
    const emptyMs = Date.now();

    // More than one request on either worker.
    const load = startLoad({ url: `${weir.url}/item`, fresh: 8, limit: 200 });
    await load.finished;
    expect(load.statuses).toEqual(new Map([[503, 200]]));
    const { status, headers, body } = await weir.get('/item');
    expect({ status, body }).toEqual({ status: 503, body: BODY });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(BODY.length),
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/.+/),
    });
    const since = /^empty; source=respond; since=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/.exec(
      String(headers['x-degraded']),
    );
    expect(since, String(headers['x-degraded'])).not.toBeNull();
    expect(Math.abs(Date.parse(since?.[1] ?? '') - emptyMs)).toBeLessThan(5000);
    expect(await weir.service('web')).toMatchObject({
      state: 'empty',
      degradedSince: expect.any(String),
      endpoints: [],
    });
    expect(await weir.logged(DEGRADED)).toEqual([expect.objectContaining({ service: 'web', reason: 'empty' })]);

    const [first] = instances;
    if (first === undefined) throw new Error('no instance');
    await consul.register(registrationOf('web', first));
    await weir.activePorts('web', [first.port]);
    const again = startLoad({ url: `${weir.url}/item`, fresh: 8, limit: 200 });
    await again.finished;
    expect(again.failed).toEqual([]);
    expect((await weir.get('/')).headers).not.toHaveProperty('x-degraded');
    expect(await weir.service('web')).toMatchObject({ state: 'healthy', degradedSince: null });
    await weir.logged(RECOVERED);
    await logIsWhole();
    expect([messages(DEGRADED).length, messages(RECOVERED).length]).toEqual([1, 1]);
  });

  /** Waits until what the workers have logged so far has been written. */
  async function logIsWhole(): Promise<void> {
    const path = `/mark-${Math.random()}`;
    for (const worker of [1, 2]) {
      const isSeen = () => weir.accessLog().some((line) => line.path === path && line.worker === worker);
      await waitFor(async () => isSeen() || (await send(`${weir.url}${path}`).then(isSeen)), {
        limitMs: 5000,
        what: `a line of worker ${worker}`,
      });
    }
  }
});
