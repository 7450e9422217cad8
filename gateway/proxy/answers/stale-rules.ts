// Which answers may be kept and given again while the service cannot answer: what RFC 9111 lets a shared cache do.
import type { FieldTable } from '../../http1/field-table.ts';
import type { RequestDescription } from '../exchange.ts';

/** How a kept answer may be used. */
export interface Storable {
  /** The lower-case names of the request fields that the answer depends on. */
  readonly vary: readonly string[];
  /** How old it was when it came, in ms. */
  readonly ageMs: number;
  /** How old it may become, in ms: Infinity where the service does not say. */
  readonly maxAgeMs: number;
}

/** Statuses of good answers that are complete in themselves. */
const GOOD_STATUSES: ReadonlySet<number> = new Set([200, 203]);

/** Directives with which a service keeps its answer from being stored, or from being given when it is stale. */
const FORBIDDING: readonly string[] = ['no-store', 'private', 'no-cache', 'must-revalidate', 'proxy-revalidate'];

type Request = Pick<RequestDescription, 'method' | 'header'>;

/** Whether the answer to this request may be kept at all: no Authorization, no range, and the client lets it. */
export function isStorableRequest(request: Request): boolean {
  if (request.method !== 'GET') return false;
  if (request.header('authorization') !== undefined || request.header('range') !== undefined) return false;
  return !directives(request.header('cache-control')).has('no-store');
}

/** How an answer may be kept; null when it may not. */
export function storable(status: number, fields: Pick<FieldTable, 'get'>): Storable | null {
  if (!GOOD_STATUSES.has(status) || fields.get('set-cookie') !== undefined) return null;
  const said = directives(fields.get('cache-control'));
  if (FORBIDDING.some((word) => said.has(word))) return null;
  const vary = (fields.get('vary') ?? '').toLowerCase().split(',');
  const names = vary.map((name) => name.trim()).filter((name) => name !== '');
  if (names.includes('*') || names.some(isSetByWeir)) return null;
  // A stream of events has no end, and no value later.
  if ((fields.get('content-type') ?? '').startsWith('text/event-stream')) return null;
  const shared = said.get('s-maxage');
  const age = Number(fields.get('age') ?? 0);
  return {
    vary: [...new Set(names)].sort(),
    ageMs: age > 0 ? age * 1000 : 0,
    // s-maxage forbids a shared cache to go beyond it (RFC 9111 section 5.2.2.10); one that is no number forbids all.
    maxAgeMs: shared === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Number(shared) || 0) * 1000,
  };
}

/** What the service saw in such a field is not what the client sent. */
function isSetByWeir(name: string): boolean {
  return name.startsWith('x-forwarded-') || name === 'forwarded' || name === 'x-real-ip' || name === 'x-request-id';
}

/** The directives of a Cache-Control field by their lower-case names. */
function directives(field: string | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of (field ?? '').split(',')) {
    const equals = part.indexOf('=');
    const name = (equals === -1 ? part : part.slice(0, equals)).trim().toLowerCase();
    const value = equals === -1 ? '' : part.slice(equals + 1).trim();
    if (name !== '') found.set(name, value.replace(/^"(.*)"$/, '$1'));
  }
  return found;
}
