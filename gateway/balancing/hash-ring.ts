// The circle of hashes (0..2^32-1) and the points of the endpoints on it, in the order of the circle.
import { hashKey, mix32 } from './key-hash.ts';

/** Enough that equal endpoints differ by some 8 % in what falls to them. */
export const POINTS_PER_ENDPOINT = 160;

const OTHER_SEED = 0x9e3779b9;

/** Three passes of so many bits sort numbers of 32. */
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

export interface HashRing {
  /** Where the points are, ascending. */
  readonly positions: Uint32Array;
  /** Whose the point of the same index is: a position in the list of keys. */
  readonly owners: Uint32Array;
}

/**
 * The ring of endpoints with these keys. The points of an endpoint depend on its key alone: others that come and go do
 * not move them. Points of different endpoints may fall on the same position.
 */
export function hashRing(keys: readonly string[]): HashRing {
  const ring = emptyRing(keys.length * POINTS_PER_ENDPOINT);
  let at = 0;
  for (const [owner, key] of keys.entries()) {
    // Two hashes of the key make 64 bits of it count: keys that collide in one do not share their points.
    const first = hashKey(key);
    const second = hashKey(key, OTHER_SEED);
    for (let number = 0; number < POINTS_PER_ENDPOINT; number++) {
      ring.positions[at] = mix32(mix32(first ^ number) ^ second);
      ring.owners[at] = owner;
      at++;
    }
  }
  return sortedByPosition(ring);
}

/** The index of the first point at `hash` or after it, going round past the last. */
export function firstPointFrom({ positions }: HashRing, hash: number): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle] ?? 0) >= hash) high = middle;
    else low = middle + 1;
  }
  return low === positions.length ? 0 : low;
}

function emptyRing(points: number): HashRing {
  return { positions: new Uint32Array(points), owners: new Uint32Array(points) };
}

/** A radix sort: owners move with their positions, and 160,000 points take two or three milliseconds. */
function sortedByPosition(unsorted: HashRing): HashRing {
  let from = unsorted;
  let to = emptyRing(unsorted.positions.length);
  for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
    sortByDigit(from, to, shift);
    [from, to] = [to, from];
  }
  return from;
}

/** Moves the points over in the order of one digit; those that have the same keep their order. */
function sortByDigit(from: HashRing, to: HashRing, shift: number): void {
  const { positions, owners } = from;
  const { positions: toPositions, owners: toOwners } = to;
  const places = placesOfDigits(positions, shift);
  for (let at = 0; at < positions.length; at++) {
    const position = positions[at] ?? 0;
    const digit = (position >>> shift) & (DIGITS - 1);
    const place = places[digit] ?? 0;
    places[digit] = place + 1;
    toPositions[place] = position;
    toOwners[place] = owners[at] ?? 0;
  }
}

/** Where the first point with each digit goes. */
function placesOfDigits(positions: Uint32Array, shift: number): Uint32Array {
  const places = new Uint32Array(DIGITS);
  for (let at = 0; at < positions.length; at++) {
    const digit = ((positions[at] ?? 0) >>> shift) & (DIGITS - 1);
    places[digit] = (places[digit] ?? 0) + 1;
  }
  let place = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = places[digit] ?? 0;
    places[digit] = place;
    place += count;
  }
  return places;
}
