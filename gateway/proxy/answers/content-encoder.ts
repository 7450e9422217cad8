// Compresses content piece by piece on the thread pool, at the pace of its reader, and promptly where it comes slowly.
import {
  type BrotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  type Gzip,
  gzipSync,
  type ZstdCompress,
  zstdCompressSync,
} from 'node:zlib';
import type { Coding } from '../../config/answer-schema.ts';

/** Who made the encoder. None of this is called after `destroy`. */
export interface EncoderOwner {
  /** The next octets for the client. */
  encoded(octets: Buffer): void;
  /** The encoder takes more again. */
  encoderDrained(): void;
  encoderFailed(): void;
}

/** Levels at which a second of one core still makes tens of megabytes; windows that keep an encoder near a megabyte. */
const GZIP = { level: 5 };
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 };
const ZSTD = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: 18 };

/** Smaller pieces are handed to the thread pool together: each journey there costs as much as compressing kilobytes. */
const HANDED_BYTES = 65_536;

/** Encoders that a worker has at once: one takes between 0.4 MiB (gzip) and 1.3 MiB (zstd). */
const MAX_PLACES = 512;

/** A thread has one event loop, and so one count. */
let takenPlaces = 0;

/** Makes room for an encoder; false when too many are at work. */
export function takeEncoderPlace(): boolean {
  if (takenPlaces >= MAX_PLACES) return false;
  takenPlaces++;
  return true;
}

/** Gives the room back. */
export function leaveEncoderPlace(): void {
  takenPlaces--;
}

/** Compresses content that is all there, in this turn: for a little of it that is cheaper than the thread pool. */
export function encodeWhole(coding: Coding, octets: Buffer): Buffer {
  switch (coding) {
    case 'gzip':
      return gzipSync(octets, GZIP);
    case 'br':
      return brotliCompressSync(octets, { params: { ...BROTLI, [constants.BROTLI_PARAM_SIZE_HINT]: octets.length } });
    case 'zstd':
      return zstdCompressSync(octets, { params: ZSTD });
  }
}

export class ContentEncoder {
  readonly #stream: Gzip | BrotliCompress | ZstdCompress;
  readonly #flushKind: number;
  readonly #owner: EncoderOwner;
  #collected: Buffer[] = [];
  #collectedBytes = 0;
  /** Pieces that the thread pool has or will get. */
  #handed = 0;
  #isFlushWanted = false;
  /** Whether octets may lie in the encoder that the client could have. */
  #isUnflushed = false;
  #isDestroyed = false;

  constructor(coding: Coding, owner: EncoderOwner) {
    this.#owner = owner;
    [this.#stream, this.#flushKind] = open(coding);
    this.#stream.on('data', (octets: Buffer) => this.#isDestroyed || owner.encoded(octets));
    this.#stream.on('drain', () => this.#isDestroyed || owner.encoderDrained());
    this.#stream.on('error', () => this.#isDestroyed || owner.encoderFailed());
  }

  /** False when it has enough for now. */
  get isReady(): boolean {
    return !this.#stream.writableNeedDrain;
  }

  /** The octets must not change any more. */
  write(octets: Buffer): void {
    this.#collected.push(octets);
    this.#collectedBytes += octets.length;
    if (this.#collectedBytes >= HANDED_BYTES) this.#handOver();
  }

  /** The next octets may be long in coming: the client shall be able to read what there is. */
  flush(): void {
    this.#handOver();
    this.#isFlushWanted = this.#isUnflushed;
    this.#flushWhenIdle();
  }

  /** There is no more; `then` is called behind the last octets. */
  end(then: () => void): void {
    this.#isFlushWanted = false;
    this.#handOver();
    this.#stream.once('end', () => this.#isDestroyed || then());
    this.#stream.end();
  }

  /** Gives the octets of what was written, but no end; then calls `then`. */
  cut(then: () => void): void {
    this.#isFlushWanted = false;
    this.#handOver();
    this.#stream.flush(this.#flushKind, () => {
      if (this.#isDestroyed) return;
      for (let rest = this.#stream.read(); rest !== null; rest = this.#stream.read()) this.#owner.encoded(rest);
      then();
    });
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Frees its memory. */
  destroy(): void {
    this.#isDestroyed = true;
    this.#stream.destroy();
  }

  #handOver(): void {
    if (this.#collectedBytes === 0) return;
    const [first] = this.#collected;
    const octets = this.#collected.length === 1 && first !== undefined ? first : Buffer.concat(this.#collected);
    this.#collected = [];
    this.#collectedBytes = 0;
    this.#handed++;
    this.#isUnflushed = true;
    this.#stream.write(octets, this.#onTaken);
  }

  readonly #onTaken = (): void => {
    this.#handed--;
    this.#flushWhenIdle();
  };

  /** While there is work, more may arrive to go with it: flushing costs some of the compression. */
  #flushWhenIdle(): void {
    if (this.#handed > 0 || !this.#isFlushWanted || this.#isDestroyed) return;
    this.#isFlushWanted = false;
    this.#isUnflushed = false;
    this.#stream.flush(this.#flushKind);
  }
}

function open(coding: Coding): [Gzip | BrotliCompress | ZstdCompress, number] {
  switch (coding) {
    case 'gzip':
      return [createGzip(GZIP), constants.Z_SYNC_FLUSH];
    case 'br':
      return [createBrotliCompress({ params: BROTLI }), constants.BROTLI_OPERATION_FLUSH];
    case 'zstd':
      return [createZstdCompress({ params: ZSTD }), constants.ZSTD_e_flush];
  }
}
