// How often a client may do what costs more than it pays.
import { describe, expect, it } from 'vitest';
import { Allowance } from '../../../../gateway/proxy/http2/allowance.ts';

describe('an allowance', () => {
  it('has a burst, then a rate', () => {
    const time = { nowMs: 0 };
    const allowance = new Allowance(time);
    const taken = () => {
      let count = 0;
      while (allowance.take()) count++;
      return count;
    };
    expect(taken()).toBe(200);
    time.nowMs = 10_000;
    expect(taken()).toBeGreaterThanOrEqual(198);
    time.nowMs = 1_000_000;
    expect(taken()).toBe(200);
  });
});
