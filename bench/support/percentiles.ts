// Percentiles of a list of measured times, also as a line for people.

/** `p50 12.3 ms, p99 45.6 ms, most 50.1 ms`. */
export function percentiles(valuesMs: readonly number[]): string {
  const sorted = valuesMs.toSorted((a, b) => a - b);
  const at = (share: number): string => valueAtShare(sorted, share).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`;
}

/** The least value that this share (0..1) of them does not exceed; `sorted` ascends, and gives 0 where it is empty. */
export function valueAtShare(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
