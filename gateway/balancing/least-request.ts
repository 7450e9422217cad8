// Least request: the endpoint with the fewest requests on their way for its weight.
import type { Balancer, Candidate } from './balancer.ts';
import { mix32 } from './key-hash.ts';
import { type TurnOrder, turnOrder } from './turn-order.ts';
import { WeightedDraw } from './weighted-draw.ts';

/** Pools up to this size are looked at in full; in larger ones the better of two draws is taken. */
const MAX_SCANNED = 16;

export interface LeastRequestOptions {
  /** Gives every turn to one caller only, over all workers. */
  readonly nextTurn: () => number;
  /** Numbers in [0, 1). */
  readonly random: () => number;
}

/**
 * Minimises in-flight ÷ weight. Endpoints that are equally loaded take turns as in a weighted round robin, so that an
 * idle pool shares by weight and no two workers prefer the same one.
 */
export class LeastRequest<E extends Candidate> implements Balancer<E> {
  readonly #nextTurn: () => number;
  readonly #chance: WeightedDraw<E>;
  /** Of the endpoint at the same position, during a pick. */
  readonly #loads = new Float64Array(MAX_SCANNED);
  #usable: readonly E[] = [];
  #order: TurnOrder = () => 0;

  constructor({ nextTurn, random }: LeastRequestOptions) {
    this.#nextTurn = nextTurn;
    this.#chance = new WeightedDraw(random);
  }

  update(usable: readonly E[]): void {
    this.#usable = usable;
    if (usable.length > MAX_SCANNED) this.#chance.update(usable);
    else if (usable.length > 0) this.#order = turnOrder(usable.map((endpoint) => endpoint.weight));
  }

  pick(tried: readonly E[]): E | undefined {
    if (this.#usable.length > MAX_SCANNED) return this.#chance.drawBetter(tried, isLessLoaded);
    const least = this.#measure(tried);
    return least === Number.POSITIVE_INFINITY ? undefined : this.#whoseTurn(least);
  }

  /** Notes the load of every endpoint, a tried one's as infinite, and returns the least. */
  #measure(tried: readonly E[]): number {
    let least = Number.POSITIVE_INFINITY;
    for (let at = 0; at < this.#usable.length; at++) {
      const endpoint = this.#usable[at];
      const isOut = endpoint === undefined || tried.includes(endpoint);
      const load = isOut ? Number.POSITIVE_INFINITY : loadOf(endpoint);
      this.#loads[at] = load;
      if (load < least) least = load;
    }
    return least;
  }

  #whoseTurn(load: number): E | undefined {
    const turn = this.#nextTurn();
    const at = this.#order(turn);
    return this.#loads[at] === load ? this.#usable[at] : this.#amongEquals(load, turn);
  }

  /** The turn of a busier endpoint falls to those that tie, by their weights and as if by chance. */
  #amongEquals(load: number, turn: number): E | undefined {
    let weight = 0;
    for (let at = 0; at < this.#usable.length; at++) {
      if (this.#loads[at] === load) weight += this.#usable[at]?.weight ?? 0;
    }
    let place = mix32(turn) % weight;
    for (let at = 0; at < this.#usable.length; at++) {
      if (this.#loads[at] !== load) continue;
      const endpoint = this.#usable[at];
      place -= endpoint?.weight ?? 0;
      if (place < 0) return endpoint;
    }
    return undefined;
  }
}

function loadOf(endpoint: Candidate): number {
  return endpoint.inFlight() / endpoint.weight;
}

function isLessLoaded(one: Candidate, other: Candidate): boolean {
  return loadOf(one) < loadOf(other);
}
