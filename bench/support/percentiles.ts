// Percentiles of a list of measured times, as a line for people.

/** `p50 12.3 ms, p99 45.6 ms, most 50.1 ms`. */
export function percentiles(valuesMs: readonly number[]): string {
  const sorted = valuesMs.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`;
}
