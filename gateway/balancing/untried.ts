// What is left of a pool when a request has tried some of it: found by walking, for picks that draws do not settle.
import type { Weighted } from './balancer.ts';

/** The sum of the weights that are not among `tried`; 0 when nothing is left. */
export function untriedWeight<E extends Weighted>(usable: readonly E[], tried: readonly E[]): number {
  let sum = 0;
  for (const endpoint of usable) if (!tried.includes(endpoint)) sum += endpoint.weight;
  return sum;
}

/** The endpoint at `place` (0 to below `untriedWeight`) when the weights that are not among `tried` lie end to end. */
export function untriedAt<E extends Weighted>(usable: readonly E[], tried: readonly E[], place: number): E | undefined {
  let end = 0;
  for (const endpoint of usable) {
    if (tried.includes(endpoint)) continue;
    end += endpoint.weight;
    if (place < end) return endpoint;
  }
  return undefined;
}
