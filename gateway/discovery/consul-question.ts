// One query of an agent, for the health of a service or for a list of the cluster, and the request target it makes.

export type Consistency = 'default' | 'stale' | 'consistent';

/** A query for the health of one service. */
export interface ConsulQuestion extends Blocking {
  readonly service: string;
  /** Of instances that have this tag only. */
  readonly tag?: string;
}

/** A query for a list of the cluster: `path` is that below `/v1/`, `filter` an expression that Consul applies, or ''. */
export interface ConsulListQuestion extends Blocking {
  readonly path: string;
  readonly filter: string;
}

/** Without an index it is answered at once; with one when Consul's index exceeds it or `waitMs` is over. */
interface Blocking {
  readonly index: string | null;
  readonly waitMs: number;
  readonly consistency: Consistency;
}

/** Longest and shortest time of a blocking query, in milliseconds: Consul itself caps at ten minutes, and 0 is its five. */
const MAX_WAIT_MS = 600_000;
const MIN_WAIT_MS = 10;

/** Milliseconds that an answer may take beyond the time it may be held. */
const SLACK_MS = 2000;

/** Milliseconds that an answer may take which is not held: a server without leader takes its time to say so. */
const IMMEDIATE_DEADLINE_MS = 5000;

/** The target of the query, below the agent's own path. The token is not part of it: it travels in a header field. */
export function questionTarget(question: ConsulQuestion | ConsulListQuestion, datacenter: string): string {
  const { index, consistency } = question;
  const parameters = [
    datacenter === '' ? '' : `dc=${encodeURIComponent(datacenter)}`,
    narrowingOf(question),
    consistency === 'default' ? '' : consistency,
    index === null ? '' : `index=${index}&wait=${goDuration(heldMs(question))}`,
  ].filter((parameter) => parameter !== '');
  const path = `/v1/${pathOf(question)}`;
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

/** Milliseconds after which an answer is overdue: Consul adds up to a sixteenth to the wait. */
export function questionDeadlineMs(question: Blocking): number {
  const waitMs = heldMs(question);
  return question.index === null ? IMMEDIATE_DEADLINE_MS : waitMs + waitMs / 16 + SLACK_MS;
}

function pathOf(question: ConsulQuestion | ConsulListQuestion): string {
  return 'path' in question ? question.path : `health/service/${encodeURIComponent(question.service.toWellFormed())}`;
}

function narrowingOf(question: ConsulQuestion | ConsulListQuestion): string {
  if (!('path' in question)) return question.tag === undefined ? '' : `tag=${encodeURIComponent(question.tag)}`;
  return question.filter === '' ? '' : `filter=${encodeURIComponent(question.filter)}`;
}

function heldMs({ waitMs }: Blocking): number {
  return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, Math.round(waitMs)));
}

/** A duration as Go's time.ParseDuration reads it: whole seconds as `60s`, anything else as `1500ms`. */
function goDuration(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
