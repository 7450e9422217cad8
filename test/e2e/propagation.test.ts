// How a change in Consul steers the requests of every worker, and how soon.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from '../support/load.ts';
import { hasConsul, type RealConsul, startConsul } from '../support/real-consul.ts';
import { registrationOf, type SampleInstance, startInstances } from '../support/sample-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const CHANGES = 30;
const WORKERS = [1, 2];
/** Generous: the promise is 100 ms, this only finds what never comes. */
const LIMIT_MS = 2000;

describe.skipIf(!hasConsul())('an instance that registers while the gateway runs', () => {
  const owned = new AsyncDisposableStack();
  let consul: RealConsul;
  let weir: WeirProcess;
  let steady: SampleInstance[];
  let guests: SampleInstance[];

  beforeAll(async () => {
    consul = owned.adopt(await startConsul(), (agent) => agent.stop());
    const instances = await startInstances('steady-1', 'steady-2', 'guest-1', 'guest-2', 'guest-3');
    for (const instance of instances) owned.adopt(instance, () => instance.kill());
    steady = instances.slice(0, 2);
    guests = instances.slice(2);
    for (const instance of steady) await consul.register(registrationOf('web', instance));
    weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
        gateway: { discovery: { consul: { agents: [consul.url] } } },
      }),
      (gateway) => gateway.close(),
    );
    await weir.activePorts('web', portsOf(steady));
  });
  afterAll(() => owned.disposeAsync());

  /** The time of day of the first request that each worker sent to the endpoint after `sinceMs`. */
  async function firstPicks(port: number, sinceMs: number): Promise<number[]> {
    const endpoint = `127.0.0.1:${port}`;
    const picks = () => {
      const hits = weir
        .accessLog()
        .slice(-4000)
        .filter(({ attempts }) => attempts[0]?.endpoint === endpoint)
        .map(({ worker, time, durationMs }) => ({ worker, pickedMs: Date.parse(time) - durationMs }))
        .filter(({ pickedMs }) => pickedMs >= sinceMs);
      const first = WORKERS.flatMap((id) => hits.find(({ worker }) => worker === id)?.pickedMs ?? []);
      return first.length === WORKERS.length && first;
    };
    return waitFor(picks, { limitMs: LIMIT_MS, what: `requests of both workers to ${endpoint}` });
  }

  it('gets requests from every worker soon, and none after it has deregistered', async () => {
    const load = startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 4, pauseMs: 2 });
    const delaysMs: number[] = [];
    try {
      for (let change = 0; change < CHANGES; change++) {
        const guest = guests[change % guests.length];
        if (guest === undefined) throw new Error('no guest');
        const startedMs = Date.now();
        await consul.register(registrationOf('web', guest));
        const registeredMs = Date.now();
        const picks = await firstPicks(guest.port, startedMs);
        delaysMs.push(...picks.map((pickedMs) => Math.max(0, pickedMs - registeredMs)));

        await consul.deregister(`web-${guest.name}`);
        await weir.activePorts('web', portsOf(steady));
        const requests = await guest.requests();
        const sent = load.sent;
        await waitFor(() => load.sent > sent + 20, { limitMs: LIMIT_MS, what: 'more requests' });
        expect(await guest.requests(), 'requests in flight when it left').toBeLessThanOrEqual(requests + 8);
      }
    } finally {
      await load.stop();
    }
    expect(load.failed).toEqual([]);
    expect(delaysMs).toHaveLength(CHANGES * WORKERS.length);
    const at = (share: number) => delaysMs.toSorted((a, b) => a - b)[Math.ceil(delaysMs.length * share) - 1];
    console.info(
      `from the registration to the first request of a worker, ${delaysMs.length} times:`,
      `p50 ${at(0.5)?.toFixed(1)} ms, p99 ${at(0.99)?.toFixed(1)} ms, most ${at(1)?.toFixed(1)} ms`,
    );
  });
});

function portsOf(instances: readonly SampleInstance[]): number[] {
  return instances.map(({ port }) => port);
}
