// Workers that are killed under load: who leads next, which requests that may cost, and what a new worker serves.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FailedRequest, startLoad } from '../support/load.ts';
import { hasConsul, type RealConsul, startConsul } from '../support/real-consul.ts';
import { registrationOf, type SampleInstance, startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const CLIENTS = 8;

describe.skipIf(!hasConsul())('a worker that is killed', () => {
  const owned = new AsyncDisposableStack();
  let consul: RealConsul;
  let weir: WeirProcess;
  let instances: SampleInstance[];

  beforeAll(async () => {
    consul = owned.adopt(await startConsul(), (agent) => agent.stop());
    instances = await startInstances('one', 'two', 'late-1', 'late-2');
    for (const instance of instances) owned.adopt(instance, () => instance.kill());
    for (const instance of instances.slice(0, 2)) await consul.register(registrationOf('web', instance));
    weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
        gateway: { discovery: { consul: { agents: [consul.url] } } },
      }),
      (gateway) => gateway.close(),
    );
    await weir.activePorts('web', portsOf(instances.slice(0, 2)));
  });
  afterAll(() => owned.disposeAsync());

  it('as the leader is followed by another in a higher term, and changes still arrive', async () => {
    for (const late of instances.slice(2)) {
      const before = (await weir.upstreams()).gateway.leader;
      if (before.worker === null) throw new Error('nobody leads');
      await weir.killWorker(before.worker);
      const load = startLoad({ url: `${weir.url}/item`, fresh: CLIENTS, pauseMs: 1 });
      try {
        const after = await waitFor(
          async () => {
            const { leader } = (await weir.upstreams()).gateway;
            return leader.worker !== null && leader.term > before.term && leader;
          },
          // The promise is one second.
          { limitMs: 2000, what: 'a new leader' },
        );
        expect(after.term).toBe(before.term + 1);
        await consul.register(registrationOf('web', late));
        await waitFor(() => load.instances.get(late.name), { limitMs: 2000, what: `traffic on ${late.name}` });
        await listening(weir);
      } finally {
        await load.stop();
      }
      const goneMs = await lastGoneMs(weir);
      expect(load.failed.filter(({ startedMs }) => startedMs > goneMs)).toEqual([]);
    }
  });

  it('costs no more than the requests it had under way, and its replacement serves at once', async () => {
    const load = startLoad({ url: `${weir.url}/item`, fresh: CLIENTS });
    let restarts = 0;
    try {
      for (const id of [1, 2, 1, 2, 1, 2]) {
        const killedMs = Date.now();
        const failedBefore = load.failed.length;
        await weir.killWorker(id);
        restarts += 1;
        const goneMs = await waitFor(async () => (await lastGoneMs(weir)) >= killedMs && lastGoneMs(weir), {
          limitMs: 5000,
          what: `the end of worker ${id}`,
        });
        // Answers of the new worker itself, not of the one that stayed.
        await waitFor(() => weir.accessLog().some((line) => line.worker === id && Date.parse(line.time) > goneMs + 1), {
          limitMs: 5000,
          what: `answers of the new worker ${id}`,
        });
        await listening(weir);
        const failed = load.failed.slice(failedBefore);
        expect(failed.filter((request) => !wasUnderWay(request, killedMs, goneMs))).toEqual([]);
        expect(failed.length).toBeLessThanOrEqual(CLIENTS);
      }
    } finally {
      await load.stop();
    }
    expect(load.statuses.keys().toArray()).toEqual([200]);
    expect(weir.accessLog().filter(({ status }) => status !== 200 && status !== 0)).toEqual([]);
    const { gateway } = await weir.upstreams();
    expect(gateway.workers.map(({ id }) => id)).toEqual([1, 2]);
    const { body } = await weir.admin('/metrics');
    expect(body).toContain(`weir_worker_restarts_total ${restarts + 2}\n`);
    // What the dead workers had under way is not counted for ever.
    await weir.serviceWith('web', 'nothing in flight', ({ endpoints }) =>
      endpoints.every((each) => each.inFlight === 0),
    );
  });

  it('by an operator who lets it drain first ends what it has under way', async () => {
    const load = startLoad({ url: `${weir.url}/item`, fresh: CLIENTS, pauseMs: 2 });
    try {
      for (const id of [1, 2]) {
        // On both workers, with all likelihood.
        const slow = Array.from({ length: 16 }, () => weir.get('/item?holdMs=700'));
        await weir.serviceWith('web', 'slow requests', ({ endpoints }) => {
          return endpoints.reduce((sum, { inFlight }) => sum + inFlight, 0) >= slow.length;
        });
        const { status } = await weir.admin(`/debug/workers/${id}/restart`, { method: 'POST' });
        expect(status).toBe(202);
        const answers = await Promise.all(slow);
        expect(answers.map((answer) => answer.status)).toEqual(slow.map(() => 200));
        // Both are there until the new one listens and the old one has drained.
        await waitFor(async () => (await weir.upstreams()).gateway.workers.length === 2, {
          limitMs: 8000,
          what: `the old worker ${id} to be gone`,
        });
        await listening(weir);
      }
    } finally {
      await load.stop();
    }
    // The kernel resets what still queues at a listener that closes; nothing else may be lost.
    expect(load.statuses.keys().toArray()).toEqual([200]);
    expect(load.failed.length).toBeLessThanOrEqual(2 * CLIENTS);
  });
});

/** Waits until both workers take connections: each of them has some of the load's. */
async function listening(weir: WeirProcess): Promise<void> {
  const isListening = async () => {
    const { workers } = (await weir.upstreams()).gateway;
    return workers.length === 2 && workers.every(({ connections }) => connections > 0);
  };
  await waitFor(isListening, { limitMs: 5000, what: 'connections on both workers' });
}

/** When the supervisor last saw a worker end. */
async function lastGoneMs(weir: WeirProcess): Promise<number> {
  const lines = await weir.logged('worker is gone and will be replaced');
  return Date.parse(lines.at(-1)?.time ?? '');
}

/** A request that the worker may have had, in its hands or in the queue of its listener, when it was killed. */
function wasUnderWay({ status, startedMs, endedMs }: FailedRequest, killedMs: number, goneMs: number): boolean {
  return status === null && startedMs <= goneMs && endedMs >= killedMs;
}

function portsOf(instances: readonly SampleInstance[]): number[] {
  return instances.map(({ port }) => port);
}
