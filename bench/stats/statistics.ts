// Medians, spreads, ratios and the order of the rounds of a measurement.

/** The middle value, the mean of the middle two of an even number; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Half of the distance from the least to the most, in percent of the median; 0 of fewer than two values. */
export function spreadPercent(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = median(values);
  return middle === 0 ? 0 : ((Math.max(...values) - Math.min(...values)) / 2 / Math.abs(middle)) * 100;
}

/** The median of the ratios of values that were measured in the same round; NaN where no round has both. */
export function medianRatio(values: readonly number[], to: readonly number[]): number {
  return median(values.slice(0, to.length).map((value, round) => value / (to[round] ?? Number.NaN)));
}

/**
 * The same in an order drawn by lot. In a fixed order a gateway is always measured after the same other one, and what that
 * still has to do (collectors that go on when the load is over) runs on the core of both.
 */
export function inAnyOrder<T>(list: readonly T[]): T[] {
  const lots = list.map((value) => ({ value, lot: Math.random() }));
  return lots.sort((one, other) => one.lot - other.lot).map(({ value }) => value);
}
