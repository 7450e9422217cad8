// Which core does what: the gateway has one of its own, load and upstream share the other.
import { availableParallelism } from 'node:os';

export const GATEWAY_CORE = 0;
export const LOAD_CORE = Math.min(1, availableParallelism() - 1);
