// What to ask etcd next about one service, and what each answer means: range, watch, range again; without I/O.
import type { Clock } from '../core/clock.ts';
import { nextDelayMs } from './backoff.ts';
import { type EtcdChange, type EtcdMessage, type EtcdRange, isEarlier, readRevision } from './etcd-decode.ts';
import { decodeEtcdRecord, type EtcdRecord } from './etcd-record.ts';
import { boundSentences } from './record.ts';
import type { SourceAnswer, SourceEvent } from './source.ts';

/** The next thing to do, at endpoint number `endpoint` (counted on without end). */
export type EtcdStep =
  | { readonly kind: 'range'; readonly pauseMs: number; readonly endpoint: number }
  /** To hear what changes after `revision`. */
  | { readonly kind: 'watch'; readonly revision: string; readonly endpoint: number };

export interface EtcdDialogueOptions {
  /** What the keys of the service begin with; the rest of a key is the ID of an instance. */
  readonly prefix: string;
  readonly endpointCount: number;
  readonly resumeIndex: string | null;
  readonly confirmEmptyMs: number;
  /** Longest time of one watch, in milliseconds. */
  readonly listenMs: number;
  readonly clock: Clock;
}

/** Milliseconds between the ranges of a service that may not hold a connection. */
const POLL_INTERVAL_MS = 2000;

/** The state of one watch. */
export class EtcdDialogue {
  readonly #options: EtcdDialogueOptions;
  readonly #records = new Map<string, EtcdRecord>();
  #endpoint = 0;
  #pauseMs = 0;
  #failures = 0;
  /** What the records are as of; null when they must be asked for anew. */
  #revision: string | null = null;
  /** The revision of the last answer with instances: an empty one below it comes from a lost or restored store. */
  #filledRevision: string | null;
  #listenUntilMs = 0;
  #isEmptyBelieved = false;
  /** When the emptiness that is held back must be confirmed; null while there is none. */
  #unconfirmed: { readonly answer: SourceAnswer; readonly dueMs: number } | null = null;

  constructor(options: EtcdDialogueOptions) {
    this.#options = options;
    this.#filledRevision = readRevision(options.resumeIndex);
  }

  /** The next step; `canWatch` is false while the service must not hold a connection. */
  next(canWatch: boolean): EtcdStep {
    const endpoint = this.#endpoint;
    if (this.#revision === null) return { kind: 'range', pauseMs: this.#pauseMs, endpoint };
    if (canWatch) return { kind: 'watch', revision: this.#revision, endpoint };
    return { kind: 'range', pauseMs: Math.min(POLL_INTERVAL_MS, this.listenMs()), endpoint };
  }

  /** Milliseconds until a range is due although nothing was heard. */
  listenMs(): number {
    const untilMs = Math.min(this.#listenUntilMs, this.#unconfirmed?.dueMs ?? Number.POSITIVE_INFINITY);
    return Math.max(0, Math.ceil(untilMs - this.#options.clock.nowMs()));
  }

  /** A query failed, or a watch broke: the next is a range at the next endpoint, after a pause. */
  onFailure(error: string): SourceEvent[] {
    const { endpointCount, clock } = this.#options;
    const events: SourceEvent[] = [];
    if (this.#unconfirmed !== null) {
      events.push({ ...this.#unconfirmed.answer, doubt: `empty, but not confirmed: ${error}` });
    }
    this.#unconfirmed = null;
    this.#revision = null;
    this.#endpoint += 1;
    // The first round through all endpoints is quick; then each round waits longer.
    this.#pauseMs = nextDelayMs(Math.floor(this.#failures / endpointCount), clock.random);
    this.#failures += 1;
    return [...events, { kind: 'failure', error }];
  }

  /** The whole of the service; gives what is to be reported: nothing while an emptiness is unconfirmed. */
  onRange({ revision, entries }: EtcdRange, canWatch: boolean): SourceEvent[] {
    const { clock, listenMs } = this.#options;
    // A range that works and a watch that does not must not look like health.
    if (!canWatch) this.#failures = 0;
    this.#pauseMs = 0;
    this.#revision = revision;
    this.#listenUntilMs = clock.nowMs() + listenMs * (0.5 + clock.random() / 2);
    this.#records.clear();
    for (const { key, value } of entries) this.#change({ key, value, revision });
    return this.#answer(this.#unconfirmed !== null && clock.nowMs() >= this.#unconfirmed.dueMs);
  }

  /** A message of the watch. */
  onMessage(message: EtcdMessage): SourceEvent[] {
    switch (message.kind) {
      case 'created':
        this.#failures = 0;
        return [];
      case 'progress':
        return [];
      case 'changes':
        for (const change of message.changes) this.#change(change);
        return message.changes.length === 0 ? [] : this.#answer(false);
      case 'canceled':
        if (message.compactRevision === null) return this.onFailure(`the watch was canceled: ${message.reason}`);
        this.#revision = null;
        return [];
      case 'broken':
        return this.onFailure(message.error);
    }
  }

  /** The watch has lasted for its time: a range is next. */
  onListened(): void {
    this.#revision = null;
  }

  #change({ key, value, revision }: EtcdChange): void {
    const { prefix } = this.#options;
    if (!key.startsWith(prefix)) return;
    const id = key.slice(prefix.length);
    if (value === null) this.#records.delete(id);
    else this.#records.set(id, decodeEtcdRecord(id, value));
    if (this.#revision === null || isEarlier(this.#revision, revision)) this.#revision = revision;
  }

  #answer(isConfirming: boolean): SourceEvent[] {
    const records = [...this.#records.values()];
    const instances = records.flatMap((record) => ('instance' in record ? [record.instance] : []));
    const skipped = boundSentences(records.flatMap((record) => ('skipped' in record ? [record.skipped] : [])));
    const notes = boundSentences(
      records.flatMap((record) => ('instance' in record && record.note !== null ? [record.note] : [])),
    );
    const answer: SourceAnswer = { kind: 'answer', instances, skipped, notes, index: this.#revision, doubt: null };
    if (instances.length === 0) return this.#empty(answer, isConfirming);
    this.#unconfirmed = null;
    this.#isEmptyBelieved = false;
    this.#filledRevision = this.#revision;
    return [answer];
  }

  #empty(answer: SourceAnswer, isConfirming: boolean): SourceEvent[] {
    const { confirmEmptyMs, clock } = this.#options;
    const doubt = this.#emptyDoubt(answer);
    if (doubt !== null || this.#isEmptyBelieved || isConfirming) {
      this.#unconfirmed = null;
      this.#isEmptyBelieved ||= doubt === null;
      return [{ ...answer, doubt }];
    }
    this.#unconfirmed = { answer, dueMs: this.#unconfirmed?.dueMs ?? clock.nowMs() + confirmEmptyMs };
    return [];
  }

  #emptyDoubt({ skipped, index }: SourceAnswer): string | null {
    if (skipped.length > 0) return 'empty, but only because no value can be used';
    if (index === null || !isEarlier(index, this.#filledRevision)) return null;
    return `empty, but the revision went back from ${this.#filledRevision} to ${index}: the store was lost or restored`;
  }
}
