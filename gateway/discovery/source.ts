// The contract of a discovery source: who is asked for the instances of a service, and how it answers.
import type { Instance, InstanceStatus } from '../core/instance.ts';

/** What a source learnt at one moment about one service. */
export type SourceEvent = SourceAnswer | SourceFailure;

export interface SourceAnswer {
  readonly kind: 'answer';
  readonly instances: readonly Instance[];
  /** One sentence for each record that could not be used. */
  readonly skipped: readonly string[];
  /** One sentence for each thing to know about what is used all the same: an invalid weight that counts as 1. */
  readonly notes: readonly string[];
  /** Where a later watch may resume, as the source wrote it, digit for digit; null where the source has no such thing. */
  readonly index: string | null;
  /**
   * null when the answer may be believed as it stands; else why an answer WITHOUT ANYBODY WELL must not change a pool
   * (no known leader, filtered by ACLs, index gone backwards, not confirmed by a consistent read, right after an outage).
   */
  readonly doubt: string | null;
}

/** The source could not be asked or did not answer properly; never changes a pool. */
export interface SourceFailure {
  readonly kind: 'failure';
  /** A sentence for people, without secrets. */
  readonly error: string;
}

/** A running question about one service. */
export interface Watch {
  /** Stops asking; nothing is reported after it returns. */
  stop(): void;
}

export interface WatchOptions {
  readonly service: string;
  /** The index of the last answer that somebody else got, to go on from there; null to begin anew. */
  readonly resumeIndex: string | null;
  /**
   * Whether the service has a pool already, of answers that somebody else got: a source to which instances have to say
   * that they live (Consul, the registry, DNS before them) may have been away since. false when absent.
   */
  readonly hasPool?: boolean;
  /** Called for every answer and every failure, also when nothing changed. */
  readonly onEvent: (event: SourceEvent) => void;
}

/** Told of every query of a source: whether it was answered, and how long that took (a blocking one: as it blocked). */
export type QueryMeter = (result: 'answer' | 'failure', tookMs: number) => void;

/** Somewhere to ask for instances: `consul`, `registry`, `dns`, `etcd`, `static`. */
export interface DiscoverySource {
  readonly name: string;
  /** The statuses whose instances may take traffic. */
  readonly accept: readonly InstanceStatus[];
  watch(options: WatchOptions): Watch;
  /** Releases connections; every watch is stopped before. */
  stop(): Promise<void>;
}
