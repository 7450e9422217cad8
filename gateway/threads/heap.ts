// How the memory of workers is bounded and collected.
import { setFlagsFromString } from 'node:v8';
import type { ResourceLimits } from 'node:worker_threads';

/**
 * The bound of a worker's new space as V8 counts it, in MiB: three times one of its halves, so each may have 8 where V8
 * would let it have 16. A burst of answers of discovery (100 services with 100 instances each) makes the halves of the
 * leader grow to whatever bound there is, and an idle worker collects nothing for hours that would make them smaller.
 * It costs a request at most some 2 % more CPU.
 */
export const HEAP_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 24 };

/**
 * From now on V8 makes every object in new space. Where many survived once it would make all of their kind in old space
 * for good, which no request suits: its objects die with it, but in old space they stay until a great collection, and
 * keep all that they point to, so that each small one copies the strings of hundreds of requests that have ended. One
 * burst of a few hundred requests at once did that to most workers: 9 to 11 ms a small collection instead of 2.
 */
export function allocateAllYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
