// Keys and their state in shared memory: a set-associative table of fixed size, seven keys a bucket, a lock for each.

/** One cache line: the lock, a spare word, and the fingerprints (two words each) of the keys. */
const KEY_WORDS = 16;
const FIRST_KEY = 2;
const KEYS = 7;

/** Where the buckets of one kind lie; every number counts 32-bit words. */
export interface BucketRegion {
  readonly firstWord: number;
  readonly buckets: number;
  /** An even number; the first two words of a state are a 64-bit float: until when, in ms, it matters. */
  readonly stateWords: number;
}

/** How many buckets hold `keys` keys. */
export function bucketsFor(keys: number): number {
  return Math.ceil(keys / KEYS);
}

/** The size of a bucket in words: whole cache lines. */
export function bucketWords(stateWords: number): number {
  return KEY_WORDS + Math.ceil((KEYS * stateWords) / KEY_WORDS) * KEY_WORDS;
}

/** One thread's view of the buckets of one kind. All but `bucketOf` is for the holder of the bucket's lock. */
export class LimitBuckets {
  readonly #words: Int32Array;
  readonly #numbers: Float64Array;
  readonly #region: BucketRegion;
  readonly #bucketWords: number;

  constructor(buffer: SharedArrayBuffer, region: BucketRegion) {
    this.#words = new Int32Array(buffer);
    this.#numbers = new Float64Array(buffer);
    this.#region = region;
    this.#bucketWords = bucketWords(region.stateWords);
  }

  /** The first word of the bucket where a key belongs, which is also its lock; `low` is a word of the fingerprint. */
  bucketOf(low: number): number {
    const { firstWord, buckets } = this.#region;
    return firstWord + Math.floor(((low >>> 0) * buckets) / 2 ** 32) * this.#bucketWords;
  }

  /** The first word of the state of a key; -1 when the table does not know the key. */
  find(bucket: number, high: number, low: number): number {
    const words = this.#words;
    for (let key = 0, at = bucket + FIRST_KEY; key < KEYS; key++, at += 2) {
      if (words[at] === high && words[at + 1] === low) return this.#stateOf(bucket, key);
    }
    return -1;
  }

  /**
   * Gives a new key the place of the one that matters least: an empty place, else the state that matters for the
   * shortest time. Returns the first word of its state, which still holds what it held.
   */
  replace(bucket: number, high: number, low: number): number {
    let least = 0;
    for (let key = 1; key < KEYS; key++) {
      if (this.#untilMs(bucket, key) < this.#untilMs(bucket, least)) least = key;
    }
    const at = bucket + FIRST_KEY + 2 * least;
    this.#words[at] = high;
    this.#words[at + 1] = low;
    return this.#stateOf(bucket, least);
  }

  /** Forgets all keys of a bucket. */
  clear(bucket: number): void {
    this.#words.fill(0, bucket + 1, bucket + this.#bucketWords);
  }

  #untilMs(bucket: number, key: number): number {
    return this.#numbers[this.#stateOf(bucket, key) / 2] ?? 0;
  }

  #stateOf(bucket: number, key: number): number {
    return bucket + KEY_WORDS + key * this.#region.stateWords;
  }
}
