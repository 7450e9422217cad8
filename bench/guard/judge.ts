// The decision of the guard: whether a request costs more than it did, in units of the calibration loop.
import { median, spreadPercent } from '../stats/statistics.ts';

/** What was stored for a release: the cost of a request, as a multiple of the calibration loop's, by scenario. */
export interface Baseline {
  readonly version: string;
  readonly commit: string;
  readonly date: string;
  readonly ratios: Readonly<Record<string, number>>;
}

export interface Verdict {
  readonly scenario: string;
  readonly ratio: number;
  readonly spreadPercent: number;
  /** Null where the baseline does not have the scenario. */
  readonly baseline: number | null;
  /** More cost than the baseline, in percent; negative is less. */
  readonly lossPercent: number;
  readonly isFailed: boolean;
}

export const ALLOWED_LOSS_PERCENT = 15;

/** Judges a scenario by the ratios of its rounds; without a round or a baseline it fails: it would guard nothing. */
export function judge(scenario: string, ratios: readonly number[], baseline: Baseline): Verdict {
  const ratio = median(ratios);
  const before = baseline.ratios[scenario] ?? null;
  const lossPercent = before === null ? Number.NaN : (ratio / before - 1) * 100;
  const isKept = lossPercent <= ALLOWED_LOSS_PERCENT;
  return { scenario, ratio, spreadPercent: spreadPercent(ratios), baseline: before, lossPercent, isFailed: !isKept };
}

/**
 * Of the verdicts on several measurements of one scenario the one with the least loss: a real loss shows in every
 * measurement, the noise of a neighbour does not. What was not measured counts for nothing beside what was.
 */
export function mildest(verdicts: readonly [Verdict, ...Verdict[]]): Verdict {
  const known = verdicts.filter(({ lossPercent }) => !Number.isNaN(lossPercent));
  return known.toSorted((a, b) => a.lossPercent - b.lossPercent)[0] ?? verdicts[0];
}

/** Whether the value is a stored baseline. */
export function isBaseline(value: unknown): value is Baseline {
  if (typeof value !== 'object' || value === null || !('ratios' in value)) return false;
  const { ratios } = value;
  return typeof ratios === 'object' && ratios !== null && Object.values(ratios).every((ratio) => Number(ratio) > 0);
}
