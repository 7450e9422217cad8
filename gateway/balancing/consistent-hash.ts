// Consistent hashing: requests with the same key go to the same endpoint, whoever else comes or goes.
import type { Balancer, Candidate } from './balancer.ts';
import { firstPointFrom, type HashRing, hashRing } from './hash-ring.ts';
import { WeightedRoundRobin } from './weighted-round-robin.ts';

export interface ConsistentHashOptions {
  /** Gives every turn to one caller only, over all workers; for requests without a key. */
  readonly nextTurn: () => number;
  /** Requests on their way to the whole pool, of all workers; asked with every pick unless the load is unbounded. */
  readonly totalInFlight: () => number;
  /** How far above the share of its weight an endpoint's load may go, 1.25 for 25 %; Infinity for any load. */
  readonly boundedLoad: number;
}

/**
 * A weighted ring. Every endpoint has 160 points, and a key belongs to the endpoint that minimises
 * (way from the key on to the endpoint's next point) ÷ weight: with equal weights the next point on the ring, and in
 * general shares in proportion to the weights (the linear method of Schindelhauer and Schomaker, "Weighted Distributed
 * Hash Tables", 2005). The usual way, as many points as the weight relative to the mean, changes the points of all when
 * one comes or goes; here what an endpoint offers a key depends on that endpoint alone. So, for any weights: the order
 * of the list does not matter; an endpoint that goes leaves only its own keys to others, and comes back to the same; a
 * new or heavier one takes keys only for itself; whom a request gets instead of a tried one is who would own its key
 * without that one. The ring costs 160 points an endpoint whatever the weights; a pick looks at about as many points as
 * the heaviest weight is times the mean.
 *
 * Bounded load (Mirrokni, Thorup and Zadimoghaddam, 2016): an endpoint that would have more than
 * ceil(bound × (requests in flight + 1) × its share of the weight) in flight passes the key on to the next best.
 */
export class ConsistentHash<E extends Candidate> implements Balancer<E> {
  readonly #options: ConsistentHashOptions;
  readonly #turns: WeightedRoundRobin<E>;
  #usable: readonly E[] = [];
  #keys: readonly string[] = [];
  #ring: HashRing = hashRing([]);
  #totalWeight = 0;
  /** The endpoints, the heaviest first. */
  #heaviest: readonly E[] = [];

  constructor(options: ConsistentHashOptions) {
    this.#options = options;
    this.#turns = new WeightedRoundRobin(options.nextTurn);
  }

  update(usable: readonly E[]): void {
    this.#usable = usable;
    this.#turns.update(usable);
    this.#totalWeight = usable.reduce((sum, endpoint) => sum + endpoint.weight, 0);
    this.#heaviest = usable.toSorted((one, other) => other.weight - one.weight);
    const keys = usable.map((endpoint) => endpoint.key);
    // Weights are not part of the ring: when only they change, it stays.
    if (!areEqual(keys, this.#keys)) this.#ring = hashRing(keys);
    this.#keys = keys;
  }

  pick(tried: readonly E[], hash?: number): E | undefined {
    if (hash === undefined) return this.#turns.pick(tried);
    const { boundedLoad, totalInFlight } = this.#options;
    if (boundedLoad === Number.POSITIVE_INFINITY) return this.#owner(hash, tried, boundedLoad);
    const bound = boundedLoad * (totalInFlight() + 1);
    return this.#owner(hash, tried, bound) ?? this.#owner(hash, tried, Number.POSITIVE_INFINITY);
  }

  /** The best endpoint for a key that is not tried and, for its share of `bound` requests, not full. */
  #owner(hash: number, tried: readonly E[], bound: number): E | undefined {
    const mostWeight = this.#mostWeight(tried);
    if (mostWeight === 0) return undefined;
    const { positions, owners } = this.#ring;
    let best: E | undefined;
    let bestWay = Number.POSITIVE_INFINITY;
    let bestWeight = 1;
    let at = firstPointFrom(this.#ring, hash);
    for (let step = 0; step < positions.length; step++) {
      // Ways and weights are whole numbers whose products a double holds exactly, so nothing hangs on rounding.
      const way = ((positions[at] ?? 0) - hash) >>> 0;
      if (way * bestWeight > bestWay * mostWeight) break;
      const endpoint = this.#usable[owners[at] ?? 0];
      at = at + 1 === positions.length ? 0 : at + 1;
      if (endpoint === undefined) continue;
      const behind = way * bestWeight - bestWay * endpoint.weight;
      // Points that fall together are one endpoint's by its key, not by its place in the list.
      if (behind > 0 || (behind === 0 && best !== undefined && endpoint.key >= best.key)) continue;
      if (tried.includes(endpoint) || this.#isFull(endpoint, bound)) continue;
      best = endpoint;
      bestWay = way;
      bestWeight = endpoint.weight;
    }
    return best;
  }

  /** The weight of the heaviest endpoint that is not tried; 0 when there is none. */
  #mostWeight(tried: readonly E[]): number {
    for (const endpoint of this.#heaviest) if (!tried.includes(endpoint)) return endpoint.weight;
    return 0;
  }

  #isFull(endpoint: E, bound: number): boolean {
    if (bound === Number.POSITIVE_INFINITY) return false;
    return endpoint.inFlight() + 1 > Math.ceil((bound * endpoint.weight) / this.#totalWeight);
  }
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, at) => text === others[at]);
}
