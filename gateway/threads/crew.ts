// The crew: the living workers, each on a lane of its own; who dies is replaced, after a pause that grows.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../core/log.ts';
import { allocateAllYoung, HEAP_LIMITS } from './heap.ts';
import type { FromWorker, ToWorker, WorkerBirth } from './messages.ts';

export interface CrewOptions {
  readonly size: number;
  readonly log: Log;
  /** How long a worker that begins to drain now may take. */
  readonly drainMs: () => number;
  /** What a worker is born with, besides its name and lane. */
  readonly birth: () => Omit<WorkerBirth, 'id' | 'lane'>;
  readonly onMessage: (member: Member, message: FromWorker) => void;
  /** A worker is gone: what it held in shared memory must be given back. */
  readonly onGone: (member: Member) => void;
}

export interface Member {
  readonly id: number;
  readonly lane: number;
  readonly worker: Worker;
  readonly bornMs: number;
  state: 'starting' | 'booted' | 'listening' | 'draining';
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A worker that lived this long does not count as one that dies at once. */
const GOOD_LIFE_MS = 30_000;

/** Tunnels of a worker that is replaced end so long before its time is over. */
const TUNNELS_END_MS = 500;

/** How many lanes cells need: a worker that drains and its replacement live side by side. */
export function lanesFor(size: number): number {
  return 2 * size;
}

export class Crew {
  readonly #options: CrewOptions;
  readonly #members = new Set<Member>();
  readonly #pauses = new Map<number, number>();
  /** Workers that come again after a pause. */
  readonly #timers = new Map<number, NodeJS.Timeout>();
  /** Workers that are to be replaced: one starts at a time, and none while the one before it still drains. */
  readonly #due = new Set<number>();
  #isStopping = false;
  restarts = 0;

  constructor(options: CrewOptions) {
    this.#options = options;
    allocateAllYoung();
  }

