// Endpoints for balancing policies: load and latency are what a test says.
import type { BalanceSources } from '../../gateway/balancing/make-balancer.ts';
import { createSeededRandom } from './seeded-random.ts';

export class TestCandidate {
  readonly key: string;
  weight: number;
  load = 0;
  latency = 0;

  constructor(key: string, weight = 1) {
    this.key = key;
    this.weight = weight;
  }

  inFlight(): number {
    return this.load;
  }

  latencyMs(): number {
    return this.latency;
  }
}

/** One candidate for each weight, `10.0.0.1:8080` first. */
export function candidates(...weights: readonly number[]): TestCandidate[] {
  return weights.map((weight, at) => new TestCandidate(`10.0.${at >> 8}.${(at & 255) + 1}:8080`, weight));
}

export function equalCandidates(count: number): TestCandidate[] {
  return candidates(...Array.from({ length: count }, () => 1));
}

/** Numbers in [0, 1) that can be had again. */
export function seededChance(seed: number): () => number {
  const random = createSeededRandom(seed);
  return () => random.below(2 ** 32) / 2 ** 32;
}

/** A hash for each call, spread over all of uint32. */
export function seededHashes(seed: number): () => number {
  const random = createSeededRandom(seed);
  return () => random.below(2 ** 32);
}

/** The sources of one pool whose load is that of `pool`. */
export function testSources(seed: number, pool: readonly TestCandidate[] = []): BalanceSources {
  let turn = 0;
  return { nextTurn: () => turn++, random: seededChance(seed), totalInFlight: () => totalLoad(pool) };
}

export function totalLoad(pool: readonly TestCandidate[]): number {
  return pool.reduce((sum, { load }) => sum + load, 0);
}

/** How often each of `pool` is among `picked`. */
export function countPicks(pool: readonly TestCandidate[], picked: readonly (TestCandidate | undefined)[]): number[] {
  const counts = new Map<TestCandidate | undefined, number>();
  for (const each of picked) counts.set(each, (counts.get(each) ?? 0) + 1);
  return pool.map((each) => counts.get(each) ?? 0);
}
