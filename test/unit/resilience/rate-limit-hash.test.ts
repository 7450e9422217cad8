import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyHash } from '../../../gateway/resilience/rate-limit-hash.ts';

function hashOf(text: string, seed: readonly [number, number] = [1, 2], salt: readonly [number, number] = [0, 0]) {
  const hash = new KeyHash(...seed);
  hash.of(text, ...salt);
  return [hash.high >>> 0, hash.low >>> 0];
}

describe('the hash of a key', () => {
  it('is HalfSipHash: the written-out form gives the published octets and the same result', () => {
    expect(halfSipHash([0], [0x0706_0504, 0x0302_0100], [2, 4])).toEqual([0xc83c_b8b9, 0x591f_8d21]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer(), fc.integer(), (text, high, low) => {
        expect(hashOf(text, [high, low])).toEqual(halfSipHash(wordsOf(text), [high, low], [1, 3]));
      }),
    );
  });

  it('is another under another seed, another salt, and for text that only ends otherwise', () => {
    const hashes = [
      hashOf('198.51.100.7'),
      hashOf('198.51.100.7', [1, 3]),
      hashOf('198.51.100.7', [2, 2]),
      hashOf('198.51.100.7', [1, 2], [0, 4]),
      hashOf('198.51.100.7', [1, 2], [4, 0]),
      hashOf('198.51.100.7\0'),
      hashOf('198.51.100.'),
      hashOf(''),
    ];
    expect(new Set(hashes.map(String)).size).toBe(hashes.length);
    expect(new Set(hashes.map(([high]) => high)).size).toBe(hashes.length);
  });

  it('spreads neighbours evenly, by either word', () => {
    for (const word of [0, 1]) {
      const counts = new Array<number>(64).fill(0);
      for (let at = 0; at < 64_000; at++) {
        const bin = Math.floor((hashOf(`10.0.${at >>> 8}.${at & 255}`)[word] ?? 0) / 2 ** 26);
        counts[bin] = (counts[bin] ?? 0) + 1;
      }
      expect(Math.min(...counts)).toBeGreaterThan(850);
      expect(Math.max(...counts)).toBeLessThan(1150);
    }
  });
});

/** Two code units a word; the last word has the length above and an odd unit below. */
function wordsOf(text: string): number[] {
  const words: number[] = [];
  for (let at = 0; at + 1 < text.length; at += 2) words.push(text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16));
  words.push((text.length << 16) | (text.length % 2 === 1 ? text.charCodeAt(text.length - 1) : 0));
  return words;
}

/** HalfSipHash-c-d with 64 bits of result, the last word being given. */
function halfSipHash(words: number[], [high, low]: readonly [number, number], [c, d]: readonly [number, number]) {
  let v = [low, high ^ 0xee, low ^ 0x6c79_6765, high ^ 0x7465_6462];
  for (const word of words) {
    v = v.with(3, (v[3] ?? 0) ^ word);
    for (let round = 0; round < c; round++) v = sipRound(v);
    v = v.with(0, (v[0] ?? 0) ^ word);
  }
  v = v.with(2, (v[2] ?? 0) ^ 0xee);
  for (let round = 0; round < d; round++) v = sipRound(v);
  const first = (v[1] ?? 0) ^ (v[3] ?? 0);
  v = v.with(1, (v[1] ?? 0) ^ 0xdd);
  for (let round = 0; round < d; round++) v = sipRound(v);
  return [((v[1] ?? 0) ^ (v[3] ?? 0)) >>> 0, first >>> 0];
}

function sipRound([v0 = 0, v1 = 0, v2 = 0, v3 = 0]: number[]): number[] {
  const a0 = v0 + v1;
  const a1 = rotate(v1, 5) ^ a0;
  const b2 = v2 + v3;
  const b3 = rotate(v3, 8) ^ b2;
  const c0 = rotate(a0, 16) + b3;
  const c2 = b2 + a1;
  return [c0 | 0, rotate(a1, 13) ^ c2, rotate(c2, 16), rotate(b3, 7) ^ c0];
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
