// The leader lease: which worker may ask the discovery sources, in which term, and since when it has not renewed.

/** The words of the gateway cell that the lease uses: holder and term in one, and the time of the last renewal. */
const HOLDER_AND_TERM = 0;
const RENEWED_AT = 1;

/** A holder that has not renewed for this long is deposed. */
export const LEASE_MS = 3000;

export interface Leader {
  /** The worker's number, 1..255; 0 when nobody leads. */
  readonly worker: number;
  /** Grows by one with every change of the leader. */
  readonly term: number;
}

/** Who leads at this moment. */
export function currentLeader(words: Int32Array): Leader {
  const word = Atomics.load(words, HOLDER_AND_TERM);
  return { worker: word & 0xff, term: word >>> 8 };
}

/**
 * Renews the lease if `worker` holds it, takes it if nobody holds it or the holder is overdue.
 * Returns the term in which `worker` leads now, or 0 when another does. `nowMs` is the clock that all threads share.
 */
export function claimLease(words: Int32Array, worker: number, nowMs: number): number {
  const word = Atomics.load(words, HOLDER_AND_TERM);
  const { worker: holder, term } = currentLeader(words);
  const now = Math.trunc(nowMs) | 0;
  if (holder === worker) {
    Atomics.store(words, RENEWED_AT, now);
    return Atomics.load(words, HOLDER_AND_TERM) === word ? term : 0;
  }
  // The difference of two wrapped 32-bit times stays right across the wrap.
  const overdue = ((now - Atomics.load(words, RENEWED_AT)) | 0) > LEASE_MS;
  if (holder !== 0 && !overdue) return 0;
  // Renewed before taken: a third worker that looks in between must not find the new holder overdue.
  Atomics.store(words, RENEWED_AT, now);
  const taken = ((term + 1) << 8) | worker;
  return Atomics.compareExchange(words, HOLDER_AND_TERM, word, taken) === word ? term + 1 : 0;
}

/** Gives the lease back if `worker` holds it, for the worker itself or for whoever found it dead. */
export function releaseLease(words: Int32Array, worker: number): void {
  const word = Atomics.load(words, HOLDER_AND_TERM);
  if ((word & 0xff) === worker) Atomics.compareExchange(words, HOLDER_AND_TERM, word, word & ~0xff);
}
