// The source that asks DNS: one look a service, and the next when the records' time to live is over.
import { promises } from 'node:dns';
import type { Clock } from '../core/clock.ts';
import { quote } from '../core/quote.ts';
import { AfterOutage } from './after-outage.ts';
import { nextDelayMs } from './backoff.ts';
import { dnsName, lookAgainMs } from './dns-decode.ts';
import { DnsLookup, type DnsLookupOptions, type DnsReply } from './dns-lookup.ts';
import { pause } from './pause.ts';
import type { DiscoverySource, QueryMeter, SourceAnswer, Watch, WatchOptions } from './source.ts';

export interface DnsSourceOptions extends Pick<DnsLookupOptions, 'type' | 'port'> {
  /** `ip:port` of the resolver; '' for those of the system. */
  readonly resolver: string;
  /** The DNS name of a service: a template with `{service}` in it. */
  readonly name: string;
  /** Bounds of the time between two looks, in milliseconds. */
  readonly minTtlMs: number;
  readonly maxTtlMs: number;
  /** Milliseconds after which an empty answer is asked for again; only two in a row are reported. */
  readonly confirmEmptyMs: number;
  readonly clock: Clock;
  readonly meter?: QueryMeter | undefined;
}

const TIMEOUT_MS = 2000;
const TRIES = 2;

/**
 * Makes the source. The next look comes when the least TTL of the address records is over, within the bounds: node:dns
 * tells no TTL of SRV records, and the servers that discover services (Consul, Kubernetes) give both the same. A server
 * must mark an answer that does not fit into UDP as truncated, so that it is asked for over TCP: Consul does so only with
 * `enable_truncate`. Throws when `resolver` is no IP address with a port.
 */
export function createDnsSource(options: DnsSourceOptions): DiscoverySource {
  const resolver = new promises.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (options.resolver !== '') resolver.setServers([options.resolver]);
  const running = new Map<DnsWatch, Promise<void>>();
  return {
    name: 'dns',
    accept: ['passing'],
    watch(watchOptions) {
      const watch = new DnsWatch(resolver, { ...options, ...watchOptions });
      running.set(
        watch,
        watch.run().finally(() => running.delete(watch)),
      );
      return watch;
    },
    async stop() {
      for (const watch of running.keys()) watch.stop();
      resolver.cancel();
      await Promise.all(running.values());
    },
  };
}

class DnsWatch implements Watch {
  readonly #options: DnsSourceOptions & WatchOptions;
  readonly #name: string;
  readonly #lookup: DnsLookup;
  readonly #stopped = new AbortController();
  #failures = 0;
  #emptyInARow = 0;
  /** A resolver that has just come back may not have filled its zones yet. */
  readonly #afterOutage: AfterOutage;

  constructor(resolver: promises.Resolver, options: DnsSourceOptions & WatchOptions) {
    const { name, service, type, port } = options;
    this.#options = options;
    this.#afterOutage = new AfterOutage(options.hasPool);
    this.#name = dnsName(name, service);
    this.#lookup = new DnsLookup({ resolver, name: this.#name, type, port, signal: this.#stopped.signal });
  }

  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startedMs = performance.now();
      const reply = await this.#lookup.ask();
      if (signal.aborted) break;
      this.#options.meter?.('error' in reply ? 'failure' : 'answer', performance.now() - startedMs);
      await pause('error' in reply ? this.#onFailure(reply.error) : this.#onReply(reply), signal);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Gives the milliseconds until the next look. */
  #onFailure(error: string): number {
    const { resolver, clock, onEvent } = this.#options;
    this.#emptyInARow = 0;
    this.#afterOutage.failed();
    const delayMs = nextDelayMs(this.#failures++, clock.random);
    const where = resolver === '' ? 'DNS' : `DNS at ${resolver}`;
    onEvent({ kind: 'failure', error: `${where} on ${quote(this.#name)}: ${error}` });
    return delayMs;
  }

  /** Gives the milliseconds until the next look. */
  #onReply({ instances, skipped, notes, ttlsSeconds }: DnsReply): number {
    const { confirmEmptyMs, minTtlMs, clock, onEvent } = this.#options;
    this.#failures = 0;
    this.#afterOutage.answered(clock.nowMs());
    if (instances.length > 0) this.#afterOutage.listed();
    this.#emptyInARow = instances.length > 0 ? 0 : this.#emptyInARow + 1;
    if (this.#emptyInARow === 1) return confirmEmptyMs;
    const answer: SourceAnswer = { kind: 'answer', instances, skipped, notes, index: null, doubt: null };
    onEvent(instances.length > 0 ? answer : { ...answer, doubt: this.#emptyDoubt(skipped) });
    return instances.length > 0 ? lookAgainMs(ttlsSeconds, this.#options) : minTtlMs;
  }

  #emptyDoubt(skipped: readonly string[]): string | null {
    if (skipped.length > 0) return 'empty, but only because no record can be used';
    return this.#afterOutage.isReturning(this.#options.clock.nowMs())
      ? 'empty, but DNS may have come back a moment ago: the resolver may not know everything yet'
      : null;
  }
}
