import { describe, expect, it } from 'vitest';
import { WeightedRoundRobin } from '../../../gateway/balancing/weighted-round-robin.ts';

const A = { name: 'A', weight: 5 };
const B = { name: 'B', weight: 1 };
const C = { name: 'C', weight: 1 };

function balancer() {
  let turn = 0;
  return new WeightedRoundRobin<typeof A>(() => turn++);
}

function picks(from: WeightedRoundRobin<typeof A>, count: number): string {
  return Array.from({ length: count }, () => from.pick([])?.name).join(' ');
}

describe('weighted round robin', () => {
  it('has nobody to pick before it was told of anybody', () => {
    expect(balancer().pick([])).toBeUndefined();
  });

  it('has nobody to pick when everybody was taken away', () => {
    const wrr = balancer();
    wrr.update([A, B]);
    wrr.update([]);
    expect(wrr.pick([])).toBeUndefined();
  });

  it('goes on where it was when an update changes nothing (case 103)', () => {
    const steady = balancer();
    steady.update([A, B]);
    const expected = picks(steady, 60);
    const updated = balancer();
    let seen = '';
    for (let at = 0; at < 60; at++) {
      updated.update([A, B]);
      seen += `${at === 0 ? '' : ' '}${updated.pick([])?.name}`;
    }
    expect(seen).toBe(expected);
  });

  it('never picks an endpoint that was tried, down to the last', () => {
    const wrr = balancer();
    wrr.update([A, B, C]);
    for (let round = 0; round < 50; round++) {
      const first = wrr.pick([]);
      const second = wrr.pick(first === undefined ? [] : [first]);
      const tried = [first, second].filter((each) => each !== undefined);
      const third = wrr.pick(tried);
      expect(new Set([first, second, third]).size).toBe(3);
      expect(wrr.pick([A, B, C])).toBeUndefined();
    }
  });

  it('finds the light one when the heavy one was tried', () => {
    const wrr = balancer();
    const heavy = { name: 'heavy', weight: 1000 };
    wrr.update([heavy, B]);
    for (let round = 0; round < 20; round++) expect(wrr.pick([heavy])).toBe(B);
  });

  it('spreads what the heavy one leaves over the light ones (case 117)', () => {
    const heavy = { name: 'heavy', weight: 1000 };
    const wrr = balancer();
    wrr.update([heavy, B, C]);
    const seconds = Array.from({ length: 200 }, () => {
      wrr.pick([]);
      return wrr.pick([heavy]);
    });
    const count = seconds.filter((each) => each === B).length;
    expect(Math.abs(count - 100)).toBeLessThan(20);
  });

  it('gives nobody when all were tried, more than once', () => {
    const wrr = balancer();
    wrr.update([A, B]);
    expect([wrr.pick([A, B]), wrr.pick([A, B])]).toEqual([undefined, undefined]);
  });
});
