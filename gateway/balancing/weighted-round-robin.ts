// Weighted round robin over all workers: one shared counter gives out turns, the weights say whose turn it is.
import type { Balancer, Weighted } from './balancer.ts';
import { type TurnOrder, turnOrder } from './turn-order.ts';

/** How many turns a retry draws before it looks for an untried endpoint in the list. */
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
    const usable = this.#usable;
    if (usable.length === 0) return undefined;
    for (let draw = 0; draw < MAX_DRAWS; draw++) {
      const turn = this.#nextTurn();
      const endpoint = usable[this.#order(turn)];
      if (endpoint !== undefined && !tried.includes(endpoint)) return endpoint;
      // Past the draws a heavy endpoint has been tried already: take whoever comes next in the list.
      if (draw === MAX_DRAWS - 1 || tried.length >= usable.length) return firstUntried(usable, tried, turn);
    }
    return undefined;
  }
}

function firstUntried<E>(usable: readonly E[], tried: readonly E[], from: number): E | undefined {
  for (let step = 0; step < usable.length; step++) {
    const endpoint = usable[(from + step) % usable.length];
    if (endpoint !== undefined && !tried.includes(endpoint)) return endpoint;
  }
  return undefined;
}
