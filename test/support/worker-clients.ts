// Clients that are known to be with a certain worker each: what one worker counts, another one must see.
import { Agent } from 'node:http';
import { type Answer, type SendOptions, send } from './send.ts';
import { waitFor } from './wait-for.ts';
import type { WeirProcess } from './weir-process.ts';

export interface WorkerClient {
  readonly worker: number;
  /** Sends on the one connection that this client keeps. */
  get(path: string, options?: SendOptions): Promise<Answer>;
  close(): void;
}

/** Connections are spread by chance: so many are enough to find every worker, but for one time in a million. */
const MAX_CONNECTIONS = 200;

/** A client for each of `workers` workers, by number; the access log tells which connection went where. */
export async function clientsByWorker(weir: WeirProcess, workers: number): Promise<WorkerClient[]> {
  const found = new Map<number, WorkerClient>();
  for (let at = 0; at < MAX_CONNECTIONS && found.size < workers; at++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const path = `/who-has-${at}-${Math.random()}`;
    await send(weir.url + path, { agent });
    const line = await waitFor(() => weir.accessLog().find((each) => each.path === path), {
      limitMs: 10_000,
      what: 'the access log of a request',
    });
    const { worker } = line;
    if (found.has(worker)) agent.destroy();
    else found.set(worker, clientOf(weir, worker, agent));
  }
  if (found.size < workers) throw new Error(`only ${found.size} workers take connections`);
  return [...found.values()].toSorted((one, other) => one.worker - other.worker);
}

function clientOf(weir: WeirProcess, worker: number, agent: Agent): WorkerClient {
  return {
    worker,
    get: (path, options = {}) => send(weir.url + path, { ...options, agent }),
    close: () => agent.destroy(),
  };
}
