// What a client has sent ahead of its turn: kept for later, up to a limit.

const MAX_BYTES = 65_536;
const EMPTY = Buffer.alloc(0);

export class PipelinedInput {
  #octets: Buffer = EMPTY;

  get isEmpty(): boolean {
    return this.#octets.length === 0;
  }

  /** Keeps a copy of a piece; false when no more should be read for now. */
  keep(piece: Buffer): boolean {
    this.#octets = this.isEmpty ? Buffer.from(piece) : Buffer.concat([this.#octets, piece]);
    return this.#octets.length <= MAX_BYTES;
  }

  /** Gives all that was kept. */
  take(): Buffer {
    const octets = this.#octets;
    this.#octets = EMPTY;
    return octets;
  }
}
