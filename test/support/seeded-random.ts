// Chance that can be had again: the same seed makes the same choices.

export interface SeededRandom {
  /** A whole number from 0 to below `bound`. */
  below(bound: number): number;
  /** True so many times in a hundred. */
  percent(percent: number): boolean;
  pick<T>(items: ArrayLike<T>): T;
}

/** Mulberry32 (T. Ettinger, 2017): 32 bits of state, good enough to choose test inputs. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed | 0;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
  return {
    below,
    percent: (percent) => below(100) < percent,
    pick: (items) => {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[below(items.length)] as (typeof items)[number];
    },
  };
}
