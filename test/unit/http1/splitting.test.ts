// However a stream of octets is cut into pieces, it is read the same.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeadLimits } from '../../../gateway/http1/head-limits.ts';
import { randomChunks, randomRequests, randomResponse } from '../../support/http-messages.ts';
import { cutAt, mutate } from '../../support/http-mutations.ts';
import { type Reading, readRequests, readResponse } from '../../support/http-reading.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';
import { decode } from './parsing.ts';

/** So small that many of the random messages reach them. */
const TIGHT: HeadLimits = { firstLineBytes: 40, fieldsBytes: 120, fieldCount: 6 };

const seeds = fc.integer();
/** Cuts as parts of the whole length. */
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

function places(text: string, parts: readonly number[]): number[] {
  return parts.map((part) => Math.round(part * text.length));
}

function everyOctet(text: string): Buffer[] {
  const octets = Buffer.from(text, 'latin1');
  return cutAt(octets, [...octets.keys()]);
}

/** What must be the same for every cut: which rule is named first is not. */
function verdict({ messages, refusal, stop }: Reading) {
  return { messages, isRefused: refusal !== null, stop };
}

function chunksOf(seed: number, isSpoilt: boolean): string {
  const random = createSeededRandom(seed);
  const chunks = randomChunks(random);
  return isSpoilt ? mutate(chunks, random) : chunks;
}

function decodedAll(pieces: readonly Buffer[]) {
  const { violation, rest, ...decoded } = decode(...pieces);
  // What is left of a refused message is not told apart from what was not read.
  return { ...decoded, isRefused: violation !== null, rest: violation === null ? rest : 0 };
}

describe('chunks, however they are cut', () => {
  it.each([
    ['valid', false],
    ['spoilt', true],
  ])('give the same content, trailers and end when they are %s', (_, isSpoilt) => {
    const property = fc.property(seeds, cuts, (seed, parts) => {
      const text = chunksOf(seed, isSpoilt);
      const whole = decodedAll([Buffer.from(text, 'latin1')]);
      expect(decodedAll(cutAt(Buffer.from(text, 'latin1'), places(text, parts)))).toEqual(whole);
      expect(decodedAll(everyOctet(text))).toEqual(whole);
    });
    fc.assert(property, { numRuns: 400 });
  });

  it('are done and hold no fault when they are valid', () => {
    const property = fc.property(seeds, (seed) => {
      expect(decode(chunksOf(seed, false))).toMatchObject({ isDone: true, violation: null, rest: 0 });
    });
    fc.assert(property, { numRuns: 300 });
  });
});

describe('requests, however they are cut', () => {
  it.each([
    ['valid', false],
    ['spoilt', true],
  ])('are the same when they are %s, and so are their ends', (_, isSpoilt) => {
    const property = fc.property(seeds, cuts, fc.boolean(), (seed, parts, isTight) => {
      const random = createSeededRandom(seed);
      const valid = randomRequests(random);
      const text = isSpoilt ? mutate(valid, random) : valid;
      const limits = isTight ? TIGHT : undefined;
      const whole = verdict(readRequests([Buffer.from(text, 'latin1')], limits));
      expect(verdict(readRequests(cutAt(Buffer.from(text, 'latin1'), places(text, parts)), limits))).toEqual(whole);
      expect(verdict(readRequests(everyOctet(text), limits))).toEqual(whole);
    });
    fc.assert(property, { numRuns: 400 });
  });

  it('are all accepted when they are valid', () => {
    const property = fc.property(seeds, (seed) => {
      const reading = readRequests([Buffer.from(randomRequests(createSeededRandom(seed)), 'latin1')]);
      expect(reading.refusal).toBeNull();
      if (reading.stop !== 'connect') expect(reading.messages.every(({ isComplete }) => isComplete)).toBe(true);
    });
    fc.assert(property, { numRuns: 300 });
  });
});

describe('a response, however it is cut', () => {
  it('is the same, and so is its end', () => {
    const property = fc.property(seeds, cuts, fc.boolean(), fc.boolean(), (seed, parts, isSpoilt, isTight) => {
      const random = createSeededRandom(seed);
      const { method, stream } = randomResponse(random);
      const text = isSpoilt ? mutate(stream, random) : stream;
      const limits = isTight ? TIGHT : undefined;
      const octets = Buffer.from(text, 'latin1');
      const whole = verdict(readResponse([octets], method, limits));
      expect(verdict(readResponse(cutAt(octets, places(text, parts)), method, limits))).toEqual(whole);
      expect(verdict(readResponse(everyOctet(text), method, limits))).toEqual(whole);
    });
    fc.assert(property, { numRuns: 400 });
  });
});

describe('a head that is refused before it is whole', () => {
  it('would have been refused whole, whatever follows', () => {
    const property = fc.property(seeds, seeds, (seed, other) => {
      const random = createSeededRandom(seed);
      const text = mutate(randomRequests(random), random);
      const cutOff = text.slice(0, random.below(text.length + 1));
      const early = readRequests([Buffer.from(cutOff, 'latin1')], TIGHT);
      const rest = `${randomRequests(createSeededRandom(other))}\r\n\r\n`;
      const late = readRequests([Buffer.from(cutOff + rest, 'latin1')], TIGHT);
      if (early.refusal === null) return;
      expect(late.refusal).not.toBeNull();
      expect(late.messages).toEqual(early.messages);
    });
    fc.assert(property, { numRuns: 1000 });
  });
});
