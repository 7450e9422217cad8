// The source that asks the table registry (SPEC section 9): one poll a service and interval.
import type { Pool } from 'undici';
import type { Clock } from '../core/clock.ts';
import type { Instance } from '../core/instance.ts';
import { quote } from '../core/quote.ts';
import { AfterOutage } from './after-outage.ts';
import { nextDelayMs } from './backoff.ts';
import { createGetPool, getJson } from './http-get.ts';
import { pause } from './pause.ts';
import { boundSentences, type DecodedRecords, type Undecodable } from './record.ts';
import { decodeRegistryInstances } from './registry-decode.ts';
import type { DiscoverySource, QueryMeter, SourceAnswer, Watch, WatchOptions } from './source.ts';

export interface RegistrySourceOptions {
  /** Base URL of the registry; a path is put before its own. */
  readonly url: string;
  /** Milliseconds between an answer and the next question. */
  readonly intervalMs: number;
  /** Milliseconds after which an empty answer is asked for again; only two in a row are reported. */
  readonly confirmEmptyMs: number;
  readonly clock: Clock;
  readonly meter?: QueryMeter | undefined;
}

const MAX_CONNECTIONS = 16;
const DEADLINE_MS = 5000;

/** A shorter outage expires nobody: an instance is listed for 30 s after the last of its heartbeats, at most 10 s apart. */
const EXPIRING_OUTAGE_MS = 15_000;

/** Makes the source. Throws when `url` is none. */
export function createRegistrySource(options: RegistrySourceOptions): DiscoverySource {
  const url = new URL(options.url);
  const pool = createGetPool(url, { connections: MAX_CONNECTIONS });
  const watches = new Set<RegistryWatch>();
  return {
    name: 'registry',
    accept: ['passing'],
    watch(watchOptions) {
      const watch = new RegistryWatch(pool, url, { ...options, ...watchOptions });
      watches.add(watch);
      void watch.run().finally(() => watches.delete(watch));
      return watch;
    },
    async stop() {
      for (const watch of watches) watch.stop();
      await pool.destroy();
    },
  };
}

class RegistryWatch implements Watch {
  readonly #pool: Pool;
  readonly #url: URL;
  readonly #options: RegistrySourceOptions & WatchOptions;
  readonly #stopped = new AbortController();
  #failures = 0;
  #emptyInARow = 0;
  readonly #afterOutage: AfterOutage;
  #repliedAtMs = Number.POSITIVE_INFINITY;
  /** What was reported last. */
  #reported: readonly Instance[] = [];
  /** Those that an outage may have expired and that were not listed again yet, by ID. */
  readonly #awaited = new Map<string, Instance>();

  constructor(pool: Pool, url: URL, options: RegistrySourceOptions & WatchOptions) {
    this.#pool = pool;
    this.#url = url;
    this.#options = options;
    this.#afterOutage = new AfterOutage(options.hasPool);
  }

  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const reply = await this.#ask();
      if (signal.aborted) break;
      await pause('error' in reply ? this.#onFailure(reply.error) : this.#onReply(reply), signal);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #ask(): Promise<DecodedRecords | Pick<Undecodable, 'error'>> {
    const { service, meter } = this.#options;
    const result = await getJson(this.#pool, {
      target: `${this.#url.pathname.replace(/\/+$/, '')}/instances?service=${encodeURIComponent(service.toWellFormed())}`,
      headers: {},
      deadlineMs: DEADLINE_MS,
      signal: this.#stopped.signal,
      meter,
    });
    return result.kind === 'failure' ? result : decodeRegistryInstances(result.text, service);
  }

  /** Gives the milliseconds until the next question. */
  #onFailure(error: string): number {
    const { service, clock, onEvent } = this.#options;
    this.#emptyInARow = 0;
    this.#afterOutage.failed();
    const delayMs = nextDelayMs(this.#failures++, clock.random);
    onEvent({ kind: 'failure', error: `registry at ${this.#url.origin} on ${quote(service)}: ${error}` });
    return delayMs;
  }

  /** Gives the milliseconds until the next question. */
  #onReply({ instances, skipped, notes }: DecodedRecords): number {
    const { intervalMs, confirmEmptyMs, onEvent } = this.#options;
    this.#await(instances);
    this.#failures = 0;
    this.#emptyInARow = instances.length > 0 ? 0 : this.#emptyInARow + 1;
    if (this.#emptyInARow === 1) return confirmEmptyMs;
    const answer: SourceAnswer = { kind: 'answer', instances, skipped, notes, index: null, doubt: null };
    if (instances.length === 0) {
      onEvent({ ...answer, doubt: this.#emptyDoubt(skipped) });
      return intervalMs;
    }
    this.#afterOutage.listed();
    const awaited = [...this.#awaited.values()];
    this.#reported = [...instances, ...awaited];
    const left = awaited.map(({ id }) => `instance ${quote(id)}: not listed since the outage, may be on its way back`);
    onEvent({ ...answer, instances: this.#reported, notes: boundSentences([...notes, ...left]) });
    return intervalMs;
  }

  /**
   * Instances come back one heartbeat at a time: the first of them must not get the traffic of all. Whoever was listed
   * since, and is no more, has left.
   */
  #await(listed: readonly Instance[]): void {
    const nowMs = this.#options.clock.nowMs();
    if (this.#failures > 0 && nowMs - this.#repliedAtMs >= EXPIRING_OUTAGE_MS) {
      for (const instance of this.#reported) this.#awaited.set(instance.id, instance);
    }
    this.#repliedAtMs = nowMs;
    this.#afterOutage.answered(nowMs);
    if (!this.#afterOutage.isReturning(nowMs)) this.#awaited.clear();
    for (const { id } of listed) this.#awaited.delete(id);
  }

  #emptyDoubt(skipped: readonly string[]): string | null {
    if (skipped.length > 0) return 'empty, but only because no record can be used';
    return this.#afterOutage.isReturning(this.#options.clock.nowMs())
      ? 'empty, but the registry may have come back a moment ago: its instances may still be on their way'
      : null;
  }
}
