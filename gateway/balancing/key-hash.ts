// Turns text into evenly spread 32-bit numbers: the key of a request, the key of an endpoint.

/**
 * The uint32 hash of a text: MurmurHash3 x86 32 (A. Appleby) of its UTF-16 code units in little-endian order. The same
 * in every worker and process. Not for secrets: who knows the seed can choose texts that collide.
 */
export function hashKey(text: string, seed = 0): number {
  const pairsEnd = text.length & ~1;
  let hash = seed | 0;
  for (let at = 0; at < pairsEnd; at += 2) {
    hash ^= scramble(text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  if (pairsEnd < text.length) hash ^= scramble(text.charCodeAt(pairsEnd));
  return mix32(hash ^ (text.length * 2));
}

/** Spreads every bit of a 32-bit number over all bits of a uint32, one to one (MurmurHash3's finaliser). */
export function mix32(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
