// What discovery has said of the services: their pools, how asking goes, and who waits for the first answer.
import type { Clock } from '../core/clock.ts';
import { type DiscoveryUpdate, isStale, type ServiceStatus, unasked } from '../core/discovery-update.ts';
import type { Log } from '../core/log.ts';
import { Catalog } from '../pool/catalog.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';

export interface BookOptions {
  /** The services, and the source of each. */
  readonly services: ReadonlyMap<string, string>;
  readonly clock: Clock;
  readonly log: Log;
  /** A pool changed. */
  readonly onSnapshot: (snapshot: ServiceSnapshot) => void;
}

export class ServiceBook {
  readonly #options: BookOptions;
  readonly #catalog: Catalog;
  readonly #statuses: Map<string, ServiceStatus>;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(options: BookOptions) {
    this.#options = options;
    this.#catalog = new Catalog(options.services.keys(), { lanes: 1, clock: options.clock });
    this.#statuses = new Map([...options.services].map(([name, source]) => [name, unasked(name, source)]));
  }

  snapshots(): readonly ServiceSnapshot[] {
    return this.#catalog.all();
  }

  snapshot(service: string): ServiceSnapshot | undefined {
    return this.#catalog.get(service);
  }

  statuses(): readonly ServiceStatus[] {
    return [...this.#statuses.values()];
  }

  status(service: string): ServiceStatus | undefined {
    return this.#statuses.get(service);
  }

  /** Whether there has been a good answer for the service. */
  isAnswered(service: string): boolean {
    return (this.#statuses.get(service)?.lastSuccessMs ?? null) !== null;
  }

  /** Calls `then` after the first good answer for a service that has had none; what comes back calls that off. */
  onFirstAnswer(service: string, then: () => void): () => void {
    const waiting = this.#waiting.get(service) ?? new Set();
    this.#waiting.set(service, waiting.add(then));
    return () => void waiting.delete(then);
  }

  /** Takes what a source said. */
  take({ status, endpoints }: DiscoveryUpdate): void {
    const { service } = status;
    const before = this.#statuses.get(service);
    if (before === undefined) return;
    this.#statuses.set(service, status);
    this.#logHealth(before, status);
    const snapshot = endpoints === null ? undefined : this.#catalog.update(service, endpoints);
    if (snapshot !== undefined) {
      const keys = snapshot.endpoints.map(({ key, weight, healthy }) => `${key} ${healthy ? weight : 'out'}`);
      this.#options.log.info({ service, endpoints: keys }, 'pool changed');
      this.#options.onSnapshot(snapshot);
    }
    if (!this.isAnswered(service)) return;
    const waiting = this.#waiting.get(service);
    this.#waiting.delete(service);
    for (const then of waiting ?? []) then();
  }

  #logHealth(before: ServiceStatus, after: ServiceStatus): void {
    const { log } = this.#options;
    const { service, source, lastError } = after;
    if (!isStale(before) && isStale(after)) {
      log.warn({ service, source, error: lastError }, 'discovery fails: the last good pool stays');
    } else if (isStale(before) && !isStale(after)) {
      log.info({ service, source }, 'discovery answers again');
    }
    const odd = [...after.skipped, ...after.notes].filter((sentence) => {
      return !before.skipped.includes(sentence) && !before.notes.includes(sentence);
    });
    if (odd.length > 0) log.warn({ service, records: odd.slice(0, 10), count: odd.length }, 'odd records in discovery');
  }
}
