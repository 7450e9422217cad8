import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../../../gateway/balancing/make-balancer.ts';
import { bestPlaced } from '../../../../gateway/proxy/explain/explain-endpoints.ts';
import { TestCandidate } from '../../../support/candidates.ts';

const anyCandidate = fc.record({
  weight: fc.integer({ min: 1, max: 10 }),
  inFlight: fc.integer({ min: 0, max: 5 }),
  latencyMs: fc.constantFrom(0, 1, 5, 10),
});

interface Loaded {
  readonly weight: number;
  readonly inFlight: number;
  readonly latencyMs: number;
}

/** What the policies are documented to compare; an unknown latency counts as that of the other. */
function costOf(policy: string, { weight, inFlight, latencyMs }: Loaded, pair: readonly Loaded[]): number {
  if (policy === 'least_request') return inFlight / weight;
  const mean = pair.reduce((sum, each) => sum + each.weight, 0) / pair.length;
  const isKnown = pair.every((each) => each.latencyMs > 0);
  return (isKnown ? latencyMs : 1) * ((inFlight * mean) / weight + 1);
}

describe('who is best placed', () => {
  it.each(['peak_ewma', 'least_request'] as const)('of two by %s is the one that the policy takes', (policy) => {
    fc.assert(
      fc.property(fc.tuple(anyCandidate, anyCandidate), fc.double({ min: 0, max: 0.99 }), (pair, chance) => {
        const list = pair.map((each, at) => ({ ...each, key: `10.0.0.${at}:80`, isEjected: false }));
        const totalWeight = list.reduce((sum, { weight }) => sum + weight, 0);
        const told = bestPlaced({ policy, list, totalWeight })?.key;
        const [one, other] = list.map((each) => costOf(policy, each, list));
        // Where neither is better the draw or the turn decides.
        fc.pre(one !== other);
        const balancer = makeBalancer<TestCandidate>(
          { kind: policy },
          { nextTurn: () => 0, random: () => chance, totalInFlight: () => 0 },
        );
        balancer.update(
          list.map(({ key, weight, inFlight, latencyMs }) => {
            const candidate = new TestCandidate(key, weight);
            candidate.load = inFlight;
            candidate.latency = latencyMs;
            return candidate;
          }),
        );
        expect(balancer.pick([])?.key).toBe(told);
      }),
    );
  });

  it('of several by chance is the heaviest', () => {
    const list = [1, 5, 2].map((weight, at) => ({ key: `${at}`, weight, inFlight: 9, latencyMs: 9, isEjected: false }));
    expect(bestPlaced({ policy: 'random', list, totalWeight: 8 })?.key).toBe('1');
    expect(bestPlaced({ policy: 'random', list: [], totalWeight: 0 })).toBeUndefined();
  });
});
