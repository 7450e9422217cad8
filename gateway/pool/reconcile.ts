// What a new snapshot means for a worker's pool: who came, who stays, whose facts changed, who is gone.
import type { EndpointSnapshot } from './snapshot.ts';

/** What reconciling needs to know of an endpoint that the pool holds. */
export interface Held {
  readonly id: number;
  readonly weight: number;
  readonly healthy: boolean;
}

export interface Reconciliation<H extends Held> {
  readonly added: readonly EndpointSnapshot[];
  readonly kept: readonly H[];
  readonly changed: readonly { readonly held: H; readonly facts: EndpointSnapshot }[];
  readonly gone: readonly H[];
}

/** Compares the endpoints that a pool holds with those of a snapshot, by their id. */
export function reconcile<H extends Held>(
  held: Iterable<H>,
  endpoints: readonly EndpointSnapshot[],
): Reconciliation<H> {
  const wanted = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const kept: H[] = [];
  const changed: { held: H; facts: EndpointSnapshot }[] = [];
  const gone: H[] = [];
  for (const endpoint of held) {
    const facts = wanted.get(endpoint.id);
    wanted.delete(endpoint.id);
    if (facts === undefined) gone.push(endpoint);
    else if (facts.weight === endpoint.weight && facts.healthy === endpoint.healthy) kept.push(endpoint);
    else changed.push({ held: endpoint, facts });
  }
  return { added: [...wanted.values()], kept, changed, gone };
}
