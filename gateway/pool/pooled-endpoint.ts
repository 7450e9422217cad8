// An endpoint inside a worker's pool: the facts of the last snapshot and this worker's view of its shared state.
import type { Clock } from '../core/clock.ts';
import { EndpointCell } from '../shared/endpoint-cell.ts';
import type { EndpointSnapshot } from './snapshot.ts';

/** Lives as long as the endpoint does; its facts are replaced when a snapshot changes them. */
export class PooledEndpoint {
  readonly id: number;
  readonly key: string;
  readonly host: string;
  readonly port: number;
  readonly cell: EndpointCell;
  /** What balancers go by: the weight of its source, or in proportion less while it warms up. */
  weight: number;
  sourceWeight: number;
  healthy: boolean;
  /** Kept only where a route chooses by them. */
  labels: Pick<EndpointSnapshot, 'tags' | 'meta'> | null;
  readonly #clock: Clock;

  constructor(facts: EndpointSnapshot, options: { lane: number; clock: Clock; keepsLabels: boolean }) {
    this.id = facts.id;
    this.key = facts.key;
    this.host = facts.host;
    this.port = facts.port;
    this.cell = new EndpointCell(facts.cell, options.lane);
    this.weight = facts.weight;
    this.sourceWeight = facts.weight;
    this.healthy = facts.healthy;
    this.labels = options.keepsLabels ? { tags: facts.tags, meta: facts.meta } : null;
    this.#clock = options.clock;
  }

  /** Requests on their way, of all workers. */
  inFlight(): number {
    return this.cell.inFlight();
  }

  /** The latency as a balancer should see it at this moment, in ms; 0 while nothing is known of it. */
  latencyMs(): number {
    return this.cell.fadedLatencyMs(this.#clock.nowMs());
  }
}
