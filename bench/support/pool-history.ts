// What became of a pool during a step of a drill: who took requests, and each other state of it with its time.
import { setTimeout as delay } from 'node:timers/promises';
import type { DrillPool } from './gateway.ts';

const POLL_MS = 50;
/** What came before is of no use to whoever asks why requests failed. */
const MAX_LINES = 40;

/** Looks again and again, from its making until it is stopped. */
export class PoolHistory {
  readonly #poolNow: () => Promise<DrillPool>;
  readonly #begunMs = performance.now();
  readonly #lines: string[] = [];
  readonly #looking: Promise<void>;
  #fewest = Number.POSITIVE_INFINITY;
  #last = '';
  #isOver = false;

  constructor(poolNow: () => Promise<DrillPool>) {
    this.#poolNow = poolNow;
    this.#looking = this.#look();
  }

  /** The fewest endpoints that took requests at once. */
  get fewest(): number {
    return this.#fewest;
  }

  /** The last of its states, each with the milliseconds since the beginning. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#looking;
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      const { active, text } = await this.#poolNow();
      this.#fewest = Math.min(this.#fewest, active);
      if (text !== this.#last) this.#lines.push(`${Math.round(performance.now() - this.#begunMs)} ms: ${text}`);
      if (this.#lines.length > MAX_LINES) this.#lines.shift();
      this.#last = text;
      await delay(POLL_MS);
    }
  }
}
