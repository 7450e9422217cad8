// How a pool looks from outside: every endpoint with its state, the reason in a sentence, and its counts.
import { type Clock, wallAt } from '../core/clock.ts';
import { FAILURE_TEXT, isFailure, OUTCOMES } from '../core/failure.ts';
import { EndpointCell } from '../shared/endpoint-cell.ts';
import type { EndpointSnapshot, ServiceSnapshot } from './snapshot.ts';

export const ENDPOINT_STATES = ['active', 'ejected', 'probing', 'unhealthy'] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

export interface EndpointView {
  readonly endpoint: string;
  readonly instances: readonly string[];
  readonly weight: number;
  /** What it is chosen by at this moment; 0 for one that is not chosen. */
  readonly effectiveWeight: number;
  readonly status: string;
  readonly state: EndpointState;
  /** Why it takes no traffic, as a sentence; null when it does. */
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

/** The endpoints of a service as they stand. `lanes` is the number of lanes that the cells have. */
export function viewEndpoints(snapshot: ServiceSnapshot, options: { lanes: number; clock: Clock }): EndpointView[] {
  return snapshot.endpoints.map((endpoint) => viewEndpoint(endpoint, options));
}

function viewEndpoint(facts: EndpointSnapshot, { lanes, clock }: { lanes: number; clock: Clock }): EndpointView {
  const cell = new EndpointCell(facts.cell, -1);
  const traffic = cell.traffic();
  const ejection = cell.ejection();
  const state = facts.healthy ? traffic.state : 'unhealthy';
  const ended = OUTCOMES.map((outcome) => ({ outcome, count: cell.outcomes(outcome) }));
  const latencyMs = cell.latencyMs(lanes);
  return {
    endpoint: facts.key,
    instances: facts.instances,
    weight: facts.weight,
    effectiveWeight: state === 'active' ? facts.weight : 0,
    status: facts.status,
    state,
    why: whyNot(facts, state, ejection),
    until: traffic.state === 'ejected' && facts.healthy ? timeOf(clock, traffic.untilMs) : null,
    tags: facts.tags,
    meta: facts.meta,
    inFlight: cell.inFlight(),
    requests: ended.reduce((sum, { count }) => sum + count, 0),
    failures: ended.reduce((sum, { outcome, count }) => sum + (isFailure(outcome) ? count : 0), 0),
    ejections: ejection.count,
    latencyMs: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
  };
}

function timeOf(clock: Clock, atMs: number): string {
  return new Date(wallAt(clock, atMs)).toISOString();
}

function whyNot(
  facts: EndpointSnapshot,
  state: EndpointState,
  ejection: ReturnType<EndpointCell['ejection']>,
): string | null {
  const lastFailure = `${ejection.failures} failures in a row, the last: ${FAILURE_TEXT[ejection.why]}`;
  switch (state) {
    case 'unhealthy':
      return `its source says ${facts.status}`;
    case 'ejected':
      return `ejected after ${lastFailure}`;
    case 'probing':
      return `one request is trying it after ${lastFailure}`;
    case 'active':
      return facts.weight === 0 ? 'its weight is 0' : null;
  }
}
