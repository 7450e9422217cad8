// The compression of a route, prepared once: what it offers, and what each kind of client gets of it.
import { LRUCache } from 'lru-cache';
import type { Coding } from '../../config/answer-schema.ts';
import { chooseCoding, LONGEST_ACCEPT_ENCODING } from './accept-encoding.ts';

export interface Compression {
  /** The coding for a client with this Accept-Encoding field (undefined: without one); null for none. */
  choose(accept: string | undefined): Coding | null;
}

/** Browsers have a handful of values; whoever makes up others pushes out only what is worked out again. */
const MAX_KNOWN = 64;

/** Prepares the `compress` key of a route. */
export function prepareCompression(offered: readonly Coding[]): Compression {
  const known = new LRUCache<string, { readonly coding: Coding | null }>({ max: MAX_KNOWN });
  return {
    choose(accept) {
      if (accept === undefined || accept.length > LONGEST_ACCEPT_ENCODING) return null;
      const before = known.get(accept);
      if (before !== undefined) return before.coding;
      const coding = chooseCoding(accept, offered);
      known.set(accept, { coding });
      return coding;
    },
  };
}
