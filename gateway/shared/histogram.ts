// A latency histogram inside a lane of a cell: fixed buckets, a sum and a count.
import type { Cell } from './cell.ts';

/** Upper bounds of the buckets in seconds, as Prometheus wants them; a last bucket takes the rest. */
export const BUCKET_BOUNDS_SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** How many numbers of a lane a histogram takes: its buckets, the rest and the sum of the seconds. */
export const HISTOGRAM_NUMBERS = BUCKET_BOUNDS_SECONDS.length + 2;

const REST = BUCKET_BOUNDS_SECONDS.length;
const SUM = REST + 1;

/** Counts one duration in the histogram that begins at `field` of the own lane. */
export function observe(cell: Cell, field: number, seconds: number): void {
  let bucket = 0;
  while (bucket < REST && seconds > (BUCKET_BOUNDS_SECONDS[bucket] ?? 0)) bucket++;
  cell.add(field + bucket, 1);
  cell.add(field + SUM, seconds);
}

export interface HistogramTotals {
  /** Cumulative counts, one for each bound; the last entry is the count of all. */
  readonly cumulative: readonly number[];
  readonly count: number;
  readonly sumSeconds: number;
}

/** The histogram that begins at `field`, summed over all lanes. */
export function histogramTotals(cell: Cell, field: number): HistogramTotals {
  const cumulative: number[] = [];
  let count = 0;
  for (let bucket = 0; bucket <= REST; bucket++) {
    count += cell.sum(field + bucket);
    cumulative.push(count);
  }
  return { cumulative, count, sumSeconds: cell.sum(field + SUM) };
}
