// One key of a limit without a table: what each request of a sequence of times is told.
import {
  compileLimit,
  type LimitOptions,
  type LimitVerdict,
  type RateLimit,
} from '../../gateway/resilience/rate-limit.ts';
import { decideByPace } from '../../gateway/resilience/rate-limit-pace.ts';
import { countInWindow, decideInWindow, type WindowReading } from '../../gateway/resilience/rate-limit-window.ts';

/** Without its name, which one key alone does not need. */
export type Limit = LimitOptions extends infer Options
  ? Options extends LimitOptions
    ? Omit<Options, 'id'>
    : never
  : never;

export interface LimitMeter {
  readonly limit: RateLimit;
  /** Counts a request and tells its verdict. */
  request(nowMs: number): LimitVerdict;
}

export function meterOf(options: Limit): LimitMeter {
  const limit = compileLimit({ id: 'test', ...options });
  const reading: WindowReading = {
    ...{ untilMs: 0, delayMs: 0, remaining: 0, resetMs: 0, newestPiece: 0, piece: 0, first: 0 },
    counters: new Uint32Array(64),
  };
  const request = (nowMs: number): LimitVerdict => {
    if (limit.algorithm !== 'sliding_window') decideByPace(limit, reading, nowMs);
    else {
      decideInWindow(limit, reading, nowMs);
      if (reading.delayMs >= 0) countInWindow(limit, reading);
    }
    const { delayMs, remaining, resetMs } = reading;
    return { delayMs, remaining, resetMs };
  };
  return { limit, request };
}
