// How often a service may be asked about.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPace } from '../../../gateway/discovery/pace.ts';

it('lets questions through on credit and then one for each price paid', () => {
  const pace = createPace(500);
  const waitsMs = Array.from({ length: 5 }, () => {
    const waitMs = pace.waitMs(0);
    pace.pay(250, 0);
    return waitMs;
  });
  expect(waitsMs).toEqual([0, 0, 0, 250, 500]);
});

it('gives the whole credit again after a quiet time, and no more than that', () => {
  const pace = createPace(250);
  for (let question = 0; question < 10; question++) pace.pay(250, 0);
  const waitsMs = Array.from({ length: 4 }, () => {
    const waitMs = pace.waitMs(100_000);
    pace.pay(250, 100_000);
    return waitMs;
  });
  expect(waitsMs).toEqual([0, 0, 250, 500]);
});

it('never lets more through than the credit and one for each price, whenever it is asked (case 64)', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 80 }), (gapsMs) => {
      const pace = createPace(1000);
      let nowMs = 0;
      const askedAtMs = gapsMs.map((gapMs) => {
        nowMs += gapMs;
        nowMs += pace.waitMs(nowMs);
        pace.pay(250, nowMs);
        return nowMs;
      });
      for (const [first, fromMs] of askedAtMs.entries()) {
        const inOneSecond = askedAtMs.slice(first).filter((atMs) => atMs < fromMs + 1000).length;
        expect(inOneSecond).toBeLessThanOrEqual(8);
      }
    }),
  );
});
