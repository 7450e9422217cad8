// The memory that a socket reads into: small while little arrives, larger and passed round while much does.

interface Size {
  readonly bytes: number;
  /** Memory that nobody reads into at present: a thread has one list of each size. */
  readonly spare: Buffer[];
}

const SMALL_BYTES = 8192;
/** Each for who has filled the one before. Fresh memory would cost more than what is read into it. */
const SIZES: readonly Size[] = [
  { bytes: 65_536, spare: [] },
  { bytes: 262_144, spare: [] },
];
const MAX_SPARE_BYTES = 8 * 1024 * 1024;
/** Larger views are handed on without a copy. */
const COPIED_BYTES = 16_384;

export class ReadBuffer {
  readonly #small = Buffer.allocUnsafeSlow(SMALL_BYTES);
  /** The memory in use, and whose size it has; null for the small one. */
  #octets: Buffer | null = null;
  #size: Size | null = null;
  #wanted = -1;

  /** What the next read shall fill. */
  next(): Buffer {
    const wanted = SIZES[this.#wanted] ?? null;
    if (wanted !== this.#size) {
      this.#putBack();
      this.#size = wanted;
    }
    if (wanted === null) return this.#small;
    this.#octets ??= wanted.spare.pop() ?? Buffer.allocUnsafeSlow(wanted.bytes);
    return this.#octets;
  }

  /** What a read has filled, as a Buffer. */
  piece(length: number, octets: Uint8Array): Buffer {
    if (length === octets.length && this.#wanted < SIZES.length - 1) this.#wanted++;
    return Buffer.from(octets.buffer, octets.byteOffset, length);
  }

  /** A view of what was read last is needed for longer: its memory is not read into again. A slow reader gets less at once. */
  keep(view: Buffer): void {
    if (view.length <= COPIED_BYTES) return;
    this.#octets = null;
    this.#wanted = 0;
  }

  /** Nothing that was read is needed any more, and little is expected. */
  shrink(): void {
    this.#putBack();
    this.#size = null;
    this.#wanted = -1;
  }

  #putBack(): void {
    const size = this.#size;
    if (this.#octets === null || size === null) return;
    if (size.spare.length * size.bytes < MAX_SPARE_BYTES) size.spare.push(this.#octets);
    this.#octets = null;
  }
}
