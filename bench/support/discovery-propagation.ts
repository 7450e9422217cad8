// From a change in Consul to the first request that each worker of a real gateway steers by it.
import { startLoad } from '../../test/support/load.ts';
import { startConsul } from '../../test/support/real-consul.ts';
import { registrationOf, startInstances } from '../../test/support/sample-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startWeir } from '../../test/support/weir-process.ts';
import { percentiles } from './percentiles.ts';

const CHANGES = 200;
const WORKERS = [1, 2];
const LIMIT_MS = 5000;

/** Prints the percentiles; needs the real Consul. */
export async function measurePropagation(): Promise<void> {
  await using owned = new AsyncDisposableStack();
  const consul = owned.adopt(await startConsul(), (agent) => agent.stop());
  const instances = await startInstances('steady-1', 'steady-2', 'guest-1', 'guest-2', 'guest-3');
  for (const instance of instances) owned.adopt(instance, () => instance.kill());
  const [steady, guests] = [instances.slice(0, 2), instances.slice(2)];
  const steadyPorts = steady.map(({ port }) => port);
  for (const instance of steady) await consul.register(registrationOf('web', instance));
  const weir = owned.adopt(
    await startWeir({
      routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
      gateway: { discovery: { consul: { agents: [consul.url] } } },
    }),
    (gateway) => gateway.close(),
  );
  await weir.activePorts('web', steadyPorts);
  const load = owned.adopt(startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 4, pauseMs: 2 }), (one) => one.stop());

  const delaysMs: number[] = [];
  for (let change = 0; change < CHANGES; change++) {
    const guest = guests[change % guests.length];
    if (guest === undefined) throw new Error('no guest');
    const startedMs = Date.now();
    await consul.register(registrationOf('web', guest));
    const registeredMs = Date.now();
    const picks = await waitFor(() => firstPicks(guest.port, startedMs), { limitMs: LIMIT_MS, what: 'both workers' });
    delaysMs.push(...picks.map((pickedMs) => Math.max(0, pickedMs - registeredMs)));
    await consul.deregister(`web-${guest.name}`);
    await weir.activePorts('web', steadyPorts);
  }
  console.log(
    '\npropagation, a real gateway with two workers, a real Consul on the same machine, requests all the time',
  );
  console.log(
    `from the registration to the first request of each worker, ${delaysMs.length} values of ${CHANGES} changes:`,
    `${percentiles(delaysMs)} (allowed: p99 100), ${load.failed.length} failed requests of ${load.sent}`,
  );

  /** The time of day of the first request that each worker sent to the endpoint after `sinceMs`. */
  function firstPicks(port: number, sinceMs: number): number[] | false {
    const hits = weir
      .accessLog()
      .slice(-4000)
      .filter(({ attempts }) => attempts[0]?.endpoint === `127.0.0.1:${port}`)
      .map(({ worker, time, durationMs }) => ({ worker, pickedMs: Date.parse(time) - durationMs }))
      .filter(({ pickedMs }) => pickedMs >= sinceMs);
    const first = WORKERS.flatMap((id) => hits.find(({ worker }) => worker === id)?.pickedMs ?? []);
    return first.length === WORKERS.length && first;
  }
}
