// The supervisor's book of discovery: what the leader reports goes into the catalog, the log and the snapshot file.
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { Clock } from '../core/clock.ts';
import {
  type DiscoveryUpdate,
  isStale,
  type ResumePoint,
  type ServiceStatus,
  unasked,
} from '../core/discovery-update.ts';
import type { Endpoint } from '../core/instance.ts';
import type { Log } from '../core/log.ts';
import { Catalog } from '../pool/catalog.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import { ServiceCell } from '../shared/service-cell.ts';
import { poolMark } from './pool-mark.ts';
import { loadSnapshot, saveSnapshot } from './snapshot-file.ts';

export interface BookOptions {
  readonly snapshotFile: GatewayConfig['discovery']['snapshot'];
  /** The services that routes use, and the source of each. */
  readonly services: ReadonlyMap<string, string>;
  readonly lanes: number;
  readonly clock: Clock;
  readonly log: Log;
  /** A pool changed. */
  readonly onSnapshot: (snapshot: ServiceSnapshot) => void;
}

/** How long changes are collected before they are written. */
const WRITE_DELAY_MS = 500;
/** How often the ages of the pools are written although no pool changed. */
const REFRESH_MS = 60_000;

export class DiscoveryBook {
  readonly #options: BookOptions;
  readonly #catalog: Catalog;
  readonly #statuses = new Map<string, ServiceStatus>();
  /** Services of which nothing has been heard since the start. */
  readonly #unheard: Set<string>;
  #takenAtMs: number | null = null;
  #from: string | null = null;
  readonly #waiting: (() => void)[] = [];
  #writeTimer: NodeJS.Timeout | undefined;
  #refreshTimer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: BookOptions) {
    this.#options = options;
    this.#catalog = new Catalog(options.services.keys(), options);
    this.#unheard = new Set(options.services.keys());
    for (const [service, source] of options.services) this.#statuses.set(service, unasked(service, source));
  }

  get version(): number {
    return this.#catalog.version;
  }

  /** When the newest change of any pool was taken over; null before the first. */
  get takenAtMs(): number | null {
    return this.#takenAtMs;
  }

  /** Where that change came from. */
  get from(): string | null {
    return this.#from;
  }

  snapshots(): readonly ServiceSnapshot[] {
    return this.#catalog.all();
  }

  statuses(): readonly ServiceStatus[] {
    return [...this.#statuses.values()];
  }

  /** The services that no good answer has confirmed yet. */
  unconfirmed(): readonly string[] {
    return this.statuses()
      .filter(isStale)
      .map(({ service }) => service);
  }

  hasFirstAnswers(): boolean {
    return this.#unheard.size === 0;
  }

  /** Takes other services: those that stay keep their pools, also one whose source is another one now. */
  setServices(services: ReadonlyMap<string, string>): void {
    this.#catalog.setServices(services.keys());
    for (const service of this.#statuses.keys()) {
      if (!services.has(service)) this.#statuses.delete(service);
    }
    for (const service of this.#unheard) if (!services.has(service)) this.#unheard.delete(service);
    for (const [service, source] of services) {
      if (this.#statuses.get(service)?.source === source) continue;
      this.#statuses.set(service, unasked(service, source));
      this.#unheard.add(service);
    }
    this.#checkHeard();
    this.#writeSoon();
  }

  /** Where a new leader goes on. */
  resumePoints(): ResumePoint[] {
    return this.statuses().map((status) => ({
      status,
      pool: poolMark(this.#catalog.get(status.service)?.endpoints.map(factsOf) ?? []),
    }));
  }

  /** Fills the pools from the snapshot file; they are stale until a source confirms them. */
  async restore(): Promise<void> {
    const { snapshotFile, clock, log } = this.#options;
    const { path, maxAgeMs } = snapshotFile;
    const loaded = await loadSnapshot(path, { maxAgeMs, wallMs: clock.wallMs() });
    this.#refreshTimer = setInterval(() => this.#write(), REFRESH_MS).unref();
    if (loaded.kind === 'absent') return;
    if (loaded.kind === 'refused') {
      log.error({ path, why: loaded.why }, 'the snapshot file is not used');
      return;
    }
    if (loaded.tooOld.length > 0)
      log.warn({ path, services: loaded.tooOld }, 'too old to be used from the snapshot file');
    for (const { service, source, lastSuccessMs, endpoints } of loaded.services) {
      const status = this.#statuses.get(service);
      if (status?.source !== source) continue;
      const lastError = 'not confirmed since the start; from the snapshot file';
      this.#statuses.set(service, { ...status, lastSuccessMs, lastError });
      this.#apply(service, endpoints, 'file');
    }
    log.info({ path, services: loaded.services.length }, 'pools restored from the snapshot file');
  }

  /** Takes the endpoints that the configuration lists for a service, without waiting for the leader to say so. */
  takeListed(service: string, endpoints: readonly Endpoint[]): void {
    const known = this.#catalog.get(service)?.endpoints.map(factsOf) ?? [];
    if (poolMark(known).digest === poolMark(endpoints).digest) return;
    this.take({ status: { ...unasked(service, 'static'), lastSuccessMs: this.#options.clock.wallMs() }, endpoints });
  }

  /** Takes what the leader reports. */
  take({ status, endpoints }: DiscoveryUpdate): void {
    const { service } = status;
    const before = this.#statuses.get(service);
    if (before === undefined) return;
    this.#statuses.set(service, status);
    this.#logHealth(before, status);
    if (endpoints !== null) {
      this.#logDifference(service, endpoints);
      this.#apply(service, endpoints, status.source);
      this.#writeSoon();
    }
    if (this.#unheard.delete(service)) this.#checkHeard();
  }

  /** Resolves when every service has been answered for, or its source has failed. */
  whenHeard(): Promise<void> {
    if (this.hasFirstAnswers()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Writes the file a last time. */
  async stop(): Promise<void> {
    clearInterval(this.#refreshTimer);
    clearTimeout(this.#writeTimer);
    this.#write();
    await this.#writing;
  }

  #checkHeard(): void {
    if (this.#unheard.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #apply(service: string, endpoints: readonly Endpoint[], from: string): void {
    const snapshot = this.#catalog.update(service, endpoints);
    if (snapshot === undefined) return;
    // The supervisor writes to the first lane of services' cells alone; workers count other things there.
    new ServiceCell(snapshot.cell, 0).countUpdate();
    this.#takenAtMs = this.#options.clock.wallMs();
    this.#from = from;
    this.#options.onSnapshot(snapshot);
  }

  #logHealth(before: ServiceStatus, after: ServiceStatus): void {
    const { log } = this.#options;
    const { service, source } = after;
    if (!isStale(before) && isStale(after)) {
      log.warn({ service, source, error: after.lastError }, 'discovery fails: the last good pool stays');
    } else if (isStale(before) && !isStale(after)) {
      log.info({ service, source }, 'discovery answers again');
    }
    const isNew = (sentence: string): boolean => !before.skipped.includes(sentence) && !before.notes.includes(sentence);
    const odd = [...after.skipped, ...after.notes].filter(isNew);
    if (odd.length > 0) log.warn({ service, records: odd.slice(0, 10), count: odd.length }, 'odd records in discovery');
  }

  #logDifference(service: string, endpoints: readonly Endpoint[]): void {
    const before = new Map(this.#catalog.get(service)?.endpoints.map((endpoint) => [endpoint.key, endpoint]));
    const after = new Set(endpoints.map(({ key }) => key));
    const added = endpoints.filter(({ key }) => !before.has(key)).map(({ key }) => key);
    const removed = [...before.keys()].filter((key) => !after.has(key));
    const changed = endpoints
      .filter(({ key }) => before.has(key))
      .filter((endpoint) => {
        const known = before.get(endpoint.key);
        return known?.weight !== endpoint.weight || known.status !== endpoint.status;
      });
    this.#options.log.info(
      {
        service,
        added,
        removed,
        changed: changed.map(({ key, weight, status }) => ({ endpoint: key, weight, status })),
      },
      'pool changed',
    );
  }

  #writeSoon(): void {
    this.#writeTimer ??= setTimeout(() => this.#write(), WRITE_DELAY_MS);
  }

  #write(): void {
    this.#writeTimer = undefined;
    const { snapshotFile, log } = this.#options;
    const services = this.snapshots().flatMap(({ service, endpoints }) => {
      const status = this.#statuses.get(service);
      if (status === undefined || status.lastSuccessMs === null) return [];
      const { source, lastSuccessMs } = status;
      return [{ service, source, lastSuccessMs, endpoints: endpoints.map(factsOf) }];
    });
    this.#writing = this.#writing
      .then(() => saveSnapshot(snapshotFile.path, services))
      .catch((error: unknown) =>
        log.error({ err: error, path: snapshotFile.path }, 'the snapshot file is not written'),
      );
  }
}

function factsOf({ key, host, port, weight, status, healthy, tags, meta, instances }: Endpoint): Endpoint {
  return { key, host, port, weight, status, healthy, tags, meta, instances };
}
