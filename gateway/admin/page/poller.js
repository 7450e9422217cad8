// Asks again and again while somebody looks: not when the page is hidden or paused, and slower when answers are slow.
/** @import { Reply } from './document.ts' */

const SHORTEST_MS = 1000;
const LONGEST_MS = 5000;
/** The gateway spends at most a fifth of its time on this page. */
const REST_FACTOR = 4;

export class Poller {
  #ask;
  #onReply;
  #isPaused = false;
  #isAsking = false;
  /** @type {number | undefined} */
  #timer;

  /** @param {{ ask: () => Promise<Reply>, onReply: (reply: Reply) => boolean }} options `onReply` says whether to go on */
  constructor({ ask, onReply }) {
    this.#ask = ask;
    this.#onReply = onReply;
  }

  get isPaused() {
    return this.#isPaused;
  }

  start() {
    document.addEventListener('visibilitychange', () => this.#turn());
    this.#turn();
  }

  /** @param {boolean} isPaused */
  setPaused(isPaused) {
    this.#isPaused = isPaused;
    this.#turn();
  }

  /** Asks at once, paused or not. */
  async askNow() {
    if (this.#isAsking) return;
    clearTimeout(this.#timer);
    this.#isAsking = true;
    const beganMs = performance.now();
    let goesOn = true;
    try {
      goesOn = this.#onReply(await this.#ask());
    } finally {
      this.#isAsking = false;
      // What it takes to draw counts as well.
      const restMs = (performance.now() - beganMs) * REST_FACTOR;
      if (goesOn) this.#askAgain(Math.min(Math.max(restMs, SHORTEST_MS), LONGEST_MS));
    }
  }

  #turn() {
    if (this.#mayAsk()) void this.askNow();
    else clearTimeout(this.#timer);
  }

  #mayAsk() {
    return !this.#isPaused && !document.hidden;
  }

  /** @param {number} afterMs */
  #askAgain(afterMs) {
    clearTimeout(this.#timer);
    if (this.#mayAsk()) this.#timer = setTimeout(() => void this.askNow(), afterMs);
  }
}
