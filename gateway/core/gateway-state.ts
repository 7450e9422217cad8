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

/** A certificate of a listener. */
export interface CertificateState {
  /** The path of its file. */
  readonly certificate: string;
  readonly names: readonly string[];
  /** When it expires, in milliseconds since the Unix epoch; null for one that was never in force. */
  readonly notAfterMs: number | null;
  /** Why its files, or some of them, are not in force as they are; null when they are. */
  readonly problem: string | null;
}

export interface ListenerState {
  readonly address: string;
  /** Null for plain HTTP. */
  readonly certificates: readonly CertificateState[] | null;
}

export interface GatewayState {
  readonly version: string;
  readonly pid: number;
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
  /** `worker` is null while nobody leads. */
  readonly leader: { readonly worker: number | null; readonly term: number };
  readonly workers: readonly WorkerState[];
  readonly listeners: readonly ListenerState[];
  readonly workerRestarts: number;
  /** Requests of no route, by why. */
  readonly unrouted: readonly { readonly reason: string; readonly count: number }[];
  /** Connections that were closed for want of a PROXY header, by why. */
  readonly proxyHeaderFailures: readonly { readonly reason: string; readonly count: number }[];
  /** Spans of traces, by what became of them. */
  readonly spans: readonly { readonly fate: string; readonly count: number }[];
  /** Lines of the log that could not be written. */
  readonly logLinesDropped: number;
  readonly snapshotVersion: number;
  /** When the newest change of any pool was applied; null before the first. */
  readonly snapshotTakenAtMs: number | null;
  /** Where that change came from: a source's name, or `file` for the snapshot on disk. */
  readonly snapshotFrom: string | null;
  readonly statuses: readonly ServiceStatus[];
}
