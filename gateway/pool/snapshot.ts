// The snapshot of one service as it travels to the workers: facts, and the shared cells that hold the counts.
import type { Endpoint } from '../core/instance.ts';
import type { CellPlace } from '../shared/cell.ts';

/** An endpoint with its cell. `id` is new whenever another instance takes over the address. */
export interface EndpointSnapshot extends Endpoint {
  readonly id: number;
  readonly cell: CellPlace;
}

/** One version of the pool of one service. */
export interface ServiceSnapshot {
  readonly service: string;
  /** The snapshot version with which the pool changed last; grows by one with every change of any service. */
  readonly version: number;
  readonly cell: CellPlace;
  /** Sorted by key, so that every worker counts turns over the same list. */
  readonly endpoints: readonly EndpointSnapshot[];
}
