// The limits that a request meets before it is tried, and what it counts under.
import type { RouteConfig } from '../../config/route-schema.ts';
import { limitKeyOfIp } from '../../resilience/rate-limit-key.ts';
import type { RouteCell } from '../../shared/route-cell.ts';
import type { RequestDescription } from '../exchange.ts';
import { requestKey } from '../routes/request-key.ts';
import { asWritten } from './asked-request.ts';
import type { ExplainedConcurrency, ExplainedLimit } from './explanation.ts';
import { partWords, rateWords } from './words.ts';

type Request = Pick<RequestDescription, 'target' | 'header'>;

export function explainLimits({ rateLimit }: RouteConfig, request: Request, client: string): ExplainedLimit[] {
  return rateLimit.map(({ algorithm, key: on, name, count, periodMs, burst }) => {
    const part = { on, name };
    const key = on === 'client_ip' ? limitKeyOfIp(client) : requestKey(part, request, client);
    return {
      algorithm,
      rate: rateWords(count, periodMs),
      burst: algorithm === 'sliding_window' ? null : (burst ?? count),
      by: partWords(part),
      key: key === undefined ? null : asWritten(key),
    };
  });
}

/** null where there is no limit. */
export function explainConcurrency({ concurrency }: RouteConfig, cell: RouteCell): ExplainedConcurrency | null {
  return concurrency === null ? null : { ...concurrency, ...cell.concurrency() };
}
