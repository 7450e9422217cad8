// The memory that a socket reads into: small while little arrives, larger and passed round while much does.

interface Size {
  readonly bytes: number;
  /** Memory that nobody reads into at present: a thread has one list of each size. */
  readonly spare: Buffer[];
}

/** Each for who has filled the one before; null for the small one. Fresh memory would cost more than what is read into it. */
const SIZES: readonly (Size | null)[] = [null, { bytes: 65_536, spare: [] }, { bytes: 262_144, spare: [] }];
const MAX_SPARE_BYTES = 8 * 1024 * 1024;
/** Whoever is given octets copies up to so many, into the text that goes out with them; the memory of more can be kept. */
export const COPIED_BYTES = 16_384;
/** Enough for most: what is read into it is always copied, so that a thread needs one for all its sockets. */
const SMALL = Buffer.allocUnsafeSlow(8192);
/** Its first octets by how many they are: each read wants such a view. */
const BEGINNINGS: (Buffer | undefined)[] = Array.from({ length: SMALL.length + 1 });

export class ReadBuffer {
  /** The memory in use, and whose size it has; null while it is the small one. */
  #octets: Buffer | null = null;
  #size: Size | null = null;
  #wanted = 0;

  /** What the next read shall fill. */
  next(): Buffer {
    const wanted = SIZES[this.#wanted] ?? null;
    if (wanted !== this.#size) {
      this.#putBack();
      this.#size = wanted;
    }
    if (wanted === null) return SMALL;
    this.#octets ??= wanted.spare.pop() ?? Buffer.allocUnsafeSlow(wanted.bytes);
    return this.#octets;
  }

  /** What a read has filled, as a Buffer. */
  piece(length: number, octets: Uint8Array): Buffer {
    if (length === octets.length && this.#wanted < SIZES.length - 1) this.#wanted++;
    return octets === SMALL ? beginning(length) : Buffer.from(octets.buffer, octets.byteOffset, length);
  }

  /** A view of what was read last is needed for longer: its memory is not read into again. A slow reader gets less at once. */
  keep(view: Buffer): void {
    if (view.length <= COPIED_BYTES) return;
    this.#octets = null;
    this.#wanted = 1;
  }

  /** Little is expected: the memory in use goes to others when the socket has read next, or is reading now. */
  shrink(): void {
    this.#wanted = 0;
  }

  #putBack(): void {
    const size = this.#size;
    if (this.#octets === null || size === null) return;
    if (size.spare.length * size.bytes < MAX_SPARE_BYTES) size.spare.push(this.#octets);
    this.#octets = null;
  }
}

function beginning(length: number): Buffer {
  const known = BEGINNINGS[length];
  if (known !== undefined) return known;
  const made = SMALL.subarray(0, length);
  BEGINNINGS[length] = made;
  return made;
}
