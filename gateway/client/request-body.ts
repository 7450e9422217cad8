// The body of a request, given to one attempt after the other: kept up to a size where it comes piece by piece.
import { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';

type DispatchBody = NonNullable<Dispatcher.DispatchOptions['body']>;
type Piece = string | Uint8Array;

export class RequestBody {
  /** A body that is all at hand, which undici takes as it is; null where it is none or comes piece by piece. */
  readonly #whole: DispatchBody | null;
  readonly #pieces: Pieces | undefined;

  /** `given` is what undici takes as a body; of a stream or an iterable `keepBytes` are kept for another attempt. */
  constructor(given: unknown, keepBytes: number) {
    this.#pieces = isPiecemeal(given) ? new Pieces(given, keepBytes) : undefined;
    // Whatever else it is: undici says what it thinks of it.
    this.#whole = this.#pieces === undefined && isDispatchBody(given) ? given : null;
  }

  /** The body for an attempt, from its beginning; the attempt before gets no more of it. */
  next(): DispatchBody | null {
    const reading = this.#pieces?.read();
    return reading === undefined ? this.#whole : asDispatchBody(reading);
  }

  /** Whether another attempt would get all of it. */
  isReplayable(): boolean {
    return this.#pieces?.hasLost !== true;
  }

  /** Whether all of it has been given. */
  get isComplete(): boolean {
    return this.#pieces === undefined || this.#pieces.isAtEnd;
  }

  /** Whether this is the error of its source, not that of an attempt. */
  isBrokenBy(error: unknown): boolean {
    return this.#pieces?.failure?.error === error && error !== undefined;
  }

  /** No other attempt follows: nothing need be kept. */
  settle(): void {
    this.#pieces?.keepNothing();
  }

  /** Lets go of its source, also where that has not ended. */
  close(): void {
    this.#pieces?.close();
  }
}

type Source = AsyncIterable<unknown> | Iterable<unknown>;

class Pieces {
  hasLost = false;
  isAtEnd = false;
  failure: { readonly error: unknown } | undefined;
  readonly #source: Source;
  readonly #iterator: AsyncIterator<unknown> | Iterator<unknown>;
  #keepBytes: number;
  #kept: Piece[] = [];
  #keptBytes = 0;
  /** How many of those kept the present reader has got. */
  #given = 0;
  #reader: object | undefined;
  #pull: Promise<void> | undefined;

  constructor(source: Source, keepBytes: number) {
    this.#source = source;
    this.#keepBytes = keepBytes;
    this.#iterator = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    // A stream may break before anybody reads; the iterator tells when somebody does.
    if (source instanceof Readable) source.on('error', () => undefined);
  }

  /** Everything from the first piece on, for a reader who takes the place of the one before. */
  read(): AsyncIterable<Piece> {
    const reader = {};
    this.#reader = reader;
    this.#given = 0;
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#next(reader) }) };
  }

  keepNothing(): void {
    this.#keepBytes = 0;
    this.#letGo();
  }

  close(): void {
    this.#reader = undefined;
    this.#kept = [];
    if (this.isAtEnd) return;
    this.isAtEnd = true;
    if (this.#source instanceof Readable) this.#source.destroy();
    else void Promise.resolve(this.#iterator.return?.()).catch(() => undefined);
  }

  async #next(reader: object): Promise<IteratorResult<Piece, undefined>> {
    for (;;) {
      // An end would look like that of the whole body.
      if (reader !== this.#reader) throw new errors.RequestAbortedError();
      const piece = this.#kept[this.#given];
      if (piece !== undefined) {
        this.#given++;
        this.#letGo();
        return { done: false, value: piece };
      }
      if (this.failure !== undefined) throw this.failure.error;
      if (this.isAtEnd) return { done: true, value: undefined };
      this.#pull ??= this.#take();
      await this.#pull;
    }
  }

  async #take(): Promise<void> {
    try {
      const { done, value } = await this.#iterator.next();
      if (done === true) this.isAtEnd = true;
      else if (typeof value === 'string' || value instanceof Uint8Array) this.#keep(value);
      else throw new errors.InvalidArgumentError('a body consists of strings and Uint8Arrays');
    } catch (error) {
      this.failure = { error };
    } finally {
      this.#pull = undefined;
    }
  }

  #keep(piece: Piece): void {
    this.#kept.push(piece);
    this.#keptBytes += lengthOf(piece);
  }

  /** Beyond the size to keep, what was given is let go, and there is no other attempt. */
  #letGo(): void {
    if (this.#given === 0 || (this.#keptBytes <= this.#keepBytes && !this.hasLost)) return;
    for (const piece of this.#kept.splice(0, this.#given)) this.#keptBytes -= lengthOf(piece);
    this.#given = 0;
    this.hasLost = true;
  }
}

function lengthOf(piece: Piece): number {
  return typeof piece === 'string' ? Buffer.byteLength(piece) : piece.byteLength;
}

/** Streams and iterables; but what undici takes at once (text, octets, Blob, FormData) may be iterable too. */
function isPiecemeal(given: unknown): given is Source {
  if (typeof given !== 'object' || given === null || given instanceof Blob || given instanceof ArrayBuffer)
    return false;
  if (ArrayBuffer.isView(given) || Object.prototype.toString.call(given) === '[object FormData]') return false;
  return Symbol.asyncIterator in given || Symbol.iterator in given;
}

/** What undici takes at runtime is more than its types say: whether it is something rather than nothing. */
function isDispatchBody(given: unknown): given is DispatchBody {
  return given !== null && given !== undefined;
}

function asDispatchBody(reading: unknown): DispatchBody | null {
  return isDispatchBody(reading) ? reading : null;
}
