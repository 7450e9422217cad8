// The contract of the table registry's memory: a table of instances whose every time is the database's own.

/** What names an instance: the ID is unique within its service. */
export interface InstanceKey {
  readonly service: string;
  readonly instance: string;
}

/** The values an instance may tell about itself. */
export type MetaValue = string | number | boolean | readonly string[];

/** What an instance says at registration and at each heartbeat. */
export interface Registration extends InstanceKey {
  readonly addr: string;
  readonly port: number;
  readonly meta: Readonly<Record<string, MetaValue>>;
}

/** An instance as it is listed. */
export type ListedInstance = Omit<Registration, 'service'>;

/**
 * What came of a heartbeat. For those who read, `heartbeat` changed nothing; an instance that is registered anew after
 * it expired is `registered`. The others are refusals: the service, or the whole registry, has all it may have.
 */
export type RegisterOutcome = 'registered' | 'changed' | 'heartbeat' | 'service_full' | 'registry_full';

/** Most instances that are kept; stores shared by several processes may go over by a few. */
export interface RegistryLimits {
  readonly perService: number;
  readonly total: number;
}

export interface StoreOptions {
  /** Seconds after its last heartbeat at which an instance is gone. */
  readonly expirySeconds: number;
  readonly limits: RegistryLimits;
}

/** An instance that is gone; times are milliseconds since the Unix epoch by the database's clock. */
export interface HistoryEntry extends Registration {
  /** Grows from entry to entry. */
  readonly id: number;
  readonly registeredMs: number;
  readonly lastSeenMs: number;
  readonly goneMs: number;
  /** `deregistered` or `expired`. */
  readonly why: string;
}

/** A part of the history, oldest entries first. */
export interface HistoryQuery {
  /** Absent: every service. */
  readonly service?: string;
  /** Those gone since a time, or within so many milliseconds by the database's clock; absent: all. */
  readonly since?:
    | { readonly kind: 'time'; readonly wallMs: number }
    | { readonly kind: 'ago'; readonly durationMs: number };
  /** Those after the entry with this ID; 0: from the first. */
  readonly afterId: number;
  readonly limit: number;
}

/** Days that the history remembers, and most of its entries. */
export const HISTORY_DAYS = 30;
export const HISTORY_ENTRIES = 100_000;

/** Where instances are kept. Every method rejects when the database does not do its work. */
export interface RegistryStore {
  /** Inserts the instance, or updates it and its heartbeat; the time of its registration stays while it lives. */
  register(registration: Registration): Promise<RegisterOutcome>;
  /** Moves the instance to the history; false when there was none that lived. */
  deregister(key: InstanceKey): Promise<boolean>;
  /** The instances of a service whose last heartbeat is not too old, sorted by ID. */
  list(service: string): Promise<readonly ListedInstance[]>;
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>;
  /** Moves what expired to the history and forgets history that is too old; gives the number of instances moved. */
  cleanUp(): Promise<number>;
  close(): Promise<void>;
}
