// The Consul source against a real agent.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ConsulSourceOptions, createConsulSource } from '../../gateway/discovery/consul.ts';
import type { DiscoverySource } from '../../gateway/discovery/source.ts';
import { consulSourceOptions } from '../support/consul-source-options.ts';
import { hasConsul, type RealConsul, type ServiceRegistration, startConsul } from '../support/real-consul.ts';
import { type RecordedWatch, recordWatch } from '../support/record-events.ts';
import { waitFor } from '../support/wait-for.ts';

describe.skipIf(!hasConsul())('the Consul source with a real Consul', () => {
  let consul: RealConsul;
  const sources: DiscoverySource[] = [];
  beforeAll(async () => {
    consul = await startConsul();
  }, 30_000);
  afterEach(async () => {
    await Promise.all(sources.splice(0).map((source) => source.stop()));
  });
  afterAll(async () => {
    await consul.stop();
  });

  function watch(service: string, changes: Partial<ConsulSourceOptions> = {}): RecordedWatch {
    const source = createConsulSource(consulSourceOptions({ agents: [consul.url], confirmEmptyMs: 300, ...changes }));
    sources.push(source);
    return recordWatch(source, service);
  }

  function register(service: string, port: number, changes: Partial<ServiceRegistration> = {}): Promise<void> {
    return consul.register({ Name: service, ID: `${service}-${port}`, Address: '127.0.0.1', Port: port, ...changes });
  }

  async function state(web: RecordedWatch, expected: string[], limitMs = 2000): Promise<void> {
    const is = () => JSON.stringify(web.last()) === JSON.stringify(expected);
    await waitFor(is, { limitMs, what: `${expected}, not ${web.last()}` });
  }

  it('hears within 100 ms of what is registered and deregistered', async () => {
    await register('quick', 1);
    const web = watch('quick');
    await state(web, ['127.0.0.1:1 1 passing']);
    const delaysMs: number[] = [];
    for (let port = 2; port < 7; port++) {
      const changedAtMs = performance.now();
      await register('quick', port);
      await waitFor(() => web.last()?.some((line) => line.startsWith(`127.0.0.1:${port} `)), {
        limitMs: 2000,
        what: `${port}`,
      });
      delaysMs.push(performance.now() - changedAtMs);
      await consul.deregister(`quick-${port}`);
      await state(web, ['127.0.0.1:1 1 passing']);
    }
    expect(delaysMs.toSorted((a, b) => a - b)[2]).toBeLessThan(100);
  });

  it('reads weight, tags and meta as Consul writes them, and the node where the service has no address', async () => {
    await consul.register({
      ID: 'full-1',
      Name: 'full',
      Port: 8080,
      Tags: ['v2', 'blue'],
      Meta: { weight: '4', zone: 'a' },
      Weights: { Passing: 9, Warning: 2 },
    });
    const answer = await watch('full').answer('an answer', () => true);
    expect(answer).toMatchObject({ skipped: [], notes: [], doubt: null, index: expect.stringMatching(/^[1-9]\d*$/) });
    expect(answer.instances).toEqual([
      {
        id: 'weir-test/full-1',
        host: '127.0.0.1',
        port: 8080,
        weight: 4,
        status: 'passing',
        tags: ['v2', 'blue'],
        meta: { weight: '4', zone: 'a' },
      },
    ]);
  });

  it('follows a check through warning and critical (case 90)', async () => {
    const check = { CheckID: 'flip', Name: 'flip', TTL: '60s', Status: 'passing' };
    await register('flip', 1, { Check: check, Weights: { Passing: 10, Warning: 3 } });
    const web = watch('flip', { accept: ['passing', 'warning'] });
    await state(web, ['127.0.0.1:1 10 passing']);
    await consul.setTtlCheck('flip', 'warn');
    await state(web, ['127.0.0.1:1 3 warning']);
    await consul.setTtlCheck('flip', 'fail');
    await state(web, ['127.0.0.1:1 10 critical']);
    await consul.setTtlCheck('flip', 'pass');
    await state(web, ['127.0.0.1:1 10 passing']);
  });

  it('sees maintenance of the instance and of the node come and go, twenty times (case 76)', async () => {
    await register('upkeep', 1);
    await register('upkeep', 2);
    const web = watch('upkeep');
    await state(web, ['127.0.0.1:1 1 passing', '127.0.0.1:2 1 passing']);
    for (let round = 0; round < 20; round++) {
      await consul.setServiceMaintenance('upkeep-2', true);
      await state(web, ['127.0.0.1:1 1 passing', '127.0.0.1:2 1 maintenance']);
      await consul.setServiceMaintenance('upkeep-2', false);
      await state(web, ['127.0.0.1:1 1 passing', '127.0.0.1:2 1 passing']);
    }
    await consul.setNodeMaintenance(true);
    await state(web, ['127.0.0.1:1 1 maintenance', '127.0.0.1:2 1 maintenance']);
    await consul.setNodeMaintenance(false);
    await state(web, ['127.0.0.1:1 1 passing', '127.0.0.1:2 1 passing']);
  }, 60_000);

  it('believes that a service is gone when the last instance is deregistered, and hears when one comes back', async () => {
    await register('brief', 1);
    const web = watch('brief');
    await state(web, ['127.0.0.1:1 1 passing']);
    await consul.deregister('brief-1');
    await state(web, []);
    expect(web.answers.at(-1)).toMatchObject({ doubt: null });
    await register('brief', 2);
    await state(web, ['127.0.0.1:2 1 passing']);
  });

  it.each([1000, 60_000, 600_000, 1500])('sends a wait of %d ms that Consul accepts (case 87)', async (waitMs) => {
    const web = watch(`wait-${waitMs}`, { waitMs });
    await register(`wait-${waitMs}`, 1);
    await state(web, ['127.0.0.1:1 1 passing']);
    await register(`wait-${waitMs}`, 2);
    await state(web, ['127.0.0.1:1 1 passing', '127.0.0.1:2 1 passing']);
    expect(web.failures).toEqual([]);
  });

  it.each(['default', 'stale', 'consistent'] as const)('asks with %s consistency', async (consistency) => {
    const web = watch(`mode-${consistency}`, { consistency });
    await register(`mode-${consistency}`, 1);
    await state(web, ['127.0.0.1:1 1 passing']);
    expect(web.failures).toEqual([]);
  });

  it('asks again when Consul is frozen, and recovers when it thaws (case 85)', async () => {
    await register('frozen', 1);
    const web = watch('frozen', { waitMs: 1000 });
    await state(web, ['127.0.0.1:1 1 passing']);
    await consul.freeze();
    try {
      await waitFor(() => web.failures.length > 0, { limitMs: 6000, what: 'the deadline' });
    } finally {
      consul.thaw();
    }
    await register('frozen', 2);
    await state(web, ['127.0.0.1:1 1 passing', '127.0.0.1:2 1 passing'], 8000);
  }, 20_000);

  it('keeps what it knows while Consul is away, and does not let go of it when it comes back without', async () => {
    for (let port = 1; port < 6; port++) await register('lasting', port);
    const web = watch('lasting');
    await waitFor(() => web.last()?.length === 5, { limitMs: 2000, what: 'five instances' });
    await consul.kill();
    await waitFor(() => web.failures.length >= 2, { limitMs: 3000, what: 'failures' });
    await consul.restart();
    const empty = await web.answer('an empty answer', ({ instances }) => instances.length === 0, 10_000);
    expect(empty.doubt).toMatch(/index went back/);
    await register('lasting', 9);
    // The five may be about to register again.
    const [, ...others] = Array.from({ length: 6 }, (_, port) => `127.0.0.1:${port} 1 passing`);
    await state(web, [...others, '127.0.0.1:9 1 passing']);
    expect(web.answers.at(-1)?.notes).toHaveLength(5);
    expect(web.answers.filter(({ instances, doubt }) => instances.length === 0 && doubt === null)).toEqual([]);
  }, 30_000);
});
