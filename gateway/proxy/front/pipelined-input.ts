// What a client has sent ahead of its turn: kept for later, up to a limit.

const MAX_BYTES = 65_536;
const EMPTY = Buffer.alloc(0);

export class PipelinedInput {
  #octets: Buffer = EMPTY;
  /** What is being read again, so that what is left of it need not be copied. */
  #given: ArrayBufferLike | null = null;

  get isEmpty(): boolean {
    return this.#octets.length === 0;
  }

  /** Keeps a piece, as a copy unless `give` has given it; false when no more should be read for now. */
  keep(piece: Buffer): boolean {
    const isOwn = piece.buffer === this.#given;
    this.#octets = !this.isEmpty ? Buffer.concat([this.#octets, piece]) : isOwn ? piece : Buffer.from(piece);
    return this.#octets.length <= MAX_BYTES;
  }

  /** Has all that was kept read, which may keep the end of it again. */
  give(read: (octets: Buffer) => void): void {
    const octets = this.take();
    this.#given = octets.buffer;
    read(octets);
    this.#given = null;
  }

  /** Gives all that was kept. */
  take(): Buffer {
    const octets = this.#octets;
    this.#octets = EMPTY;
    return octets;
  }
}
