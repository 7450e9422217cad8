import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashKey, mix32 } from '../../../gateway/balancing/key-hash.ts';

/** MurmurHash3 x86 32 of octets, as its author wrote it. */
function murmur3(octets: Buffer, seed: number): number {
  const rotate = (bits: number, by: number) => (bits << by) | (bits >>> (32 - by));
  const scramble = (block: number) => Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
  const tailAt = octets.length - (octets.length % 4);
  let hash = seed;
  for (let at = 0; at < tailAt; at += 4) {
    hash = (Math.imul(rotate(hash ^ scramble(octets.readInt32LE(at)), 13), 5) + 0xe6546b64) | 0;
  }
  if (tailAt < octets.length) hash ^= scramble(octets.readUIntLE(tailAt, octets.length - tailAt));
  hash ^= octets.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

describe('the hash of a key', () => {
  it.each([
    ['', 0, 0],
    ['', 1, 0x514e28b7],
    ['', 0xffffffff, 0x81f16f39],
    ['test', 0, 0xba6bd213],
    ['test', 0x9747b28c, 0x704b81dc],
  ])('is MurmurHash3 of the code units: octets %j, seed %i', (octets, seed, expected) => {
    expect(hashKey(Buffer.from(octets).toString('utf16le'), seed)).toBe(expected);
  });

  it('is MurmurHash3 of any text, also of halves of surrogate pairs', () => {
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 });
    fc.assert(
      fc.property(units, fc.integer({ min: 0, max: 2 ** 32 - 1 }), (codes, seed) => {
        const text = String.fromCharCode(...codes);
        expect(hashKey(text, seed)).toBe(murmur3(Buffer.from(text, 'utf16le'), seed));
      }),
    );
  });

  it('tells texts of any length apart (case 127)', () => {
    const texts = ['', ' ', '\0', '\0\0', 'a', 'aa', 'ключ', '鍵', '🔑', 'x'.repeat(8192), `${'x'.repeat(8191)}y`];
    expect(new Set(texts.map((text) => hashKey(text))).size).toBe(texts.length);
  });

  it('changes every bit with a chance near one half when one bit of the key changes', () => {
    const flips = new Float64Array(32);
    let trials = 0;
    for (let user = 0; user < 400; user++) {
      const key = `user-${user}`;
      for (let at = 0; at < key.length; at++) {
        const flipped = String.fromCharCode(key.charCodeAt(at) ^ (1 << (user % 7)));
        const other = `${key.slice(0, at)}${flipped}${key.slice(at + 1)}`;
        const changed = hashKey(key) ^ hashKey(other);
        for (let bit = 0; bit < 32; bit++) flips[bit] = (flips[bit] ?? 0) + ((changed >>> bit) & 1);
        trials++;
      }
    }
    for (const count of flips) expect(Math.abs(count / trials - 0.5)).toBeLessThan(0.06);
  });
});

describe('the mixing of 32 bits', () => {
  it('keeps different numbers different', () => {
    fc.assert(fc.property(fc.integer(), fc.integer(), (a, b) => (mix32(a) === mix32(b)) === (a === b)));
    expect(new Set(Array.from({ length: 100_000 }, (_, at) => mix32(at))).size).toBe(100_000);
  });

  it('spreads numbers in a row over the whole range', () => {
    const counts = new Float64Array(64);
    for (let at = 0; at < 64_000; at++) {
      const bucket = mix32(at) >>> 26;
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});
