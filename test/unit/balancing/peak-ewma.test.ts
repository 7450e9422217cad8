import { describe, expect, it } from 'vitest';
import { fadedPeakMs, peakEwma } from '../../../gateway/balancing/peak-average.ts';
import { PeakEwma } from '../../../gateway/balancing/peak-ewma.ts';
import { candidates, countPicks, equalCandidates, seededChance, TestCandidate } from '../../support/candidates.ts';

function balancer(pool: readonly TestCandidate[], seed = 1): PeakEwma<TestCandidate> {
  const peak = new PeakEwma<TestCandidate>(seededChance(seed));
  peak.update(pool);
  return peak;
}

function counts(pool: readonly TestCandidate[], picks: number): number[] {
  const peak = balancer(pool);
  return countPicks(
    pool,
    Array.from({ length: picks }, () => peak.pick([])),
  );
}

function setLatencies(pool: readonly TestCandidate[], ...latencies: readonly number[]): void {
  for (const [at, each] of pool.entries()) each.latency = latencies[at] ?? 0;
}

/** A candidate that has answered: its latency fades with time, as that of an endpoint does. */
class Answering extends TestCandidate {
  readonly answerMs: number;
  readonly #nowMs: () => number;
  #averageMs = 0;
  #seenAtMs = 0;

  constructor(key: string, answerMs: number, nowMs: () => number) {
    super(key);
    this.answerMs = answerMs;
    this.#nowMs = nowMs;
  }

  override latencyMs(): number {
    return fadedPeakMs(this.#averageMs, this.#nowMs() - this.#seenAtMs);
  }

  answered(): void {
    this.#averageMs = peakEwma(this.#averageMs, this.#nowMs() - this.#seenAtMs, this.answerMs);
    this.#seenAtMs = this.#nowMs();
  }
}

describe('peak EWMA', () => {
  it('prefers the faster of two idle endpoints', () => {
    const pool = equalCandidates(2);
    setLatencies(pool, 50, 5);
    expect(counts(pool, 100)).toEqual([0, 100]);
  });

  it('prefers the slower one when the faster has too much to do', () => {
    const pool = equalCandidates(2);
    setLatencies(pool, 50, 5);
    const [, fast] = pool;
    if (fast) fast.load = 8;
    expect(counts(pool, 100)).toEqual([0, 100]);
    if (fast) fast.load = 10;
    expect(counts(pool, 100)).toEqual([100, 0]);
  });

  it('measures what is in flight by the weight', () => {
    const pool = candidates(1, 9);
    setLatencies(pool, 10, 10);
    for (const each of pool) each.load = each.weight === 1 ? 2 : 9;
    expect(counts(pool, 100)).toEqual([0, 100]);
    for (const each of pool) each.load = each.weight === 1 ? 1 : 18;
    expect(counts(pool, 100)).toEqual([100, 0]);
  });

  it('cares for the proportions of the weights, not for their size', () => {
    const picked = [1, 100].map((scale) => {
      const pool = candidates(...[1, 2, 3, 4].map((weight) => weight * scale));
      setLatencies(pool, 10, 11, 12, 13);
      for (const [at, each] of pool.entries()) each.load = 3 - at;
      return counts(pool, 1000);
    });
    expect(picked[1]).toEqual(picked[0]);
  });

  it('gives an endpoint without a latency no more than its share, and no less, while it is idle', () => {
    const pool = equalCandidates(4);
    setLatencies(pool, 5, 5, 5, 0);
    const [, , , fresh = 0] = counts(pool, 10_000);
    expect(Math.abs(fresh - 2500)).toBeLessThan(200);
  });

  it('does not send everything to an endpoint that never answers', () => {
    const pool = equalCandidates(2);
    setLatencies(pool, 5, 0);
    const [known, fresh] = pool;
    const peak = balancer(pool);
    for (let request = 0; request < 1000; request++) {
      const picked = peak.pick([]);
      // The known one answers before the next request, the fresh one holds what it got.
      if (picked === fresh && fresh) fresh.load++;
    }
    expect(known?.load).toBe(0);
    expect(fresh?.load).toBe(1);
  });

  it('shares by weight and load while nothing is known of anybody', () => {
    const pool = candidates(3, 1);
    const peak = balancer(pool);
    for (let request = 0; request < 400; request++) {
      const picked = peak.pick([]);
      if (picked) picked.load++;
    }
    expect(Math.abs((pool[0]?.load ?? 0) - 300)).toBeLessThan(10);
  });

  it('never takes the worst of a large pool, and the best more often than anybody', () => {
    const pool = equalCandidates(50);
    setLatencies(pool, ...pool.map((_, at) => 1 + at));
    const picked = counts(pool, 20_000);
    expect(picked.at(-1)).toBe(0);
    expect(Math.max(...picked)).toBeLessThan(20_000 / 10);
    expect(picked.indexOf(Math.max(...picked))).toBeLessThan(5);
  });

  it('tries a slow endpoint again after its latency has faded, but seldom', () => {
    let nowMs = 0;
    const pool = [5, 100].map((answerMs) => new Answering(`10.0.0.${answerMs}:80`, answerMs, () => nowMs));
    const peak = new PeakEwma<Answering>(seededChance(3));
    peak.update(pool);
    const picked: (Answering | undefined)[] = [];
    for (; nowMs < 300_000; nowMs += 20) {
      const each = peak.pick([]);
      each?.answered();
      picked.push(each);
    }
    const [, slow = 0] = countPicks(pool, picked);
    // It fades from 100 ms to 5 ms in 30 seconds.
    expect(slow).toBeGreaterThanOrEqual(5);
    expect(slow).toBeLessThanOrEqual(30);
  });
});
