// Random: every pick is a draw of its own, as likely as the weights say.
import type { Balancer, Weighted } from './balancer.ts';
import { WeightedDraw } from './weighted-draw.ts';

/** `random` gives numbers in [0, 1). */
export class Random<E extends Weighted> implements Balancer<E> {
  readonly #chance: WeightedDraw<E>;

  constructor(random: () => number) {
    this.#chance = new WeightedDraw(random);
  }

  update(usable: readonly E[]): void {
    this.#chance.update(usable);
  }

  pick(tried: readonly E[]): E | undefined {
    return this.#chance.draw(tried);
  }
}
