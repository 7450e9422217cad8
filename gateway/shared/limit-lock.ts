// A lock of one word between threads, held for a fraction of a microsecond; one whose holder died can be taken over.

/** Looks at a taken lock before the thread goes to sleep: longer than a holder that runs needs. */
const LOOKS = 200;
/** How long a thread sleeps, in ms, so that a holder without a processor gets one. */
const NAP_MS = 1;
/** After so many naps under one and the same ticket its holder is taken for dead. */
const NAPS_TO_DEATH = 1000;

/**
 * Takes the lock in `words[at]` by writing `ticket` there: not 0, and another one each time, over all threads. True
 * when it was taken from a holder that is dead, so that what it guards may be half written. A holder is dead when it
 * was waited for through a thousand naps of 1 ms: naps, not a deadline, because a process that stood still as a whole
 * must not lose its locks.
 */
export function takeLock(words: Int32Array, at: number, ticket: number): boolean {
  return Atomics.compareExchange(words, at, 0, ticket) !== 0 && waitForLock(words, at, ticket);
}

/** Gives the lock back; does nothing when it is not held with `ticket`. */
export function giveLock(words: Int32Array, at: number, ticket: number): void {
  Atomics.compareExchange(words, at, ticket, 0);
}

function waitForLock(words: Int32Array, at: number, ticket: number): boolean {
  let holder = 0;
  let naps = 0;
  for (;;) {
    for (let look = 0; look < LOOKS; look++) {
      if (Atomics.load(words, at) === 0 && Atomics.compareExchange(words, at, 0, ticket) === 0) return false;
      Atomics.pause();
    }
    const seen = Atomics.load(words, at);
    if (seen === 0) continue;
    naps = seen === holder ? naps + 1 : 0;
    holder = seen;
    if (naps === NAPS_TO_DEATH && Atomics.compareExchange(words, at, holder, ticket) === holder) return true;
    Atomics.wait(words, at, holder, NAP_MS);
  }
}
