// A cell of shared memory: a few words that all threads change with Atomics, and a lane of counters for each writer.

/** How many 32-bit words the head has (an even number) and how many 64-bit numbers each lane has. */
export interface CellLayout {
  readonly headWords: number;
  readonly laneNumbers: number;
}

/** Lanes are kept apart by whole cache lines, so that two workers that count never wait for each other. */
const CACHE_LINE_NUMBERS = 8;

/** Allocates the shared memory of one cell with `lanes` lanes, all zero. */
export function allocateCell(layout: CellLayout, lanes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(8 * (headNumbers(layout) + lanes * laneStride(layout)));
}

/**
 * One thread's view of a cell. `words` is the shared head, for Atomics only. The numbers of a lane have one writer,
 * the worker that holds the lane; everybody may sum them.
 */
export class Cell {
  readonly words: Int32Array;
  readonly #numbers: Float64Array;
  readonly #firstLane: number;
  readonly #stride: number;
  readonly #ownLane: number;

  /** `lane` is the lane that this thread may write; a thread that only reads gives -1. */
  constructor(buffer: SharedArrayBuffer, layout: CellLayout, lane: number) {
    this.words = new Int32Array(buffer, 0, layout.headWords);
    this.#numbers = new Float64Array(buffer);
    this.#firstLane = headNumbers(layout);
    this.#stride = laneStride(layout);
    this.#ownLane = this.#firstLane + lane * this.#stride;
  }

  /** Adds to a number of the own lane. */
  add(field: number, amount: number): void {
    const at = this.#ownLane + field;
    this.#numbers[at] = (this.#numbers[at] ?? 0) + amount;
  }

  /** Sets a number of the own lane. */
  set(field: number, value: number): void {
    this.#numbers[this.#ownLane + field] = value;
  }

  /** A number of the own lane. */
  own(field: number): number {
    return this.#numbers[this.#ownLane + field] ?? 0;
  }

  /** A number summed over all lanes. */
  sum(field: number): number {
    let sum = 0;
    for (let at = this.#firstLane + field; at < this.#numbers.length; at += this.#stride) sum += this.#numbers[at] ?? 0;
    return sum;
  }

  /** A number of one lane, whosever it is. */
  at(lane: number, field: number): number {
    return this.#numbers[this.#firstLane + lane * this.#stride + field] ?? 0;
  }

  /** Sets a number of a lane whose worker is gone to zero. */
  clear(lane: number, field: number): void {
    this.#numbers[this.#firstLane + lane * this.#stride + field] = 0;
  }
}

function headNumbers(layout: CellLayout): number {
  return roundUp(layout.headWords / 2);
}

function laneStride(layout: CellLayout): number {
  return roundUp(layout.laneNumbers);
}

function roundUp(numbers: number): number {
  return Math.ceil(numbers / CACHE_LINE_NUMBERS) * CACHE_LINE_NUMBERS;
}
