// How many requests of a route run at once, over all workers: who comes too late waits its turn, but not for long.
import type { RouteConfig } from '../../config/route-schema.ts';
import type { RouteCell } from '../../shared/route-cell.ts';

export type ConcurrencyLimits = NonNullable<RouteConfig['concurrency']>;

/** One request on its way to a place. */
export interface Waiting {
  /** The request is gone: it wants no place any more. */
  cancel(): void;
}

export class ConcurrencyGate {
  readonly #cell: RouteCell;
  readonly #limits: ConcurrencyLimits;
  /** The requests of this worker that wait, in order. */
  readonly #queue: Waiter[] = [];
  #isListening = false;

  constructor(cell: RouteCell, limits: ConcurrencyLimits) {
    this.#cell = cell;
    this.#limits = limits;
  }

  /** Takes a place at once; false when there is none, or somebody waits for it already. */
  enter(): boolean {
    return this.#queue.length === 0 && this.#cell.takePlace(this.#limits.max);
  }

  /**
   * Waits for a place: `done(true)` is called with one, `done(false)` when the time is over. Null when the queue is full.
   */
  wait(done: (hasPlace: boolean) => void): Waiting | null {
    if (!this.#cell.beginWaiting(this.#limits.queue)) return null;
    const waiter: Waiter = { done, timer: setTimeout(() => this.#leave(waiter, false), this.#limits.queueTimeoutMs) };
    this.#queue.push(waiter);
    // A place given back before this one counted as waiting woke nobody.
    this.#fill();
    void this.#listen();
    return { cancel: () => this.#remove(waiter) };
  }

  /** Gives a place back. */
  leave(): void {
    this.#cell.givePlace();
  }

  /** Gives places to those that wait, as they come free in whatever worker. */
  async #listen(): Promise<void> {
    if (this.#isListening) return;
    this.#isListening = true;
    while (this.#queue.length > 0) {
      const seen = this.#cell.wakeWord();
      this.#fill();
      if (this.#queue.length > 0) await this.#cell.placeGiven(seen);
    }
    this.#isListening = false;
  }

  #fill(): void {
    let [first] = this.#queue;
    while (first !== undefined && this.#cell.takePlace(this.#limits.max)) {
      this.#leave(first, true);
      [first] = this.#queue;
    }
  }

  #leave(waiter: Waiter, hasPlace: boolean): void {
    if (this.#remove(waiter)) waiter.done(hasPlace);
  }

  #remove(waiter: Waiter): boolean {
    const at = this.#queue.indexOf(waiter);
    if (at === -1) return false;
    this.#queue.splice(at, 1);
    clearTimeout(waiter.timer);
    this.#cell.endWaiting();
    return true;
  }
}

interface Waiter {
  readonly done: (hasPlace: boolean) => void;
  readonly timer: NodeJS.Timeout;
}
