import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../../gateway/balancing/make-balancer.ts';
import { equalCandidates, type TestCandidate, testSources } from '../../support/candidates.ts';

function loadsOfOneKey(boundedLoad: number | undefined): number[] {
  const pool = equalCandidates(4);
  const policy = { kind: 'consistent_hash', ...(boundedLoad === undefined ? {} : { boundedLoad }) } as const;
  const balancer = makeBalancer<TestCandidate>(policy, testSources(1, pool));
  balancer.update(pool);
  for (let request = 0; request < 80; request++) {
    const picked = balancer.pick([], 4711);
    if (picked) picked.load++;
  }
  return pool.map(({ load }) => load).sort((one, other) => other - one);
}

describe('the balancer of a route', () => {
  it('bounds the load of consistent hashing to 1.25 unless told otherwise', () => {
    expect(loadsOfOneKey(undefined)[0]).toBe(25);
    expect(loadsOfOneKey(1)[0]).toBe(20);
    expect(loadsOfOneKey(2)[0]).toBe(40);
    expect(loadsOfOneKey(Number.POSITIVE_INFINITY)).toEqual([80, 0, 0, 0]);
  });
});
