// An endpoint inside a worker's pool: the facts of the last snapshot and this worker's view of its shared state.
import { EndpointCell } from '../shared/endpoint-cell.ts';
import type { EndpointSnapshot } from './snapshot.ts';

/** Lives as long as the endpoint does; `facts` are replaced when a snapshot changes them. */
export class PooledEndpoint {
  readonly id: number;
  readonly key: string;
  readonly host: string;
  readonly port: number;
  readonly cell: EndpointCell;
  weight: number;
  healthy: boolean;

  constructor(facts: EndpointSnapshot, lane: number) {
    this.id = facts.id;
    this.key = facts.key;
    this.host = facts.host;
    this.port = facts.port;
    this.cell = new EndpointCell(facts.cell, lane);
    this.weight = facts.weight;
    this.healthy = facts.healthy;
  }
}
