// The rate limits of the whole process: one table in shared memory for the keys of all limits, exact over all threads.
import { getRandomValues } from 'node:crypto';
import { type LimitVerdict, type RateLimit, WINDOW_BYTES, type WindowLimit } from '../resilience/rate-limit.ts';
import { KeyHash } from '../resilience/rate-limit-hash.ts';
import { decideByPace } from '../resilience/rate-limit-pace.ts';
import { countInWindow, decideInWindow, type WindowReading } from '../resilience/rate-limit-window.ts';
import { type BucketRegion, bucketsFor, bucketWords, LimitBuckets } from './limit-buckets.ts';
import { giveLock, takeLock } from './limit-lock.ts';

export interface LimitTableSize {
  /** Room for so many keys (1 or more) of token and leaky buckets, 18 bytes each, and of sliding windows, 73 each. */
  readonly entries: number;
  /** Two words that no client may know; by default chosen at random. */
  readonly seed?: Uint32Array;
}

const SEED_HIGH = 0;
const SEED_LOW = 1;
const BUCKETS = 2;
const VIEWS = 3;
const EVICTIONS = 4;
const HEAD_WORDS = 16;

/** A float64, and for a window its counters. */
const PACE_WORDS = 2;
const WINDOW_WORDS = 2 + WINDOW_BYTES / 4;

/** A ticket has the number of the view above these bits, and in them a number that changes with each use. */
const TICKET_BITS = 20;
const VIEW_BITS = 11;

/** Allocates the table; the system gives memory page by page as it is used. Throws RangeError when out of bounds. */
export function allocateLimitTable({ entries, seed }: LimitTableSize): SharedArrayBuffer {
  const buckets = bucketsFor(entries);
  const windows = windowRegion(buckets);
  const buffer = new SharedArrayBuffer(4 * (windows.firstWord + buckets * bucketWords(WINDOW_WORDS)));
  const [high = 0, low = 0] = seed ?? getRandomValues(new Uint32Array(2));
  const words = new Int32Array(buffer, 0, HEAD_WORDS);
  words[SEED_HIGH] = high;
  words[SEED_LOW] = low;
  words[BUCKETS] = buckets;
  return buffer;
}

/** How many keys were forgotten while they mattered, for want of room, in all threads; counts modulo 2^32. */
export function limitEvictions(buffer: SharedArrayBuffer): number {
  return evictionsIn(new Int32Array(buffer, 0, HEAD_WORDS));
}

function evictionsIn(words: Int32Array): number {
  return Atomics.load(words, EVICTIONS) >>> 0;
}

/**
 * One thread's view of the table. The words of a bucket change under its lock alone: that is cheaper than a 64-bit
 * compare-and-exchange with its BigInts, covers keys that come and go as well, and decides several limits as one.
 * A full bucket forgets the key that matters least; a forgotten key starts afresh. Times are ms since the process
 * started, by the same clock in all threads.
 */
export class LimitTable {
  readonly #words: Int32Array;
  readonly #numbers: Float64Array;
  readonly #counters: Readonly<Record<1 | 2 | 4, WindowReading['counters']>>;
  readonly #paced: LimitBuckets;
  readonly #windows: LimitBuckets;
  readonly #hash: KeyHash;
  readonly #firstTicket: number;
  readonly #places: Place[] = [];
  #turn = 0;
  #ticket = 0;

  constructor(buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer);
    this.#numbers = new Float64Array(buffer);
    this.#counters = { 1: new Uint8Array(buffer), 2: new Uint16Array(buffer), 4: new Uint32Array(buffer) };
    const buckets = this.#words[BUCKETS] ?? 0;
    this.#paced = new LimitBuckets(buffer, pacedRegion(buckets));
    this.#windows = new LimitBuckets(buffer, windowRegion(buckets));
    this.#hash = new KeyHash(this.#words[SEED_HIGH] ?? 0, this.#words[SEED_LOW] ?? 0);
    const view = Atomics.add(this.#words, VIEWS, 1) % 2 ** VIEW_BITS;
    this.#firstTicket = view * 2 ** TICKET_BITS + 1;
  }

  /** What each limit of the last `takeAll` said, by its position; the objects are written over by the next call. */
  get verdicts(): readonly LimitVerdict[] {
    return this.#places;
  }

  /**
   * Counts a request under one limit. Returns 0 when it is admitted, the ms to wait first when it is admitted to the
   * queue of a leaky bucket, and when it is refused a number below 0: after so many ms a retry can succeed.
   */
  take(limit: RateLimit, key: string, nowMs: number): number {
    this.#aim(0, limit, key);
    return this.#settle(1, nowMs);
  }

  /**
   * Counts a request under all of `limits` (a list without repetition), each with the key at the same position, or
   * under none of them when one refuses. All threads see that as one step. Returns as `take` does: the longest delay,
   * or of the limits that refuse the longest time.
   */
  takeAll(limits: readonly RateLimit[], keys: readonly string[], nowMs: number): number {
    for (let at = 0; at < limits.length; at++) {
      const limit = limits[at];
      if (limit !== undefined) this.#aim(at, limit, keys[at] ?? '');
    }
    return this.#settle(limits.length, nowMs);
  }

