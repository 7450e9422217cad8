// The source that asks etcd: a range and then a watch for each service, or ranges alone where connections are scarce.
import type { Clock } from '../core/clock.ts';
import { createEtcdClient, type EtcdClient, MAX_CONNECTIONS } from './etcd-client.ts';
import { EtcdDialogue, type EtcdStep } from './etcd-dialogue.ts';
import type { EtcdCredentials } from './etcd-login.ts';
import { createPace } from './pace.ts';
import { pause } from './pause.ts';
import { Slots } from './slots.ts';
import type { DiscoverySource, QueryMeter, SourceEvent, Watch, WatchOptions } from './source.ts';
import type { TlsFiles } from './tls-connector.ts';

export interface EtcdSourceOptions extends EtcdCredentials {
  /** URLs of members of one cluster: the first is asked; after an error the next. */
  readonly endpoints: readonly string[];
  /** What every key begins with: `<prefix><service>/<instance>`. */
  readonly prefix: string;
  /** Of `https` endpoints: files in PEM; '' for none. */
  readonly tls: TlsFiles;
  /** Milliseconds after which an empty range is asked for again before it is reported. */
  readonly confirmEmptyMs: number;
  /** Longest time of one watch, in milliseconds (30 s). */
  readonly listenMs?: number;
  readonly clock: Clock;
  readonly meter?: QueryMeter | undefined;
}

/** Watches at a time, one connection each; services beyond that poll over the other connections. */
const MAX_WATCHING = MAX_CONNECTIONS - 8;

/**
 * Longest time of one watch, in milliseconds: etcd says nothing while nothing changes, so whether the member still
 * lives and still hears its leader shows in the linearizable range that follows.
 */
const LISTEN_MS = 30_000;

/** Milliseconds in which etcd must say that a watch is created. */
const CREATE_DEADLINE_MS = 5000;

/** The price of a range in milliseconds: four a second and service in the long run, after a few on credit. */
const RANGE_PRICE_MS = 250;
const CREDIT_MS = 1250;

/** Makes the source (SPEC section 5). Throws when an endpoint's URL is none. */
export function createEtcdSource(options: EtcdSourceOptions): DiscoverySource {
  const { endpoints, prefix, confirmEmptyMs, listenMs = LISTEN_MS, clock } = options;
  const client = createEtcdClient(options);
  const slots = new Slots(MAX_WATCHING);
  const running = new Map<EtcdWatch, Promise<void>>();
  return {
    name: 'etcd',
    accept: ['passing'],
    watch({ service, resumeIndex, onEvent }) {
      const keys = { prefix: `${prefix}${service}/` };
      const endpointCount = endpoints.length;
      const dialogue = new EtcdDialogue({ ...keys, endpointCount, resumeIndex, confirmEmptyMs, listenMs, clock });
      const watch = new EtcdWatch({ ...keys, client, slots, dialogue, clock, onEvent });
      running.set(
        watch,
        watch.run().finally(() => running.delete(watch)),
      );
      return watch;
    },
    async stop() {
      for (const watch of running.keys()) watch.stop();
      await client.stop();
      await Promise.all(running.values());
    },
  };
}

interface EtcdWatchOptions extends Pick<WatchOptions, 'onEvent'> {
  readonly prefix: string;
  readonly client: EtcdClient;
  readonly slots: Slots;
  readonly dialogue: EtcdDialogue;
  readonly clock: Clock;
}

/** Carries out what the dialogue says, until it is stopped. */
class EtcdWatch implements Watch {
  readonly #options: EtcdWatchOptions;
  readonly #stopped = new AbortController();
  readonly #pace = createPace(CREDIT_MS);

  constructor(options: EtcdWatchOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { slots, dialogue } = this.#options;
    while (!this.#stopped.signal.aborted) {
      const canWatch = slots.take(this);
      const step = dialogue.next(canWatch);
      await (step.kind === 'range' ? this.#range(step, canWatch) : this.#listen(step));
    }
    slots.release(this);
  }

  stop(): void {
    this.#stopped.abort();
    this.#options.slots.release(this);
  }

  async #range({ pauseMs, endpoint }: Extract<EtcdStep, { kind: 'range' }>, canWatch: boolean): Promise<void> {
    const { client, dialogue, prefix, clock } = this.#options;
    const { signal } = this.#stopped;
    await pause(pauseMs, signal);
    await pause(this.#pace.waitMs(clock.nowMs()), signal);
    this.#pace.pay(RANGE_PRICE_MS, clock.nowMs());
    const reply = await client.range({ prefix, endpoint }, signal);
    if (signal.aborted) return;
    this.#tell('error' in reply ? dialogue.onFailure(reply.error) : dialogue.onRange(reply, canWatch));
  }

  /** Listens until the watch breaks or a range is due. */
  async #listen({ revision, endpoint }: Extract<EtcdStep, { kind: 'watch' }>): Promise<void> {
    const { client, dialogue, prefix } = this.#options;
    const ended = new AbortController();
    const end = () => ended.abort();
    this.#stopped.signal.addEventListener('abort', end, { once: true });
    let timer = setTimeout(end, CREATE_DEADLINE_MS);
    let isCreated = false;
    let isOver = false;
    for await (const message of client.watch({ prefix, endpoint, revision }, ended.signal)) {
      if (this.#stopped.signal.aborted) break;
      isCreated = true;
      this.#tell(dialogue.onMessage(message));
      isOver = dialogue.next(true).kind === 'range';
      if (isOver) break;
      clearTimeout(timer);
      timer = setTimeout(end, dialogue.listenMs());
    }
    clearTimeout(timer);
    this.#stopped.signal.removeEventListener('abort', end);
    end();
    if (isOver || this.#stopped.signal.aborted) return;
    if (isCreated) dialogue.onListened();
    else this.#tell(dialogue.onFailure(`etcd gave no watch on ${prefix} within ${CREATE_DEADLINE_MS} ms`));
  }

  #tell(events: readonly SourceEvent[]): void {
    for (const event of events) if (!this.#stopped.signal.aborted) this.#options.onEvent(event);
  }
}
