// How often all services that hold no connection may be asked at once.
import type { Clock } from '../core/clock.ts';
import { createPace } from './pace.ts';
import { pause } from './pause.ts';

/**
 * The price of a round through all services, in milliseconds: four a second in the long run while services of
 * routes change, one a second while the changes are those of services that nobody here uses; after a few on credit.
 */
const NEWS_PRICE_MS = 250;
const NO_NEWS_PRICE_MS = 1000;
const CREDIT_MS = 3000;

/** The rounds of one source. */
export class Sweep {
  readonly #clock: Clock;
  readonly #begin: () => void;
  readonly #stopped = new AbortController();
  readonly #pace = createPace(CREDIT_MS);
  #isRequested = false;
  #unpaidSinceMs: number | null = null;
  #hasNews = false;

  constructor(clock: Clock, begin: () => void) {
    this.#clock = clock;
    this.#begin = begin;
  }

  /** Asks for a round: at once, or as soon as there may be one; requests until then are one. */
  request(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    void this.#run();
  }

  /** A service that is used here has changed. */
  foundNews(): void {
    this.#hasNews = true;
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    if (this.#unpaidSinceMs !== null) {
      this.#pace.pay(this.#hasNews ? NEWS_PRICE_MS : NO_NEWS_PRICE_MS, this.#unpaidSinceMs);
    }
    this.#hasNews = false;
    await pause(this.#pace.waitMs(this.#clock.nowMs()), signal);
    if (signal.aborted) return;
    this.#isRequested = false;
    this.#unpaidSinceMs = this.#clock.nowMs();
    this.#begin();
  }
}
