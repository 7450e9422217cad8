// Chance with weights: draws one endpoint, or two different ones, each as likely as its weight says.
import type { Weighted } from './balancer.ts';
import { untriedAt, untriedWeight } from './untried.ts';
import { firstEndAfter, weightEnds } from './weight-ends.ts';

/** How many draws may fall on tried endpoints before the rest is searched. */
const MAX_DRAWS = 8;

/** `random` gives numbers in [0, 1). */
export class WeightedDraw<E extends Weighted> {
  readonly #random: () => number;
  #usable: readonly E[] = [];
  #ends: Float64Array = new Float64Array(0);

  constructor(random: () => number) {
    this.#random = random;
  }

  update(usable: readonly E[]): void {
    this.#usable = usable;
    this.#ends = weightEnds(usable.map((endpoint) => endpoint.weight));
  }

  /** One endpoint that is not among `tried`; undefined when there is none. */
  draw(tried: readonly E[]): E | undefined {
    return this.#usable[this.#draw(tried, -1)];
  }

  /**
   * The better of two different endpoints that are not among `tried` ("the power of two choices", M. Mitzenmacher,
   * 2001): the first unless the second is better, so that equals share by their weights.
   */
  drawBetter(tried: readonly E[], isBetter: (one: E, other: E) => boolean): E | undefined {
    const at = this.#draw(tried, -1);
    const first = this.#usable[at];
    if (first === undefined) return undefined;
    const second = this.#usable[this.#draw(tried, at)];
    return second !== undefined && isBetter(second, first) ? second : first;
  }

  /** A position other than `besides` whose endpoint is not among `tried`; -1 when there is none. */
  #draw(tried: readonly E[], besides: number): number {
    const cutFrom = besides > 0 ? (this.#ends[besides - 1] ?? 0) : 0;
    const cut = besides < 0 ? 0 : (this.#ends[besides] ?? 0) - cutFrom;
    const length = (this.#ends.at(-1) ?? 0) - cut;
    if (length <= 0) return -1;
    for (let draw = 0; draw < MAX_DRAWS; draw++) {
      const place = this.#random() * length;
      const at = firstEndAfter(this.#ends, place < cutFrom ? place : place + cut);
      const endpoint = this.#usable[at];
      if (endpoint !== undefined && !tried.includes(endpoint)) return at;
    }
    return this.#drawFromRest(tried, besides);
  }

  /** The same choice with the same chances, made by looking at every endpoint. */
  #drawFromRest(tried: readonly E[], besides: number): number {
    const drawn = this.#usable[besides];
    const out = drawn === undefined ? tried : [...tried, drawn];
    const endpoint = untriedAt(this.#usable, out, this.#random() * untriedWeight(this.#usable, out));
    return endpoint === undefined ? -1 : this.#usable.indexOf(endpoint);
  }
}
