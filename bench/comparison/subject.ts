// A gateway that is put through the instance steps, and the instances behind it.
import type { DrillInstance } from '../support/drill-service.ts';

export interface Subject {
  readonly port: number;
  readonly instances: readonly DrillInstance[];
  /** Takes an instance out of the pool, as an operator would before a restart. */
  takeOut(instance: DrillInstance): Promise<void>;
  putBack(instance: DrillInstance): Promise<void>;
  /** Waits until all instances take traffic again: no step begins with what the one before left. */
  untilWhole(): Promise<void>;
  /** Attempts beyond the first of each request, since the start. */
  extraAttempts(): Promise<number>;
  /** Stops the gateway and the instances. */
  stop(): Promise<void>;
}

export interface SubjectOptions {
  /** A folder of its own; it is there. */
  readonly folder: string;
  readonly instancePorts: readonly number[];
  /** Where it listens; the three ports after it are free for its own use. */
  readonly port: number;
}

export interface SubjectKind {
  readonly name: string;
  missing(): string | null;
  /** Starts the instances and the gateway, and waits until it serves. */
  start(options: SubjectOptions): Promise<Subject>;
}

/** The same for all: what they may take for connecting, for an answer, and how many attempts. */
export const CONNECT_MS = 500;
export const RESPONSE_MS = 1000;
export const ATTEMPTS = 3;
/** Failures in a row that take an endpoint out, and for how long. */
export const FAILURES = 5;
export const OUT_SECONDS = 2;
