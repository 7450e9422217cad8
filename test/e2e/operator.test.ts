// What an operator does over the admin address: its effect on every worker, how it shows, and how long it holds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ConfigFiles } from '../support/config-files.ts';
import { startLoad } from '../support/load.ts';
import { hasConsul, type RealConsul, startConsul } from '../support/real-consul.ts';
import { registrationOf, type SampleInstance, startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 10_000;
const SORRY = { status: 503, contentType: 'text/plain', body: 'sorry' };

describe.skipIf(!hasConsul())('an operator', () => {
  const owned = new AsyncDisposableStack();
  let consul: RealConsul;
  let weir: WeirProcess;
  let files: ConfigFiles;
  let one: SampleInstance;
  let two: SampleInstance;

  const route = (more: object = {}) => {
    return { service: 'web', match: [{ paths: ['/*'] }], fallback: { chain: [{ respond: SORRY }] }, ...more };
  };

  beforeAll(async () => {
    consul = owned.adopt(await startConsul(), (agent) => agent.stop());
    const instances = await startInstances('one', 'two');
    for (const instance of instances) {
      owned.adopt(instance, () => instance.kill());
      await consul.register(registrationOf('web', instance));
    }
    [one, two] = instances as [SampleInstance, SampleInstance];
    weir = owned.adopt(
      await startWeir({
        routes: { web: route(), bare: { service: 'web', match: [{ paths: ['/bare'] }] } },
        gateway: { discovery: { consul: { agents: [consul.url] } } },
      }),
      (gateway) => gateway.close(),
    );
    files = new ConfigFiles(weir);
    await weir.activePorts('web', [one.port, two.port]);
  });
  afterAll(() => owned.disposeAsync());

  async function operate(instance: SampleInstance, action: string): Promise<void> {
    const path = `/debug/upstreams/web/127.0.0.1:${instance.port}/${action}`;
    const { status, body } = await weir.admin(path, { method: 'POST' });
    expect([status, JSON.parse(body)]).toEqual([
      200,
      { service: 'web', endpoint: `127.0.0.1:${instance.port}`, done: action },
    ]);
  }

  async function maintain(wish: object): Promise<void> {
    const headers = { 'Content-Type': 'application/json' };
    const options = { method: 'POST', headers, body: JSON.stringify(wish) };
    const { status, body } = await weir.admin('/debug/services/web/degraded', options);
    expect([status, JSON.parse(body)]).toMatchObject([200, { service: 'web' }]);
  }

  /** Who serves from now on, of both workers, on fresh and on kept connections. */
  async function servers(): Promise<string[]> {
    const load = startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 4, limit: 80 });
    await load.finished;
    expect(load.failed).toEqual([]);
    return [...load.instances.keys()].toSorted();
  }

  const viewOf = async ({ port }: SampleInstance) =>
    (await weir.service('web')).endpoints.find(({ endpoint }) => endpoint === `127.0.0.1:${port}`);

  it.each([
    ['drain', 'undrain', 'draining', 'an operator lets it drain'],
    ['drain', 'restore', 'draining', 'an operator lets it drain'],
    ['eject', 'restore', 'ejected', 'ejected by an operator'],
  ])('takes an endpoint out by %s and brings it back by %s, for all workers', async (out, back, state, why) => {
    const slow = weir.get('/item?holdMs=300');
    const slower = weir.get('/item?holdMs=300');
    await weir.serviceWith('web', 'both busy', ({ endpoints }) => endpoints.every(({ inFlight }) => inFlight === 1));
    await operate(one, out);
    expect(await viewOf(one)).toMatchObject({ state, why, until: null, effectiveWeight: 0 });
    expect(await servers()).toEqual(['two']);
    // What is under way ends.
    expect([(await slow).status, (await slower).status]).toEqual([200, 200]);
    await operate(one, back);
    expect(await viewOf(one)).toMatchObject({ state: 'active', why: null, effectiveWeight: 1 });
    expect(await servers()).toEqual(['one', 'two']);
  });

  it('is obeyed over snapshots, reloads and new workers, until the instance is replaced', async () => {
    await operate(one, 'drain');
    const { version } = (await weir.upstreams()).snapshot;
    await consul.register(registrationOf('web', one, 5));
    await weir.serviceWith('web', 'the new weight', ({ endpoints }) => endpoints.some(({ weight }) => weight === 5));
    expect((await weir.upstreams()).snapshot.version).toBeGreaterThan(version);
    await files.route('web', route({ timeout: { response: '9s' } }));
    expect(await files.reload()).toMatchObject({ changed: ['web'] });
    await weir.killWorker(1);
    await weir.logged('worker is gone and will be replaced');
    await waitFor(async () => (await weir.upstreams()).gateway.workers.length === 2, {
      limitMs: LIMIT_MS,
      what: 'the new worker',
    });
    expect(await viewOf(one)).toMatchObject({ state: 'draining', weight: 5 });
    expect(await servers()).toEqual(['two']);

    await consul.deregister('web-one');
    await weir.activePorts('web', [two.port]);
    await consul.register({ ...registrationOf('web', one), ID: 'web-one-next' });
    await weir.activePorts('web', [one.port, two.port]);
    expect(await viewOf(one)).toMatchObject({
      state: 'active',
      instances: [expect.stringMatching(/web-one-next$/)],
      requests: 0,
    });
    expect(await servers()).toEqual(['one', 'two']);
  });

  it('brings back what traffic has ejected', async () => {
    await one.kill();
    await waitFor(async () => (await servers()).length === 1 && (await viewOf(one))?.state === 'ejected', {
      limitMs: LIMIT_MS,
      what: 'the ejection',
    });
    await one.start();
    await operate(one, 'restore');
    expect(await viewOf(one)).toMatchObject({ state: 'active', why: null });
    expect(await servers()).toEqual(['one', 'two']);
  });

  it('takes a service out of service: its fallback answers for all workers, with the reason', async () => {
    const reason = 'moving "the" database\n';
    await maintain({ on: true, reason });
    const before = (await one.requests()) + (await two.requests());
    const answers = await Promise.all(Array.from({ length: 20 }, () => weir.get('/item')));
    for (const { status, body, headers } of answers) {
      expect({ status, body }).toEqual({ status: 503, body: 'sorry' });
      expect(headers['x-degraded']).toMatch(/^maintenance; source=respond; since=/);
    }
    // A route of it without a fallback.
    const bare = await weir.get('/bare');
    expect(bare).toMatchObject({ status: 503, headers: { 'content-type': 'application/problem+json' } });
    expect(bare.headers['proxy-status']).toContain('error=destination_unavailable');
    const tunnel = new WebSocket(`ws://127.0.0.1:${weir.port}/tunnel`);
    const refused = await new Promise<Error>((resolve) => tunnel.on('error', resolve));
    expect(refused.message).toContain('503');
    expect((await one.requests()) + (await two.requests())).toBe(before);

    const { maintenance, degradedReason } = await weir.service('web');
    expect([maintenance, degradedReason]).toEqual([{ since: expect.any(String), reason }, 'maintenance']);
    await files.route('web', route({ timeout: { response: '8s' } }));
    await files.reload();
    expect((await weir.get('/item')).body).toBe('sorry');
    expect((await weir.service('web')).maintenance).toEqual(maintenance);

    await maintain({ on: false });
    expect(await servers()).toEqual(['one', 'two']);
    const isWell = async () => {
      await weir.get('/item');
      const service = await weir.service('web');
      return service.maintenance === null && service.degradedSince === null;
    };
    await waitFor(isWell, { limitMs: LIMIT_MS, what: 'a service that is well' });
    const said = ['an operator took the service out of service', 'an operator put the service back in service'];
    for (const message of said) expect(await weir.logged(message)).toMatchObject([{ service: 'web' }]);
  });

  it('takes one service out of service and no other, and forgets it with its last route', async () => {
    await files.route('other', {
      service: 'other',
      endpoints: [`127.0.0.1:${two.port}`],
      match: [{ paths: ['/other'] }],
    });
    await files.reload();
    await maintain({ on: true, reason: '' });
    expect((await weir.get('/other')).status).toBe(200);
    await Promise.all(['web', 'bare'].map((name) => files.removeRoute(name)));
    await files.reload();
    await files.route('web', route());
    await files.reload();
    expect(await weir.service('web')).toMatchObject({ maintenance: null });
    expect(await servers()).toEqual(['one', 'two']);
  });
});
