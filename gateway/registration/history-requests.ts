// The parameters of `GET /history`, checked, and the times of its answers.
import { describeValue, quote } from '../core/quote.ts';
import { parseDuration } from '../core/units.ts';
import { bad, type Checked, isName, nameFault, ok, parametersFault } from './registry-requests.ts';
import type { HistoryEntry, HistoryQuery } from './store.ts';

const PARAMETERS = ['service', 'since', 'after', 'limit'];
const LIMIT = 100;
const MAX_LIMIT = 1000;

/** RFC 3339: a date, a time, and where that time is. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Checks `service` (absent: all), `since` (a time, or a duration back from now by the database's clock), `after` (the
 * `next` of the page before) and `limit` (1 to 1000, 100).
 */
export function readHistoryQuery(parameters: URLSearchParams): Checked<HistoryQuery> {
  const fault = parametersFault(parameters);
  if (fault !== null) return bad(fault);
  const unknown = parameters.keys().find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return bad(`unknown parameter ${quote(unknown)}: known are ${PARAMETERS.join(', ')}`);
  const service = parameters.get('service') ?? undefined;
  if (service !== undefined && !isName(service)) return bad(nameFault('service', service));
  const written = parameters.get('since') ?? undefined;
  const since = written === undefined ? undefined : readSince(written);
  if (since === null) {
    return bad(`since must be a time like 2026-01-31T12:00:00Z or a duration like 2h, got ${describeValue(written)}`);
  }
  const afterId = readWhole(parameters.get('after') ?? '0', Number.MAX_SAFE_INTEGER);
  if (afterId === undefined) return bad('after must be the "next" of another page');
  const limit = readWhole(parameters.get('limit') ?? String(LIMIT), MAX_LIMIT);
  if (limit === undefined || limit === 0) return bad(`limit must be an integer 1..${MAX_LIMIT}`);
  return ok({ ...(service !== undefined && { service }), ...(since !== undefined && { since }), afterId, limit });
}

/** The entry as it is answered: times as RFC 3339 in UTC. */
export function historyDocument({ id: _, registeredMs, lastSeenMs, goneMs, why, ...registration }: HistoryEntry) {
  return {
    ...registration,
    registered: timeOf(registeredMs),
    lastSeen: timeOf(lastSeenMs),
    gone: timeOf(goneMs),
    why,
  };
}

function readSince(written: string): NonNullable<HistoryQuery['since']> | null {
  const durationMs = parseDuration(written);
  if (durationMs !== undefined) return durationMs > 0 ? { kind: 'ago', durationMs } : null;
  const wallMs = TIME.test(written) ? Date.parse(written) : Number.NaN;
  return wallMs >= 0 ? { kind: 'time', wallMs } : null;
}

function readWhole(written: string, max: number): number | undefined {
  const value = Number(written);
  return /^\d{1,16}$/.test(written) && value <= max ? value : undefined;
}

/** What somebody wrote into the table by hand may be no time. */
function timeOf(wallMs: number): string | null {
  const time = new Date(wallMs);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
