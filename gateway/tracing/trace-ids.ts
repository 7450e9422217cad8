// Random ids of traces and spans, cut from random octets that are drawn many at a time: about 50 ns each.
import { randomFillSync } from 'node:crypto';

/** Octets that are drawn at once. */
const DRAWN_BYTES = 4096;

const ONLY_ZEROS = /^0+$/;

export class TraceIds {
  readonly #octets = Buffer.alloc(DRAWN_BYTES);
  readonly #draw: (octets: Buffer) => void;
  #digits = '';
  #at = 0;

  /** `draw` fills with random octets; default: the system's generator. */
  constructor(draw: (octets: Buffer) => void = (octets) => void randomFillSync(octets)) {
    this.#draw = draw;
  }

  /** 32 hexadecimal digits, not all of them 0. */
  traceId(): string {
    return this.#next(32);
  }

  /** 16 hexadecimal digits, not all of them 0. */
  spanId(): string {
    return this.#next(16);
  }

  #next(length: number): string {
    if (this.#at + length > this.#digits.length) {
      this.#draw(this.#octets);
      this.#digits = this.#octets.toString('hex');
      this.#at = 0;
    }
    const id = this.#digits.slice(this.#at, this.#at + length);
    this.#at += length;
    return id.startsWith('00000000') && ONLY_ZEROS.test(id) ? this.#next(length) : id;
  }
}
