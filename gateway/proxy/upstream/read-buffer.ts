// The memory that a socket reads into: small while little arrives, large while much does, replaced when it was given away.

const SMALL_BYTES = 8192;
const LARGE_BYTES = 65_536;
/** Larger views are handed on without a copy, so their memory must not be read into again. */
const COPIED_BYTES = 16_384;

export class ReadBuffer {
  #octets: Buffer = Buffer.allocUnsafe(0);
  #wantedBytes = SMALL_BYTES;
  #isGivenAway = false;

  /** What the next read shall fill. */
  next(): Buffer {
    if (this.#isGivenAway || this.#octets.length !== this.#wantedBytes) {
      this.#octets = Buffer.allocUnsafeSlow(this.#wantedBytes);
      this.#isGivenAway = false;
    }
    return this.#octets;
  }

  /** What a read has filled, as a Buffer. */
  piece(length: number, octets: Uint8Array): Buffer {
    if (length === octets.length) this.#wantedBytes = LARGE_BYTES;
    return Buffer.from(octets.buffer, octets.byteOffset, length);
  }

  /** A view of the memory was passed on. */
  handedOut(view: Buffer): void {
    if (view.length > COPIED_BYTES) this.#isGivenAway = true;
  }

  shrink(): void {
    this.#wantedBytes = SMALL_BYTES;
  }
}