  /** How many keys were forgotten while they mattered, for want of room, in all threads; counts modulo 2^32. */
  evictions(): number {
    return evictionsIn(this.#words);
  }

  #aim(at: number, limit: RateLimit, key: string): void {
    const place = this.#places[at] ?? this.#addPlace(limit);
    this.#hash.of(key, limit.saltHigh, limit.saltLow);
    place.limit = limit;
    place.high = this.#hash.high;
    place.low = this.#hash.low;
    place.buckets = limit.algorithm === 'sliding_window' ? this.#windows : this.#paced;
    place.bucket = place.buckets.bucketOf(place.low);
  }

  #addPlace(limit: RateLimit): Place {
    const place = new Place(limit, this.#paced, this.#counters[1]);
    this.#places.push(place);
    return place;
  }

  #settle(count: number, nowMs: number): number {
    this.#takeLocks(count);
    let delayMs = 0;
    for (let at = 0; at < count; at++) {
      const place = this.#places[at];
      if (place !== undefined) delayMs = worse(delayMs, this.#decide(place, nowMs));
    }
    for (let at = 0; at < count; at++) {
      const place = this.#places[at];
      if (place === undefined) continue;
      if (delayMs >= 0) this.#commit(place, nowMs);
      else if (place.delayMs >= 0) place.remaining++;
    }
    for (let at = 0; at < count; at++) giveLock(this.#words, this.#places[at]?.bucket ?? 0, this.#ticket);
    return delayMs;
  }

  /** Takes the locks in ascending order, each once, so that threads never wait for one another in a ring. */
  #takeLocks(count: number): void {
    this.#turn = (this.#turn + 1) % (2 ** TICKET_BITS - 1);
    this.#ticket = this.#firstTicket + this.#turn;
    let taken = -1;
    for (let nth = 0; nth < count; nth++) {
      let next: Place | undefined;
      for (let at = 0; at < count; at++) {
        const place = this.#places[at];
        if (place !== undefined && place.bucket > taken && place.bucket < (next?.bucket ?? Infinity)) next = place;
      }
      if (next === undefined) return;
      taken = next.bucket;
      if (takeLock(this.#words, taken, this.#ticket)) next.buckets.clear(taken);
    }
  }

  #decide(place: Place, nowMs: number): number {
    const state = place.buckets.find(place.bucket, place.high, place.low);
    place.untilMs = state === -1 ? 0 : (this.#numbers[state / 2] ?? 0);
    if (place.limit.algorithm === 'sliding_window') {
      this.#showCounters(place, place.limit, state);
      decideInWindow(place.limit, place, nowMs);
    } else {
      decideByPace(place.limit, place, nowMs);
    }
    return place.delayMs;
  }

  #commit(place: Place, nowMs: number): void {
    // Looked for again: a key of the same request may have taken the place.
    let state = place.buckets.find(place.bucket, place.high, place.low);
    if (state === -1) {
      state = place.buckets.replace(place.bucket, place.high, place.low);
      if ((this.#numbers[state / 2] ?? 0) > nowMs) Atomics.add(this.#words, EVICTIONS, 1);
      place.newestPiece = -Infinity;
    }
    this.#numbers[state / 2] = place.untilMs;
    if (place.limit.algorithm !== 'sliding_window') return;
    this.#showCounters(place, place.limit, state);
    countInWindow(place.limit, place);
  }

  #showCounters(place: Place, limit: WindowLimit, state: number): void {
    place.counters = this.#counters[limit.counterBytes];
    place.first = (4 * (state + 2)) / limit.counterBytes;
  }
}

/** One limit of the request that is being decided: where its key is, and what was read and decided. */
class Place implements WindowReading {
  limit: RateLimit;
  buckets: LimitBuckets;
  counters: WindowReading['counters'];
  bucket = 0;
  high = 0;
  low = 0;
  untilMs = 0;
  delayMs = 0;
  remaining = 0;
  resetMs = 0;
  first = 0;
  newestPiece = 0;
  piece = 0;

  constructor(limit: RateLimit, buckets: LimitBuckets, counters: WindowReading['counters']) {
    this.limit = limit;
    this.buckets = buckets;
    this.counters = counters;
  }
}

/** Of two delays the one that counts: a refusal, the longer one, before an admission, the later one. */
function worse(one: number, other: number): number {
  return one < 0 || other < 0 ? Math.min(one, other) : Math.max(one, other);
}

function pacedRegion(buckets: number): BucketRegion {
  return { firstWord: HEAD_WORDS, buckets, stateWords: PACE_WORDS };
}

function windowRegion(buckets: number): BucketRegion {
  const firstWord = HEAD_WORDS + buckets * bucketWords(PACE_WORDS);
  return { firstWord, buckets, stateWords: WINDOW_WORDS };
}
