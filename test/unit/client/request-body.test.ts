import { Readable } from 'node:stream';
import fc from 'fast-check';
import { FormData } from 'undici';
import { describe, expect, it } from 'vitest';
import { RequestBody } from '../../../gateway/client/request-body.ts';

const KEEP_BYTES = 100;

async function* pieces(...given: (string | Uint8Array)[]) {
  yield* given;
}

/** Reads like an attempt: `count` pieces, or all. */
async function read(body: RequestBody, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  const attempt: unknown = body.next();
  const seen: string[] = [];
  if (!isIterable(attempt)) throw new Error('the body does not come piece by piece');
  const iterator = attempt[Symbol.asyncIterator]();
  while (seen.length < count) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    seen.push(Buffer.from(value).toString());
  }
  return seen;
}

function isIterable(value: unknown): value is AsyncIterable<string | Uint8Array> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

describe('a body that is at hand', () => {
  it.each([
    ['text', 'hello'],
    ['octets', Buffer.from('hello')],
    ['an ArrayBuffer', new ArrayBuffer(5)],
    ['a Blob', new Blob(['hello'])],
    ['a form', new FormData()],
  ])('is given as it is, as often as wanted: %s', (_what, given) => {
    const body = new RequestBody(given, KEEP_BYTES);
    expect(body.next()).toBe(given);
    expect(body.next()).toBe(given);
    expect([body.isReplayable(), body.isComplete]).toEqual([true, true]);
  });

  it.each([null, undefined])('may be none: %s', (given) => {
    const body = new RequestBody(given, KEEP_BYTES);
    expect([body.next(), body.isReplayable(), body.isComplete]).toEqual([null, true, true]);
  });
});

describe('a body that comes piece by piece', () => {
  it('is whole for every attempt, wherever the one before broke off', async () => {
    const words = fc.array(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(words, fc.array(fc.nat(10), { maxLength: 4 }), async (given, breaks) => {
        const body = new RequestBody(pieces(...given), 1000);
        for (const at of breaks) expect(await read(body, at)).toEqual(given.slice(0, at));
        expect(body.isReplayable()).toBe(true);
        expect((await read(body)).join('')).toBe(given.join(''));
        expect(body.isComplete).toBe(true);
      }),
    );
  });

  it.each([
    ['a generator', () => pieces('a', 'b')],
    ['a list', () => ['a', Buffer.from('b')]],
    ['a stream', () => Readable.from(['a', 'b'])],
    ['a stream of the web', () => new Blob(['ab']).stream()],
  ])('may be %s', async (_what, given) => {
    expect((await read(new RequestBody(given(), KEEP_BYTES))).join('')).toBe('ab');
  });

  it('is lost for another attempt beyond the size to keep, but not before it is given', async () => {
    const body = new RequestBody(pieces('a'.repeat(60), 'b'.repeat(60), 'c'), KEEP_BYTES);
    await read(body, 1);
    expect(body.isReplayable()).toBe(true);
    await read(body, 1);
    expect(body.isReplayable()).toBe(true);
    expect(await read(body)).toHaveLength(3);
    expect(body.isReplayable()).toBe(false);
  });

  it('is replayable until its first piece is given, where nothing is kept', async () => {
    const body = new RequestBody(pieces('a', 'b'), 0);
    body.next();
    expect(body.isReplayable()).toBe(true);
    await read(body, 1);
    expect(body.isReplayable()).toBe(false);
  });

  it('loses no piece that the attempt before was waiting for', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    async function* late() {
      yield 'a';
      await promise;
      yield 'b';
    }
    const body = new RequestBody(late(), KEEP_BYTES);
    const first = read(body);
    const failed = expect(first).rejects.toMatchObject({ code: 'UND_ERR_ABORTED' });
    await Promise.resolve();
    const second = read(body);
    resolve();
    await failed;
    expect(await second).toEqual(['a', 'b']);
  });

  it('tells its own error from that of an attempt', async () => {
    const error = new Error('the file is gone');
    const broken = new Readable({ read: () => undefined });
    const body = new RequestBody(broken, KEEP_BYTES);
    broken.destroy(error);
    await expect(read(body)).rejects.toBe(error);
    expect([body.isBrokenBy(error), body.isBrokenBy(new Error('another'))]).toEqual([true, false]);
    await expect(read(body)).rejects.toBe(error);
  });

  it('is broken by what is neither text nor octets', async () => {
    const given: unknown = [7];
    const body = new RequestBody(given, KEEP_BYTES);
    await expect(read(body)).rejects.toMatchObject({ code: 'UND_ERR_INVALID_ARG' });
  });

  it('closes its source when nobody needs the rest', async () => {
    const closed: string[] = [];
    async function* source() {
      try {
        yield 'a';
        yield 'b';
      } finally {
        closed.push('generator');
      }
    }
    const generated = new RequestBody(source(), KEEP_BYTES);
    await read(generated, 1);
    generated.close();
    const stream = Readable.from(['a', 'b']);
    new RequestBody(stream, KEEP_BYTES).close();
    await Promise.resolve();
    expect([closed, stream.destroyed]).toEqual([['generator'], true]);
  });

  it('keeps nothing any more once no other attempt follows', async () => {
    const body = new RequestBody(pieces('a', 'b', 'c'), KEEP_BYTES);
    await read(body, 2);
    body.settle();
    expect(body.isReplayable()).toBe(false);
  });
});
