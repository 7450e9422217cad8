// The last good answers of services, for when they cannot answer: bounded in bytes, the same in all workers.
import { LRUCache } from 'lru-cache';
import type { RequestDescription } from '../exchange.ts';

/** A kept answer; its content lies in memory that all workers share. */
export interface KeptAnswer {
  readonly status: number;
  readonly reason: string;
  /** Field lines, each with its CRLF. */
  readonly lines: string;
  readonly content: SharedArrayBuffer;
  /** When it came, in ms since the Unix epoch, less the age it had then. */
  readonly bornMs: number;
  /** How old it may become, in ms. */
  readonly maxAgeMs: number;
  /** The request fields that it depends on, with their values, and `null` for those that were absent. */
  readonly vary: readonly (readonly [name: string, value: string | null])[];
}

/** An answer under its host and target. */
export interface KeptUnder {
  readonly key: string;
  readonly answer: KeptAnswer;
}

export interface StaleCacheOptions {
  readonly maxBytes: number;
  readonly maxEntryBytes: number;
  /** Gives an answer of this worker to the others. */
  readonly onKept: (kept: KeptUnder) => void;
}

/** Most variants of one target. */
const MAX_VARIANTS = 8;

/** What an entry takes besides its texts and its content. */
const ENTRY_OVERHEAD_BYTES = 512;

/** An answer is not kept anew while the one before is younger than this. */
const REFRESH_MS = 1000;

/** Most answers that a worker keeps in a second: copying them costs time, and the other workers are told of each. */
const MAX_KEPT_A_SECOND = 500;

export interface FindOptions {
  readonly wallMs: number;
  readonly maxAgeMs: number;
  /** The name of the route that asks. */
  readonly route?: string;
}

/** Copies under way may take this share of the memory for kept answers. */
const COPYING_SHARE = 4;

type Request = Pick<RequestDescription, 'host' | 'target' | 'header'>;

export class StaleCache {
  readonly maxEntryBytes: number;
  readonly #answers: LRUCache<string, readonly KeptAnswer[]>;
  readonly #onKept: (kept: KeptUnder) => void;
  /** Octets of answers that are being copied, and how many they may be. */
  #copyingBytes = 0;
  readonly #maxCopyingBytes: number;
  #second = 0;
  #keptInSecond = 0;

  constructor({ maxBytes, maxEntryBytes, onKept }: StaleCacheOptions) {
    this.maxEntryBytes = maxEntryBytes;
    this.#onKept = onKept;
    this.#maxCopyingBytes = Math.max(maxEntryBytes, maxBytes / COPYING_SHARE);
    this.#answers = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
  }

  /** Whether an answer to the request should be kept now, for the route of this name. */
  wants(request: Request, wallMs: number, route = ''): boolean {
    const second = Math.floor(wallMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#keptInSecond = 0;
    }
    if (this.#keptInSecond >= MAX_KEPT_A_SECOND) return false;
    const known = this.#variant(this.#answers.peek(keyOf(request, route)), request);
    return known === undefined || wallMs - known.bornMs >= REFRESH_MS;
  }

  /** Makes room for octets of an answer that is being copied; false when too much is under way. */
  reserve(bytes: number): boolean {
    if (this.#copyingBytes + bytes > this.#maxCopyingBytes) return false;
    this.#copyingBytes += bytes;
    return true;
  }

  /** Gives room back. */
  release(bytes: number): void {
    this.#copyingBytes -= bytes;
  }

  /** Keeps an answer of this worker, and tells the others. */
  keep(request: Request, answer: KeptAnswer, route = ''): void {
    const kept = { key: keyOf(request, route), answer };
    this.#keptInSecond++;
    this.take(kept);
    this.#onKept(kept);
  }

  /** Takes over an answer that another worker keeps. */
  take({ key, answer }: KeptUnder): void {
    const others = (this.#answers.get(key) ?? []).filter(({ vary }) => !isSameVary(vary, answer.vary));
    this.#answers.set(key, [answer, ...others].slice(0, MAX_VARIANTS));
  }

  /** The answer for a request that is not older than `maxAgeMs`; undefined when there is none. */
  find(request: Request, { wallMs, maxAgeMs, route = '' }: FindOptions): KeptAnswer | undefined {
    const answer = this.#variant(this.#answers.get(keyOf(request, route)), request);
    if (answer === undefined) return undefined;
    return wallMs - answer.bornMs <= Math.min(maxAgeMs, answer.maxAgeMs) ? answer : undefined;
  }

  #variant(answers: readonly KeptAnswer[] | undefined, request: Request): KeptAnswer | undefined {
    return answers?.find(({ vary }) => vary.every(([name, value]) => (request.header(name) ?? null) === value));
  }
}

/**
 * Routes may differ by fields that Vary does not name: none gets the answer of another. Neither hosts nor targets have a
 * blank, so no two requests of other host, target or route give the same key.
 */
function keyOf({ host, target }: Request, route: string): string {
  return `${host.toLowerCase()} ${target} ${route}`;
}

function isSameVary(one: KeptAnswer['vary'], other: KeptAnswer['vary']): boolean {
  return (
    one.length === other.length &&
    one.every(([name, value], at) => {
      return other[at]?.[0] === name && other[at][1] === value;
    })
  );
}

function bytesOf(answers: readonly KeptAnswer[], key: string): number {
  let bytes = 2 * key.length;
  for (const { lines, content } of answers) bytes += ENTRY_OVERHEAD_BYTES + 2 * lines.length + content.byteLength;
  return bytes;
}
