// What a new snapshot means for a worker's pool: who came, who stays, who is gone.
import type { EndpointSnapshot } from './snapshot.ts';

export interface Reconciliation<H> {
  readonly added: readonly EndpointSnapshot[];
  readonly kept: readonly { readonly held: H; readonly facts: EndpointSnapshot }[];
  readonly gone: readonly H[];
}

/** Compares the endpoints that a pool holds with those of a snapshot, by their id. */
export function reconcile<H extends { readonly id: number }>(
  held: Iterable<H>,
  endpoints: readonly EndpointSnapshot[],
): Reconciliation<H> {
  const wanted = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const kept: { held: H; facts: EndpointSnapshot }[] = [];
  const gone: H[] = [];
  for (const endpoint of held) {
    const facts = wanted.get(endpoint.id);
    wanted.delete(endpoint.id);
    if (facts === undefined) gone.push(endpoint);
    else kept.push({ held: endpoint, facts });
  }
  return { added: [...wanted.values()], kept, gone };
}
