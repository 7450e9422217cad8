// The source that asks Consul: one watch a service, blocking where it may hold a connection, polling beyond that.
import type { Clock } from '../core/clock.ts';
import type { Endpoint, InstanceStatus } from '../core/instance.ts';
import { type ConsulClient, createConsulClient, MAX_CONNECTIONS } from './consul-client.ts';
import { ConsulDialogue, type ConsulReply } from './consul-dialogue.ts';
import type { Consistency } from './consul-question.ts';
import { equalEndpoints, mergeInstances } from './merge-instances.ts';
import { createPace } from './pace.ts';
import { pause } from './pause.ts';
import type { DiscoverySource, Watch, WatchOptions } from './source.ts';

export interface ConsulSourceOptions {
  /** URLs of agents of one cluster: the first is asked; after an error the next. */
  readonly agents: readonly string[];
  /** Sent as X-Consul-Token; '' for none. */
  readonly token: string;
  /** '' for the agent's own. */
  readonly datacenter: string;
  /** How long Consul may hold a blocking query, in milliseconds; never more than ten minutes. */
  readonly waitMs: number;
  readonly consistency: Consistency;
  readonly accept: readonly Extract<InstanceStatus, 'passing' | 'warning'>[];
  /** Milliseconds after which an empty answer is asked for again, with a consistent read, before it is reported. */
  readonly confirmEmptyMs: number;
  readonly clock: Clock;
}

/** Blocking queries at a time; the other connections are for the services beyond that, which poll. */
const MAX_BLOCKING = MAX_CONNECTIONS - 8;

/**
 * The price of a query in milliseconds, which limits the queries of one service: four a second while Consul wakes it
 * without news, twenty while each brings some, after a few on credit.
 */
const NO_NEWS_PRICE_MS = 250;
const NEWS_PRICE_MS = 50;
const CREDIT_MS = 1250;

/** Makes the source (SPEC section 5). Throws when an agent's URL is none. */
export function createConsulSource(options: ConsulSourceOptions): DiscoverySource {
  const { accept, waitMs, consistency, confirmEmptyMs, clock, agents } = options;
  const client = createConsulClient(options);
  const slots = new Slots(MAX_BLOCKING);
  const watches = new Set<ConsulWatch>();
  return {
    name: 'consul',
    accept,
    watch({ service, resumeIndex, onEvent }) {
      const agentCount = agents.length;
      const dialogue = new ConsulDialogue({
        service,
        agentCount,
        resumeIndex,
        waitMs,
        consistency,
        confirmEmptyMs,
        clock,
      });
      const watch = new ConsulWatch({ client, slots, dialogue, accept, clock, onEvent });
      watches.add(watch);
      void watch.run().finally(() => watches.delete(watch));
      return watch;
    },
    async stop() {
      for (const watch of watches) watch.stop();
      await client.stop();
    },
  };
}

interface ConsulWatchOptions extends Pick<WatchOptions, 'onEvent'> {
  readonly client: ConsulClient;
  readonly slots: Slots;
  readonly dialogue: ConsulDialogue;
  readonly accept: readonly InstanceStatus[];
  readonly clock: Clock;
}

/** Carries out what the dialogue says, until it is stopped. */
class ConsulWatch implements Watch {
  readonly #options: ConsulWatchOptions;
  readonly #stopped = new AbortController();
  #endpoints: readonly Endpoint[] = [];

  constructor(options: ConsulWatchOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { client, slots, dialogue, clock, onEvent } = this.#options;
    const { signal } = this.#stopped;
    const pace = createPace(CREDIT_MS);
    while (!signal.aborted) {
      const step = dialogue.next(slots.take(this));
      await pause(step.pauseMs, signal);
      await pause(pace.waitMs(clock.nowMs()), signal);
      const reply = await client.ask(step, step.agent, signal);
      if (signal.aborted) break;
      pace.pay(this.#hasNews(reply) ? NEWS_PRICE_MS : NO_NEWS_PRICE_MS, clock.nowMs());
      const events = 'error' in reply ? dialogue.onFailure(reply.error) : dialogue.onReply(reply, step);
      for (const event of events) if (!signal.aborted) onEvent(event);
    }
  }

  #hasNews(reply: ConsulReply | { readonly error: string }): boolean {
    if ('error' in reply) return false;
    const endpoints = mergeInstances(reply.instances, this.#options.accept);
    const isNews = !equalEndpoints(endpoints, this.#endpoints);
    this.#endpoints = endpoints;
    return isNews;
  }

  stop(): void {
    this.#stopped.abort();
    this.#options.slots.release(this);
  }
}

/** Who may hold a connection: the first who ask, and after them whoever asks when one of those has gone. */
class Slots {
  readonly #count: number;
  readonly #holders = new Set<object>();

  constructor(count: number) {
    this.#count = count;
  }

  take(holder: object): boolean {
    if (this.#holders.size < this.#count) this.#holders.add(holder);
    return this.#holders.has(holder);
  }

  release(holder: object): void {
    this.#holders.delete(holder);
  }
}
