// Weighted round robin over all workers: one shared counter gives out turns, the weights say whose turn it is.
import type { Balancer, Weighted } from './balancer.ts';
import { mix32 } from './key-hash.ts';
import { type TurnOrder, turnOrder } from './turn-order.ts';
import { untriedAt, untriedWeight } from './untried.ts';

/** How many turns a retry draws before it looks at the untried endpoints alone. */
const MAX_DRAWS = 8;

/** `nextTurn` gives every turn to one caller only, over all workers. */
export class WeightedRoundRobin<E extends Weighted> implements Balancer<E> {
  readonly #nextTurn: () => number;
  #usable: readonly E[] = [];
  #order: TurnOrder = () => 0;

  constructor(nextTurn: () => number) {
    this.#nextTurn = nextTurn;
  }

  update(usable: readonly E[]): void {
    this.#usable = usable;
    if (usable.length > 0) this.#order = turnOrder(usable.map((endpoint) => endpoint.weight));
  }

  pick(tried: readonly E[]): E | undefined {
    if (this.#usable.length === 0) return undefined;
    let turn = 0;
    for (let draw = 0; draw < MAX_DRAWS; draw++) {
      turn = this.#nextTurn();
      const endpoint = this.#usable[this.#order(turn)];
      if (endpoint !== undefined && !tried.includes(endpoint)) return endpoint;
      if (tried.length >= this.#usable.length) break;
    }
    // The turns belong to heavy endpoints that were tried: one of the others, by their weights and as if by chance.
    const weight = untriedWeight(this.#usable, tried);
    if (weight === 0) return undefined;
    return untriedAt(this.#usable, tried, mix32(turn) % weight);
  }
}
