// Weights laid end to end, so that a place on their total length belongs to the endpoint that it falls on.

/** Where the length of each weight ends; the last end is the total. */
export function weightEnds(weights: readonly number[]): Float64Array {
  const ends = new Float64Array(weights.length);
  let end = 0;
  for (let at = 0; at < weights.length; at++) {
    end += weights[at] ?? 0;
    ends[at] = end;
  }
  return ends;
}

/** The first position whose end lies after `place`; the last one when none does. */
export function firstEndAfter(ends: Float64Array, place: number): number {
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] ?? 0) > place) high = middle;
    else low = middle + 1;
  }
  return low;
}
