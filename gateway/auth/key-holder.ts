// The keys that tokens are verified with: those of a file, or those of a URL, fetched and kept.

import { withoutQuery } from '../access/access-outline.ts';
import type { JwtRules } from '../access/access-rules.ts';
import { readKeySet, type VerificationKey } from '../access/key-set.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { FetchText } from './key-fetch.ts';
import { OutageLog } from './outage-log.ts';

export interface KeyHolder {
  /** The newest keys; null while there never were any. Fetches them anew in the background when they are old. */
  current(): readonly VerificationKey[] | null;
  /** Resolves when newer keys were asked for, or at once when it is too soon to ask; never rejects. */
  renew(): Promise<void>;
  /** Whether newer keys could not be had when they were last asked for. */
  readonly isOut: boolean;
}

/** The keys of a file, which change only with the route. */
export function keysOfFile(content: Uint8Array, algorithms: readonly string[]): KeyHolder {
  const read = readKeySet(new TextDecoder().decode(content), { algorithms, isFile: true });
  const keys = read.ok ? read.keys : null;
  return { current: () => keys, renew: () => Promise.resolve(), isOut: false };
}

export interface RemoteKeysOptions {
  readonly url: string;
  readonly algorithms: JwtRules['algorithms'];
  readonly fetch: FetchText;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keys older than this are fetched anew when they are used. */
const OLD_MS = 10 * 60_000;

/** The least time between two fetches: with keys at hand, and while there are none. */
const PAUSE_MS = 30_000;
const PAUSE_WITHOUT_KEYS_MS = 1000;

/** The keys behind a URL. The last good set stays in use however long no other one can be had. */
export class RemoteKeys implements KeyHolder {
  readonly #options: RemoteKeysOptions;
  readonly #outage: OutageLog;
  #keys: readonly VerificationKey[] | null = null;
  /** What they were read from. */
  #text = '';
  #fetchedMs = Number.NEGATIVE_INFINITY;
  #triedMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor(options: RemoteKeysOptions) {
    const { url, clock, log } = options;
    this.#options = options;
    this.#outage = new OutageLog({ clock, log, fields: { keys: withoutQuery(url) } });
  }

  get isOut(): boolean {
    return this.#outage.isOut;
  }

  current(): readonly VerificationKey[] | null {
    if (this.#options.clock.nowMs() - this.#fetchedMs > OLD_MS) void this.renew();
    // Keys are fetched seldom: what was held back shall not wait for the next time.
    this.#outage.tell();
    return this.#keys;
  }

  renew(): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    const pauseMs = this.#keys === null ? PAUSE_WITHOUT_KEYS_MS : PAUSE_MS;
    if (this.#running === null && nowMs - this.#triedMs < pauseMs) return Promise.resolve();
    this.#running ??= this.#fetch().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #fetch(): Promise<void> {
    const { url, algorithms, fetch, clock } = this.#options;
    this.#triedMs = clock.nowMs();
    const fetched = await fetch(url);
    const error = fetched.ok ? this.#take(fetched.text, algorithms) : fetched.error;
    if (error === null) {
      this.#fetchedMs = clock.nowMs();
      this.#outage.succeeded();
    } else {
      const others = this.#keys === null ? 'nobody comes in with a token' : 'those that were fetched before stay';
      this.#outage.failed(error, `the keys for tokens cannot be fetched: ${others}`);
    }
  }
  /** Returns why the text is no key set. One without a key of use is taken for a fault of the issuer as well. */
  #take(text: string, algorithms: readonly string[]): string | null {
    // Tokens that were verified with the same keys need not be verified again.
    if (text === this.#text) return null;
    const read = readKeySet(text, { algorithms, isFile: false });
    if (!read.ok) return read.message;
    this.#keys = read.keys;
    this.#text = text;
    return null;
  }
}
