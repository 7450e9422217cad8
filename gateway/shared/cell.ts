// A cell of shared memory: a few words that all threads change with Atomics, and a lane of counters for each writer.

/** How many 32-bit words the head has (an even number) and how many 64-bit numbers each lane has. */
export interface CellLayout {
  readonly headWords: number;
  readonly laneNumbers: number;
}

/** Where a cell lies: many small cells share one buffer, for each buffer costs every thread more than a cell. */
export interface CellPlace {
  readonly buffer: SharedArrayBuffer;
  readonly firstByte: number;
  readonly lanes: number;
}

/** Lanes are kept apart by whole cache lines, so that two workers that count never wait for each other. */
const CACHE_LINE_NUMBERS = 8;

/** Most cells in one buffer: as long as one of them is in use, the memory of all of them is. */
const CELLS_A_BUFFER = 64;

interface Views {
  readonly words: Int32Array;
  readonly numbers: Float64Array;
}

/** The views of each buffer, made once in each thread. */
const VIEWS = new WeakMap<SharedArrayBuffer, Views>();

/** Allocates the shared memory of one cell with `lanes` lanes, all zero. */
export function allocateCell(layout: CellLayout, lanes: number): CellPlace {
  return { buffer: new SharedArrayBuffer(8 * cellNumbers(layout, lanes)), firstByte: 0, lanes };
}

/** Gives places for cells that appear together, as many as are asked for, all zero. */
export function createCellSource(layout: CellLayout, lanes: number, expected: number): () => CellPlace {
  const bytes = 8 * cellNumbers(layout, lanes);
  let left = expected;
  let free = 0;
  let buffer: SharedArrayBuffer | undefined;
  return () => {
    if (buffer === undefined || free === 0) {
      free = Math.min(CELLS_A_BUFFER, Math.max(1, left));
      buffer = new SharedArrayBuffer(bytes * free);
    }
    free--;
    left--;
    return { buffer, firstByte: bytes * free, lanes };
  };
}

/**
 * One thread's view of a cell. The words of the shared head are for Atomics only. The numbers of a lane have one
 * writer, the worker that holds the lane; everybody may sum them.
 */
export class Cell {
  /** The words of the whole buffer; the cell's own begin at `firstWord`. */
  readonly words: Int32Array;
  readonly firstWord: number;
  readonly #numbers: Float64Array;
  readonly #firstLane: number;
  readonly #endLane: number;
  readonly #stride: number;
  readonly #ownLane: number;

  /** `lane` is the lane that this thread may write; a thread that only reads gives -1. */
  constructor({ buffer, firstByte, lanes }: CellPlace, layout: CellLayout, lane: number) {
    const { words, numbers } = viewsOf(buffer);
    this.words = words;
    this.firstWord = firstByte / 4;
    this.#numbers = numbers;
    this.#stride = laneStride(layout);
    this.#firstLane = firstByte / 8 + headNumbers(layout);
    this.#endLane = this.#firstLane + lanes * this.#stride;
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
    for (let at = this.#firstLane + field; at < this.#endLane; at += this.#stride) sum += this.#numbers[at] ?? 0;
    return sum;
  }

  /** How many lanes there are. */
  get lanes(): number {
    return (this.#endLane - this.#firstLane) / this.#stride;
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

function viewsOf(buffer: SharedArrayBuffer): Views {
  const known = VIEWS.get(buffer);
  if (known !== undefined) return known;
  const views = { words: new Int32Array(buffer), numbers: new Float64Array(buffer) };
  VIEWS.set(buffer, views);
  return views;
}

function cellNumbers(layout: CellLayout, lanes: number): number {
  return headNumbers(layout) + lanes * laneStride(layout);
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
