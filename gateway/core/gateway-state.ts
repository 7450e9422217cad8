// What a look at the running gateway sees: the supervisor gathers it, the admin address and the metrics show it.
import type { ServiceStatus } from './discovery-update.ts';

export interface WorkerState {
  readonly id: number;
  readonly leader: boolean;
  readonly snapshot: number;
  readonly connections: number;
  readonly upstreamConnections: number;
  readonly eventLoopLagMs: number;
}

export interface GatewayState {
  readonly version: string;
  readonly pid: number;
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
  /** `worker` is null while nobody leads. */
  readonly leader: { readonly worker: number | null; readonly term: number };
  readonly workers: readonly WorkerState[];
  readonly workerRestarts: number;
  /** Requests of no route, by why. */
  readonly unrouted: readonly { readonly reason: string; readonly count: number }[];
  /** Lines of the log that could not be written. */
  readonly logLinesDropped: number;
  readonly snapshotVersion: number;
  /** When the newest change of any pool was applied; null before the first. */
  readonly snapshotTakenAtMs: number | null;
  /** Where that change came from: a source's name, or `file` for the snapshot on disk. */
  readonly snapshotFrom: string | null;
  readonly statuses: readonly ServiceStatus[];
}
