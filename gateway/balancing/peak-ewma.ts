// Peak EWMA: of two endpoints the one that is likely to answer sooner, by its latency and what it has to do already.
import type { Balancer, Candidate } from './balancer.ts';
import { WeightedDraw } from './weighted-draw.ts';

/**
 * Draws two endpoints by weight and takes the one of lower cost: latency × (in-flight ÷ relative weight + 1), where the
 * relative weight is that to the mean of the pool. With equal weights this is Finagle's latency × (in-flight + 1).
 * The weight divides the requests in flight and not the one to come: an idle pool of equal latencies shares by weight.
 *
 * An endpoint without a latency counts as fast as the one it is compared with: it gets the share of its weight and no
 * more in flight than others, however quickly it fails. (Finagle lets such an endpoint win while it is idle, which sends
 * it everything as long as it refuses connections.)
 */
export class PeakEwma<E extends Candidate> implements Balancer<E> {
  readonly #chance: WeightedDraw<E>;
  readonly #isCheaper = (one: E, other: E): boolean => this.#compare(one, other) < 0;
  #meanWeight = 1;

  /** `random` gives numbers in [0, 1). */
  constructor(random: () => number) {
    this.#chance = new WeightedDraw(random);
  }

  update(usable: readonly E[]): void {
    this.#chance.update(usable);
    this.#meanWeight = usable.reduce((sum, endpoint) => sum + endpoint.weight, 0) / Math.max(1, usable.length);
  }

  pick(tried: readonly E[]): E | undefined {
    return this.#chance.drawBetter(tried, this.#isCheaper);
  }

  /** Negative when `one` costs less. */
  #compare(one: E, other: E): number {
    const oneMs = one.latencyMs();
    const otherMs = other.latencyMs();
    if (oneMs === 0 || otherMs === 0) return this.#work(one) - this.#work(other);
    return oneMs * this.#work(one) - otherMs * this.#work(other);
  }

  #work(endpoint: E): number {
    return (endpoint.inFlight() * this.#meanWeight) / endpoint.weight + 1;
  }
}
