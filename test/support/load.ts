// Load on a gateway: clients in closed loops, on fresh connections or on one they keep, and what came of it.
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { send } from './send.ts';

export interface LoadOptions {
  readonly url: string;
  /** Clients that open a connection for every request. */
  readonly fresh?: number;
  /** Clients that keep their connection. */
  readonly kept?: number;
  /** Ends by itself after that many requests. */
  readonly limit?: number;
  /** Milliseconds between the answer to a client and its next request. */
  readonly pauseMs?: number;
  readonly method?: string;
}

/** A request that had no answer, or one with another status than 200. */
export interface FailedRequest {
  /** Time of day, in milliseconds since the Unix epoch. */
  readonly startedMs: number;
  readonly endedMs: number;
  readonly status: number | null;
  readonly why: string;
}

export interface Load {
  readonly sent: number;
  readonly statuses: ReadonlyMap<number, number>;
  /** Answers by instance, as `X-Instance` tells it. */
  readonly instances: ReadonlyMap<string, number>;
  readonly failed: readonly FailedRequest[];
  /** Resolves when a limited load has had its last answer. */
  readonly finished: Promise<void>;
  /** Lets the requests under way end. */
  stop(): Promise<void>;
}

/** Starts the clients. */
export function startLoad(options: LoadOptions): Load {
  const { fresh = 0, kept = 0 } = options;
  const load = new Clients(options);
  load.run(fresh, kept);
  return load;
}

class Clients implements Load {
  readonly statuses = new Map<number, number>();
  readonly instances = new Map<string, number>();
  readonly failed: FailedRequest[] = [];
  readonly #options: LoadOptions;
  #sent = 0;
  #isStopped = false;
  #clients: Promise<void>[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  get sent(): number {
    return this.#sent;
  }

  get finished(): Promise<void> {
    return Promise.all(this.#clients).then(() => undefined);
  }

  run(fresh: number, kept: number): void {
    const isKept = [...Array(fresh).fill(false), ...Array(kept).fill(true)];
    this.#clients = isKept.map((keepAlive) => this.#client(new Agent({ keepAlive, maxSockets: 1 })));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.finished;
  }

  async #client(agent: Agent): Promise<void> {
    const { limit = Number.POSITIVE_INFINITY, pauseMs = 0 } = this.#options;
    while (!this.#isStopped && this.#sent < limit) {
      this.#sent += 1;
      await this.#request(agent);
      if (pauseMs > 0) await delay(pauseMs);
    }
    agent.destroy();
  }

  async #request(agent: Agent): Promise<void> {
    const { url, method = 'GET' } = this.#options;
    const startedMs = Date.now();
    const fail = (status: number | null, why: string) =>
      this.failed.push({ startedMs, endedMs: Date.now(), status, why });
    try {
      const { status, headers, body } = await send(url, { agent, method });
      count(this.statuses, status);
      const instance = headers['x-instance'];
      if (typeof instance === 'string') count(this.instances, instance);
      if (status !== 200) fail(status, `${headers['proxy-status'] ?? ''} ${body.slice(0, 200)}`);
    } catch (error) {
      fail(null, error instanceof Error ? error.message : String(error));
    }
  }
}

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
