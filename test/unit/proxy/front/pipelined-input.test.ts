import { describe, expect, it } from 'vitest';
import { PipelinedInput } from '../../../../gateway/proxy/front/pipelined-input.ts';

describe('what a client has sent ahead of its turn', () => {
  it('is a copy, for what it came in is read into again', () => {
    const input = new PipelinedInput();
    const memory = Buffer.from('one two');
    input.keep(memory.subarray(0, 4));
    input.keep(memory.subarray(4));
    memory.fill('x');
    expect(input.take().toString()).toBe('one two');
    expect(input.isEmpty).toBe(true);
  });

  it('is not copied again for each request that is read from it', () => {
    const input = new PipelinedInput();
    input.keep(Buffer.alloc(20_000, 'a'));
    let given: Buffer | undefined;
    input.give((octets) => {
      given = octets;
      input.keep(octets.subarray(100));
    });
    const left = input.take();
    expect([left.length, left.buffer === given?.buffer]).toEqual([19_900, true]);
  });

  it('is copied after that where it comes from elsewhere', () => {
    const input = new PipelinedInput();
    const memory = Buffer.alloc(20_000, 'a');
    input.keep(memory);
    input.give(() => undefined);
    input.keep(memory);
    memory.fill('x');
    expect(input.take().includes('x')).toBe(false);
  });

  it('is bounded', () => {
    const input = new PipelinedInput();
    expect([input.keep(Buffer.alloc(65_536)), input.keep(Buffer.alloc(1))]).toEqual([true, false]);
  });
});
