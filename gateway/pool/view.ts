// How a pool looks from outside: every endpoint with its state, the reason in a sentence, and its counts.
import { type Clock, wallAt } from '../core/clock.ts';
import { FAILURE_TEXT, isFailure, OUTCOMES } from '../core/failure.ts';
import { FULL_TENTHS, type SlowStartPolicy, warmTenths } from '../resilience/slow-start.ts';
import { EJECTION_TRIGGERS, type EjectionReason, EndpointCell } from '../shared/endpoint-cell.ts';
import type { EndpointSnapshot, ServiceSnapshot } from './snapshot.ts';

export const ENDPOINT_STATES = ['active', 'ejected', 'probing', 'warming', 'draining', 'unhealthy'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

export interface EndpointView {
  readonly endpoint: string;
  readonly instances: readonly string[];
  readonly weight: number;
  /** What it is chosen by at this moment; 0 for one that is not chosen. */
  readonly effectiveWeight: number;
  readonly status: string;
  readonly state: EndpointState;
  /** Why it takes no traffic, or less than its weight, as a sentence; null when it takes all. */
  readonly why: string | null;
  /** RFC 3339; null when there is no such time. */
  readonly until: string | null;
  readonly tags: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
  readonly inFlight: number;
  readonly requests: number;
  readonly failures: number;
  readonly ejections: number;
  /** The moving average of the time to the response head; null before the first. */
  readonly latencyMs: number | null;
}

export interface ViewOptions {
  readonly clock: Clock;
  readonly slowStart: SlowStartPolicy;
}

/** The endpoints of a service as they stand. */
export function viewEndpoints(snapshot: ServiceSnapshot, options: ViewOptions): EndpointView[] {
  return snapshot.endpoints.map((endpoint) => viewEndpoint(endpoint, options));
}

function viewEndpoint(facts: EndpointSnapshot, options: ViewOptions): EndpointView {
  const cell = new EndpointCell(facts.cell, -1);
  const standing = standingOf(facts, cell, options);
  const ended = OUTCOMES.map((outcome) => ({ outcome, count: cell.outcomes(outcome) }));
  const latencyMs = cell.latencyMs();
  return {
    endpoint: facts.key,
    instances: facts.instances,
    weight: facts.weight,
    effectiveWeight: Math.round(((facts.weight * standing.tenths) / FULL_TENTHS) * 10) / 10,
    status: facts.status,
    state: standing.state,
    why: standing.why,
    until: standing.untilMs === null ? null : new Date(wallAt(options.clock, standing.untilMs)).toISOString(),
    tags: facts.tags,
    meta: facts.meta,
    inFlight: cell.inFlight(),
    requests: ended.reduce((sum, { count }) => sum + count, 0),
    failures: ended.reduce((sum, { outcome, count }) => sum + (isFailure(outcome) ? count : 0), 0),
    ejections: EJECTION_TRIGGERS.reduce((sum, trigger) => sum + cell.ejections(trigger), 0),
    latencyMs: latencyMs === 0 ? null : Math.round(latencyMs * 10) / 10,
  };
}

interface Standing {
  readonly state: EndpointState;
  readonly why: string | null;
  readonly untilMs: number | null;
  /** The tenths of its weight by which it is chosen. */
  readonly tenths: number;
}

function standingOf(facts: EndpointSnapshot, cell: EndpointCell, { clock, slowStart }: ViewOptions): Standing {
  const out = { untilMs: null, tenths: 0 };
  const word = cell.operatorWord();
  if (!facts.healthy) {
    const besides = word === 'none' ? '' : `; besides, an operator said ${word}`;
    return { ...out, state: 'unhealthy', why: `its source says ${facts.status}${besides}` };
  }
  if (word === 'drain') return { ...out, state: 'draining', why: 'an operator lets it drain' };
  if (word === 'eject') return { ...out, state: 'ejected', why: 'ejected by an operator' };
  const traffic = cell.traffic();
  if (traffic.state === 'ejected') {
    const why = `ejected: ${sentenceOf(cell.ejection())}`;
    return { state: 'ejected', why, untilMs: traffic.untilMs, tenths: 0 };
  }
  if (traffic.state === 'probing') {
    return {
      ...out,
      state: 'probing',
      why: `one request is trying it; ejected before: ${sentenceOf(cell.ejection())}`,
    };
  }
  const since = cell.warmingSinceMs();
  const tenths = since === null ? FULL_TENTHS : warmTenths(slowStart, clock.nowMs() - since);
  if (facts.weight > 0 && since !== null && tenths < FULL_TENTHS) {
    return { state: 'warming', why: 'its traffic grows slowly', untilMs: since + slowStart.windowMs, tenths };
  }
  const why = facts.weight === 0 ? 'its weight is 0' : null;
  return { state: 'active', why, untilMs: null, tenths: FULL_TENTHS };
}

/** What an ejection was for, in words that are written after `ejected: `. */
function sentenceOf({ trigger, figure, why }: EjectionReason): string {
  switch (trigger) {
    case 'consecutive_failures':
      return `${figure} failures in a row, the last: ${FAILURE_TEXT[why]}`;
    case 'failure_percent':
      return `${figure} % of its requests failed, the last: ${FAILURE_TEXT[why]}`;
    case 'slow':
      return `${figure / 10} times slower than the median of the pool`;
  }
}
