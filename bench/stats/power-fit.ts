// How a cost grows with a size: a power law fitted by least squares of the logarithms.

export interface Point {
  readonly size: number;
  readonly cost: number;
}

export interface PowerFit {
  /** The slope in a plot of logarithms: 0 does not grow, 1 grows in proportion. NaN where fewer than two sizes differ. */
  readonly exponent: number;
  /** The cost at size 1. */
  readonly factor: number;
  /** How much of the variance the fit explains, 0..1; 1 where the cost does not vary. */
  readonly rSquared: number;
}

/** A variance of the logarithms that is none. */
const ROUNDING = 1e-20;

/** Fits cost = factor × size^exponent; sizes and costs are positive. */
export function fitPower(points: readonly Point[]): PowerFit {
  const logs = points.map(({ size, cost }) => [Math.log(size), Math.log(cost)] as const);
  const meanX = mean(logs.map(([x]) => x));
  const meanY = mean(logs.map(([, y]) => y));
  const sum = (of: (x: number, y: number) => number): number =>
    logs.reduce((total, [x, y]) => total + of(x - meanX, y - meanY), 0);
  const [xx, xy, yy] = [sum((x) => x * x), sum((x, y) => x * y), sum((_, y) => y * y)];
  if (logs.length < 2 || xx === 0) return { exponent: Number.NaN, factor: Number.NaN, rSquared: Number.NaN };
  const exponent = xy / xx;
  return {
    exponent,
    factor: Math.exp(meanY - exponent * meanX),
    rSquared: yy < ROUNDING ? 1 : (xy * xy) / (xx * yy),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
