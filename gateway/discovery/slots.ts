// Who may hold a connection for long, where there are more who would like to.

/** Places for the first who ask, and after them for whoever asks when one of those has gone. */
export class Slots {
  readonly #count: number;
  readonly #holders = new Set<object>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Whether the holder has a place, which stays its own until it is released. */
  take(holder: object): boolean {
    if (this.#holders.size < this.#count) this.#holders.add(holder);
    return this.#holders.has(holder);
  }

  release(holder: object): void {
    this.#holders.delete(holder);
  }
}
