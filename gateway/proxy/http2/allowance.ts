// How often a client may do what costs more to serve than to ask for: a burst, then a rate.
import type { Sweep } from '../sweep.ts';

/** A page that is left cancels all its requests at once; nobody does so again and again. */
const BURST = 200;
const PER_SECOND = 20;

export class Allowance {
  readonly #sweep: Pick<Sweep, 'nowMs'>;
  #left = BURST;
  #countedMs: number;

  constructor(sweep: Pick<Sweep, 'nowMs'>) {
    this.#sweep = sweep;
    this.#countedMs = sweep.nowMs;
  }

  /** Takes one; false when there is none left. */
  take(): boolean {
    const { nowMs } = this.#sweep;
    this.#left = Math.min(BURST, this.#left + ((nowMs - this.#countedMs) / 1000) * PER_SECOND);
    this.#countedMs = nowMs;
    this.#left -= 1;
    return this.#left >= 0;
  }
}
