// The order of a weighted round robin: which endpoint has which turn, the same for everybody who knows the weights.
import { firstEndAfter, weightEnds } from './weight-ends.ts';

/** Gives the position (0..n-1) that has turn `turn`, a whole number from 0 on. */
export type TurnOrder = (turn: number) => number;

/** The most steps spent on writing out a smooth cycle; longer ones are computed turn by turn. */
const MAX_SCHEDULE_STEPS = 262_144;

/** The golden ratio spreads multiples around a circle more evenly than any other step. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * The turn order of `weights` (each 1..65535, at least one): in every cycle of turns each position gets precisely its
 * weight (divided by the greatest common divisor). Small cycles have nginx's smooth order (5:1:1 gives A A B A C A A);
 * where writing it out would cost too much, turns step around the circle of weights by the golden ratio: as exact over
 * a cycle and as well spread, but in another order.
 */
export function turnOrder(weights: readonly number[]): TurnOrder {
  const divisor = weights.reduce(greatestCommonDivisor);
  const shares = weights.map((weight) => weight / divisor);
  const cycle = shares.reduce((sum, share) => sum + share, 0);
  return cycle * shares.length <= MAX_SCHEDULE_STEPS ? smoothOrder(shares, cycle) : goldenOrder(shares, cycle);
}

/** nginx's smooth weighted round robin, written out for one cycle. */
function smoothOrder(shares: readonly number[], cycle: number): TurnOrder {
  const order = new Uint32Array(cycle);
  const credit = new Float64Array(shares.length);
  for (let turn = 0; turn < cycle; turn++) {
    let best = 0;
    for (let at = 0; at < shares.length; at++) {
      credit[at] = (credit[at] ?? 0) + (shares[at] ?? 0);
      if ((credit[at] ?? 0) > (credit[best] ?? 0)) best = at;
    }
    credit[best] = (credit[best] ?? 0) - cycle;
    order[turn] = best;
  }
  return (turn) => order[turn % cycle] ?? 0;
}

function goldenOrder(shares: readonly number[], cycle: number): TurnOrder {
  let step = Math.max(1, Math.round(cycle * GOLDEN));
  // A step without common divisor visits every place of the circle once before it comes back to the first.
  while (greatestCommonDivisor(step, cycle) !== 1) step++;
  const ends = weightEnds(shares);
  return (turn) => firstEndAfter(ends, multiplyModulo(turn % cycle, step, cycle));
}

/** (a × b) mod m for a and b below m < 2^36, without leaving the whole numbers that a double holds. */
function multiplyModulo(a: number, b: number, m: number): number {
  const high = Math.floor(a / 65_536);
  const low = a % 65_536;
  return (((((high * b) % m) * 65_536) % m) + ((low * b) % m)) % m;
}

function greatestCommonDivisor(a: number, b: number): number {
  let [high, low] = [a, b];
  while (low !== 0) [high, low] = [low, high % low];
  return high;
}
