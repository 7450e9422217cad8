// How long after an outage of a source what it does not tell well of may be on its way back.

/** While a source is away, nobody can tell it that they live: each instance needs the time of a heartbeat or a check. */
const RETURN_MS = 30_000;

/**
 * The time of one watch after an outage. It begins with the first answer: the last failure may be as long ago as the
 * longest pause between two questions.
 */
export class AfterOutage {
  #isOut: boolean;
  /** Whether no outage was seen, but there may have been one before this watch began. */
  #isTakeOver: boolean;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** `mayBeOut`: what was heard before this watch began is older than an outage may be. */
  constructor(mayBeOut = false) {
    this.#isOut = mayBeOut;
    this.#isTakeOver = mayBeOut;
  }

  failed(): void {
    this.#isOut = true;
    this.#isTakeOver = false;
  }

  /** There was an answer; gives whether it is the first after an outage. Called before `isReturning`. */
  answered(nowMs: number): boolean {
    if (!this.#isOut) return false;
    this.#untilMs = nowMs + RETURN_MS;
    this.#isOut = false;
    return true;
  }

  /** The source has listed instances as they are now: who is gone after that has left, unless an outage was seen. */
  listed(): void {
    if (this.#isTakeOver) this.#untilMs = Number.NEGATIVE_INFINITY;
  }

  /** Whether an answer of this moment may be one of a source that does not know all yet. */
  isReturning(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** Milliseconds until that is over; 0 when it is. */
  leftMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs);
  }
}
