// Rate limits prepared for the request path: whole-numbered time, and what tells the keys of one limit from another's.
import { KeyHash } from './rate-limit-hash.ts';

/** What an operator asks for; `id` is unique among the limits of the process. */
export type LimitOptions = {
  readonly id: string;
  /** So many requests, a whole number of 1 or more (up to 1000 in a millisecond) … */
  readonly count: number;
  /** … in so many milliseconds. */
  readonly periodMs: number;
} & (
  | {
      /**
       * `token_bucket`: `burst` requests at once, then the rate. `leaky_bucket`: requests leave evenly at the rate, up
       * to `burst` of them wait. A whole number, by default `count`; 0 only for a leaky bucket: it then has no queue.
       */
      readonly algorithm: 'token_bucket' | 'leaky_bucket';
      readonly burst?: number;
    }
  /** Never more than `count` in any span of one period. */
  | { readonly algorithm: 'sliding_window' }
);

/**
 * Time in ticks of about a quarter of a microsecond, chosen so that one step is a whole number of them: sums of steps
 * are exact, and a rate does not drift however long it runs.
 */
interface LimitTicks {
  readonly ticksPerMs: number;
  readonly msPerTick: number;
  readonly stepTicks: number;
}

interface LimitNumbers extends LimitTicks {
  readonly count: number;
  readonly periodMs: number;
  /** Tells the keys of limits apart: of `id` and all numbers, so that a limit that changes starts afresh. */
  readonly saltHigh: number;
  readonly saltLow: number;
}

/** A token or leaky bucket as GCRA (ITU-T I.371); a step is the time from one request to the next at the rate. */
export interface PacedLimit extends LimitNumbers {
  readonly algorithm: 'token_bucket' | 'leaky_bucket';
  readonly burst: number;
  /** How far the theoretical arrival time may run ahead of the clock. */
  readonly capacityTicks: number;
}

/** A sliding window that counts in pieces of one step; `pieces` of them cover a period wherever it begins. */
export interface WindowLimit extends LimitNumbers {
  readonly algorithm: 'sliding_window';
  readonly pieces: number;
  readonly counterBytes: 1 | 2 | 4;
}

/** A limit with its prepared numbers. */
export type RateLimit = PacedLimit | WindowLimit;

/** What one limit says of a request. */
export interface LimitVerdict {
  /** 0: admitted now; above: admitted after so many ms (leaky bucket); below: refused, can succeed after so many ms. */
  readonly delayMs: number;
  /** How many more requests would be admitted at this moment. */
  readonly remaining: number;
  /** The time in which no more than `remaining` can be admitted; of a refused request, until a retry can succeed. */
  readonly resetMs: number;
}

/** Room for the counters of one key of a sliding window, in bytes. */
export const WINDOW_BYTES = 56;

const TICKS_PER_MS = 4096;

export function compileLimit(options: LimitOptions): RateLimit {
  const { algorithm, count, periodMs } = options;
  if (algorithm === 'sliding_window') {
    const counterBytes = count < 2 ** 8 ? 1 : count < 2 ** 16 ? 2 : 4;
    const pieces = WINDOW_BYTES / counterBytes;
    return { algorithm, count, periodMs, pieces, counterBytes, ...ticks(periodMs, pieces - 1), ...salt(options) };
  }
  const burst = options.burst ?? count;
  const step = ticks(periodMs, count);
  const capacityTicks = step.stepTicks * (algorithm === 'leaky_bucket' ? burst + 1 : burst);
  return { algorithm, count, periodMs, burst, capacityTicks, ...step, ...salt(options) };
}

function ticks(periodMs: number, steps: number): LimitTicks {
  const stepTicks = Math.max(1, Math.round((TICKS_PER_MS * periodMs) / steps));
  return { stepTicks, ticksPerMs: (stepTicks * steps) / periodMs, msPerTick: periodMs / (stepTicks * steps) };
}

function salt(options: LimitOptions): { readonly saltHigh: number; readonly saltLow: number } {
  const burst = options.algorithm === 'sliding_window' ? '' : (options.burst ?? options.count);
  const hash = new KeyHash(0, 0);
  hash.of(`${options.algorithm} ${options.count} ${options.periodMs} ${burst} ${options.id}`, 0, 0);
  return { saltHigh: hash.high, saltLow: hash.low };
}