  start(): void {
    for (let id = 1; id <= this.#options.size; id++) this.#spawn(id);
  }

  members(): readonly Member[] {
    return [...this.#members].sort((a, b) => a.id - b.id);
  }

  tell(member: Member, message: ToWorker): void {
    member.worker.postMessage(message);
  }

  tellAll(message: ToWorker): void {
    for (const member of this.#members) this.tell(member, message);
  }

  /**
   * Replaces worker `id`: abruptly by ending it at once, else by draining it when its replacement listens.
   * False when there is no such worker or it is being replaced already.
   */
  restart(id: number, isAbrupt: boolean): boolean {
    const members = this.members().filter((member) => member.id === id);
    const [member] = members;
    if (member === undefined || this.#isStopping) return false;
    if (!isAbrupt && (members.length > 1 || member.state === 'draining')) return false;
    if (isAbrupt) {
      this.#pauses.delete(id);
      for (const each of members) void each.worker.terminate();
    } else {
      this.#spawn(id);
    }
    return true;
  }

  /**
   * Replaces every worker without loss; the next begins when the replacement of one listens. What the old ones still
   * have under way holds up no other: only a worker that is to be replaced again waits until it has ended.
   */
  replaceAll(): void {
    for (const { id } of this.members()) this.#due.add(id);
    this.#replaceNext();
  }

  /** Gives up a worker that cannot listen: what it was to replace stays, and no other is replaced by its like. */
  dismiss(member: Member): void {
    this.#due.clear();
    void this.#retire(member);
  }

  /** Lets every worker finish what it has under way; resolves when all are gone, at the latest after `drainMs`. */
  async drain(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all([...this.#members].map((member) => this.#retire(member)));
  }

  #spawn(id: number): void {
    // Born with what is in force.
    this.#due.delete(id);
    const lane = this.#freeLane();
    const birth: WorkerBirth = { ...this.#options.birth(), id, lane };
    const script = new URL(`../worker${extname(import.meta.filename)}`, import.meta.url);
    const worker = new Worker(script, { workerData: birth, name: `weir worker ${id}`, resourceLimits: HEAP_LIMITS });
    const member: Member = { id, lane, worker, bornMs: performance.now(), state: 'starting' };
    this.#members.add(member);
    worker.on('message', (message: FromWorker) => this.#heard(member, message));
    worker.on('error', (error) => this.#options.log.error({ worker: id, err: error }, 'worker failed'));
    worker.on('exit', () => this.#exited(member));
  }

  #freeLane(): number {
    const taken = new Set([...this.#members].map(({ lane }) => lane));
    let lane = 0;
    while (taken.has(lane)) lane++;
    return lane;
  }

  #heard(member: Member, message: FromWorker): void {
    if (message.kind === 'booted') {
      if (member.state === 'starting') member.state = 'booted';
    } else if (message.kind === 'listening') {
      if (member.state === 'booted') member.state = 'listening';
      // A replacement that listens lets the one before it go.
      for (const other of this.#members) {
        if (other.id === member.id && other.bornMs < member.bornMs) void this.#retire(other);
      }
      this.#replaceNext();
    } else if (message.kind === 'drained') {
      void member.worker.terminate();
    }
    this.#options.onMessage(member, message);
  }

  #replaceNext(again?: number): void {
    if (again !== undefined) this.#due.add(again);
    if (this.#isStopping || this.#isReplacementStarting()) return;
    // One that cannot be replaced yet does not hold up the others.
    for (const id of this.#due) if (this.restart(id, false)) return;
  }

  #isReplacementStarting(): boolean {
    const members = [...this.#members];
    return members.some(({ id, bornMs, state }) => {
      if (state !== 'starting' && state !== 'booted') return false;
      return members.some((other) => other.id === id && other.bornMs < bornMs);
    });
  }

  /** Lets a worker drain unless it does already; resolves when it is gone. */
  async #retire(member: Member): Promise<void> {
    // Not `once` of node:events: that rejects when the worker fails.
    const gone = new Promise<void>((resolve) => member.worker.once('exit', () => resolve()));
    if (member.state === 'draining') return void (await gone);
    member.state = 'draining';
    const limit = setTimeout(() => void member.worker.terminate(), this.#options.drainMs());
    // When the gateway stops, a tunnel has nobody to wait for; when a worker is replaced, others go on.
    const tunnelsMs = this.#isStopping ? 0 : Math.max(0, this.#options.drainMs() - TUNNELS_END_MS);
    this.tell(member, { kind: 'drain', tunnelsMs });
    await gone;
    clearTimeout(limit);
  }

  #exited(member: Member): void {
    const { id } = member;
    this.#members.delete(member);
    this.#options.onGone(member);
    const hasServed = member.state === 'listening' || member.state === 'draining';
    if (hasServed && this.#isServed(id)) {
      this.#replaceNext();
      return;
    }
    // One that has drained may find that its replacement died before it, and comes again already.
    if (this.#isStopping || (member.state === 'draining' && this.#timers.has(id))) return;
    this.restarts++;
    const pause = this.#pauseAfter(member);
    this.#options.log.warn({ worker: id, pauseMs: pause }, 'worker is gone and will be replaced');
    clearTimeout(this.#timers.get(id));
    this.#timers.set(
      id,
      setTimeout(() => this.#comeAgain(id), pause),
    );
  }

  #comeAgain(id: number): void {
    this.#timers.delete(id);
    // It was to replace one that still serves, and died before it could.
    if (this.#isServed(id)) this.#replaceNext(id);
    else this.#spawn(id);
  }

  /** Whether there is such a worker that is not about to go. */
  #isServed(id: number): boolean {
    return [...this.#members].some((member) => member.id === id && member.state !== 'draining');
  }

  /** How long to wait before the next one: longer each time that they die young. */
  #pauseAfter({ id, bornMs }: Member): number {
    const pause = performance.now() - bornMs > GOOD_LIFE_MS ? 0 : (this.#pauses.get(id) ?? 0);
    this.#pauses.set(id, Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, pause * 2)));
    return pause;
  }
}
