import { describe, expect, it } from 'vitest';
import { ReadBuffer } from '../../../../gateway/proxy/socket/read-buffer.ts';

/** Reads so many octets; gives the memory and the piece. */
function read(buffer: ReadBuffer, length: (room: number) => number = (room) => room) {
  const memory = buffer.next();
  return { memory, piece: buffer.piece(length(memory.length), memory) };
}

function sizesOf(buffer: ReadBuffer, reads: number): number[] {
  return Array.from({ length: reads }, () => read(buffer).memory.length);
}

describe('the memory that a socket reads into', () => {
  it('grows while reads fill it, and stays as it is while they do not', () => {
    const buffer = new ReadBuffer();
    expect(sizesOf(buffer, 4)).toEqual([8192, 65_536, 262_144, 262_144]);
    const one = read(buffer, () => 100).memory;
    expect(read(buffer).memory).toBe(one);
  });

  it('is the same again where nothing of it is needed any more', () => {
    const buffer = new ReadBuffer();
    const small = read(buffer).memory;
    buffer.shrink();
    expect(read(buffer).memory).toBe(small);
  });

  it('is another one after a view of it is kept, and no larger than at the first growth', () => {
    const buffer = new ReadBuffer();
    sizesOf(buffer, 2);
    const kept = read(buffer);
    buffer.keep(kept.piece);
    const next = buffer.next();
    expect(next).not.toBe(kept.memory);
    expect(next.length).toBe(65_536);
  });

  it('goes from one socket to the next, but never what is kept', () => {
    const one = new ReadBuffer();
    sizesOf(one, 2);
    const passed = read(one, () => 65_536).memory;
    one.shrink();
    one.next();
    const other = new ReadBuffer();
    sizesOf(other, 2);
    const taken = read(other);
    expect(taken.memory).toBe(passed);
    other.keep(taken.piece);
    other.shrink();
    other.next();
    const third = new ReadBuffer();
    sizesOf(third, 2);
    expect(third.next()).not.toBe(passed);
  });

  it('stays with a socket that expects little until that asks for the next', () => {
    const one = new ReadBuffer();
    sizesOf(one, 2);
    const { memory } = read(one, () => 100);
    one.shrink();
    const other = new ReadBuffer();
    sizesOf(other, 2);
    expect(other.next()).not.toBe(memory);
  });

  it('is not two at a time where two sockets read', () => {
    const buffers = Array.from({ length: 20 }, () => new ReadBuffer());
    for (const buffer of buffers) sizesOf(buffer, 2);
    expect(new Set(buffers.map((buffer) => buffer.next())).size).toBe(20);
  });

  it('may be read into again where the view was small, for those are copied', () => {
    const buffer = new ReadBuffer();
    sizesOf(buffer, 2);
    const memory = buffer.next();
    buffer.keep(buffer.piece(16_384, memory));
    expect(buffer.next()).toBe(memory);
  });
});
