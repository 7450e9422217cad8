// A keyed hash of text without allocation, of which nobody can build collisions who does not know the seed.

/** Rounds at the end of each half of the hash. */
const FINAL_ROUNDS = 3;

/**
 * HalfSipHash-1-3 with 64 bits of result (J.-P. Aumasson, D. J. Bernstein: SipHash, 2012, in its form for 32-bit words)
 * over UTF-16 code units, two a word. After `of`, `high` and `low` are the result.
 */
export class KeyHash {
  high = 0;
  low = 0;
  readonly #seedHigh: number;
  readonly #seedLow: number;

  constructor(seedHigh: number, seedLow: number) {
    this.#seedHigh = seedHigh;
    this.#seedLow = seedLow;
  }

  /** Hashes `text` under the seed and a salt of 64 bits. */
  of(text: string, saltHigh: number, saltLow: number): void {
    const keyHigh = this.#seedHigh ^ saltHigh;
    const keyLow = this.#seedLow ^ saltLow;
    let v0 = keyLow;
    let v1 = keyHigh ^ 0xee;
    let v2 = keyLow ^ 0x6c796765;
    let v3 = keyHigh ^ 0x74656462;
    const { length } = text;
    const pairs = length >>> 1;
    const half = pairs + FINAL_ROUNDS;
    for (let step = 0; step <= half + FINAL_ROUNDS; step++) {
      let word = 0;
      if (step < pairs) word = text.charCodeAt(2 * step) | (text.charCodeAt(2 * step + 1) << 16);
      else if (step === pairs) word = (length << 16) | (length & 1 ? text.charCodeAt(length - 1) : 0);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
      if (step === pairs) v2 ^= 0xee;
      if (step === half) {
        this.low = v1 ^ v3;
        v1 ^= 0xdd;
      }
    }
    this.high = v1 ^ v3;
  }
}
