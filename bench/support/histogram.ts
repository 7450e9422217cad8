// A latency histogram that can be kept: hdr-histogram-js, of microseconds.
import { call, functionOf, importBenchOnly } from './bench-only.ts';

/** The longest that is told apart: a minute. */
const HIGHEST_MICROSECONDS = 60_000_000;

export interface Histogram {
  record(microseconds: number): void;
  /** Microseconds at a percentile, 0..100. */
  at(percentile: number): number;
  /** The whole of it, in HdrHistogram's own compressed form (V2, base64). */
  encoded(): string;
}

/** An empty histogram of three significant digits; an error where the package is not installed. */
export async function createHistogram(): Promise<Histogram> {
  const library = await importBenchOnly('hdr-histogram-js');
  const settings = { highestTrackableValue: HIGHEST_MICROSECONDS, numberOfSignificantValueDigits: 3 };
  const inner = functionOf(library, 'build')({ ...settings, lowestDiscernibleValue: 1, bitBucketSize: 64 });
  const encode = functionOf(library, 'encodeIntoCompressedBase64');
  return {
    record: (microseconds) => {
      call(inner, 'recordValue', Math.min(HIGHEST_MICROSECONDS, Math.max(1, Math.round(microseconds))));
    },
    at: (percentile) => Number(call(inner, 'getValueAtPercentile', percentile)),
    encoded: () => String(encode(inner)),
  };
}
