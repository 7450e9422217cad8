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

/** What a heartbeat changed for those who read: `heartbeat` is nothing. */
export type RegisterOutcome = 'registered' | 'changed' | 'heartbeat';

/** Where instances are kept. Every method rejects when the database does not do its work. */
export interface RegistryStore {
  /** Inserts the instance, or updates it and its heartbeat; the time of its first registration stays. */
  register(registration: Registration): Promise<RegisterOutcome>;
  /** Moves the instance to the history; false when there was none. */
  deregister(key: InstanceKey): Promise<boolean>;
  /** The instances of a service whose last heartbeat is not too old, sorted by ID. */
  list(service: string): Promise<readonly ListedInstance[]>;
  /** Moves what expired to the history and forgets history that is too old; gives the number of instances moved. */
  cleanUp(): Promise<number>;
  close(): Promise<void>;
}
