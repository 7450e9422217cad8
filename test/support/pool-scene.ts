// A service on a fake clock, seen by several workers at once: their pools over one shared memory.
import { WeightedRoundRobin } from '../../gateway/balancing/weighted-round-robin.ts';
import type { Outcome } from '../../gateway/core/failure.ts';
import type { Endpoint } from '../../gateway/core/instance.ts';
import { Catalog } from '../../gateway/pool/catalog.ts';
import type { Group, GroupLabels } from '../../gateway/pool/group.ts';
import { Lease } from '../../gateway/pool/lease.ts';
import { type OperatorAction, operate } from '../../gateway/pool/operator.ts';
import type { PoolPolicies } from '../../gateway/pool/policies.ts';
import { type NoLease, Pool } from '../../gateway/pool/pool.ts';
import type { PooledEndpoint } from '../../gateway/pool/pooled-endpoint.ts';
import type { ServiceSnapshot } from '../../gateway/pool/snapshot.ts';
import type { BreakerChange, TrafficChange } from '../../gateway/pool/traffic-judge.ts';
import { type EndpointView, viewEndpoints } from '../../gateway/pool/view.ts';
import { ejectionPolicy } from './ejection-policy.ts';
import { createScriptedClock } from './scripted-clock.ts';

const POLICIES: PoolPolicies = {
  ejection: ejectionPolicy(),
  slowStart: { windowMs: 0, minPercent: 10 },
  breaker: null,
  keepsLabels: false,
  isPeakSensitive: false,
};
const LANES = 8;

/** How an attempt at the endpoint of this port ends. */
export type Behaviour = (port: number) => Outcome;

export const good: Behaviour = () => 'success';

/** Endpoints on these ports refuse connections. */
export function badFor(...ports: number[]): Behaviour {
  return (port) => (ports.includes(port) ? 'connection_refused' : 'success');
}

/** The lease, or an error with the reason why there is none. */
export function leased(acquired: Lease | NoLease): Lease {
  if (acquired instanceof Lease) return acquired;
  throw new Error(`no lease: ${acquired}`);
}

export class PoolScene {
  readonly clock = createScriptedClock();
  readonly catalog = new Catalog(['s'], { lanes: LANES, clock: this.clock });
  readonly changes: (TrafficChange & { readonly atMs: number })[] = [];
  readonly breakerChanges: (BreakerChange & { readonly atMs: number })[] = [];
  readonly #startMs = this.clock.nowMs();
  readonly gone: string[] = [];
  readonly policies: PoolPolicies;
  readonly workers: readonly Pool[];
  /** Of each worker, the group of all endpoints. */
  readonly groups: readonly Group[];

  /** The pool begins with `endpoints` as its first snapshot. */
  constructor(endpoints: readonly Endpoint[], workers = 2, policies: Partial<PoolPolicies> = {}) {
    this.policies = { ...POLICIES, ...policies };
    this.catalog.update('s', endpoints);
    this.workers = Array.from({ length: workers }, (_, lane) => {
      return new Pool(this.snapshot, {
        lane,
        clock: this.clock,
        policies: this.policies,
        onBreakerChange: (_service, change) => this.breakerChanges.push({ ...change, atMs: this.atMs }),
        onTrafficChange: (_service, change) => this.changes.push({ ...change, atMs: this.atMs }),
        onGone: ({ key }) => this.gone.push(key),
      });
    });
    this.groups = this.workers.map((_, worker) => this.addGroup(worker, null));
  }

  /** Since the scene began. */
  get atMs(): number {
    return Math.round(this.clock.nowMs() - this.#startMs);
  }

  get snapshot(): ServiceSnapshot {
    const snapshot = this.catalog.get('s');
    if (snapshot === undefined) throw new Error('the catalog does not know the service');
    return snapshot;
  }

  worker(number: number): Pool {
    const pool = this.workers[number];
    if (pool === undefined) throw new Error(`no worker ${number}`);
    return pool;
  }

  addGroup(worker: number, labels: Partial<GroupLabels> | null): Group {
    const pool = this.worker(worker);
    const balancer = new WeightedRoundRobin<PooledEndpoint>(() => pool.shared.nextTurn());
    return pool.addGroup({ labels: labels === null ? null : { tags: [], meta: {}, ...labels }, balancer });
  }

  update(endpoints: readonly Endpoint[]): void {
    this.catalog.update('s', endpoints);
    for (const worker of this.workers) worker.apply(this.snapshot);
  }

  /** What the admin address does for an operator. */
  operate(port: number, action: OperatorAction): boolean {
    return operate(this.snapshot, `127.0.0.1:${port}`, action, this.clock.nowMs());
  }

  acquire(
    worker = 0,
    options: { tried?: PooledEndpoint[]; failOpen?: boolean; isRepeatable?: boolean; group?: Group } = {},
  ): Lease | NoLease {
    const { tried = [], failOpen = false, isRepeatable = true, group = this.groups[worker] } = options;
    if (group === undefined) throw new Error(`no worker ${worker}`);
    return this.worker(worker).acquire({ group, tried, hash: undefined, failOpen, isRepeatable });
  }

  /** One request through a worker; gives the port that it went to, or why it went nowhere. */
  request(worker: number, outcome: Behaviour, { latencyMs = 1, group }: RequestOptions = {}): string {
    const lease = this.acquire(worker, group === undefined ? {} : { group });
    if (!(lease instanceof Lease)) return lease;
    const result = outcome(lease.endpoint.port);
    if (result === 'success')
      lease.answered(typeof latencyMs === 'number' ? latencyMs : latencyMs(lease.endpoint.port));
    lease.release(result);
    return String(lease.endpoint.port);
  }

  /** So many requests, from worker after worker; gives how many went where. */
  requests(count: number, outcome: Behaviour, options: RequestOptions = {}): Map<string, number> {
    const seen = new Map<string, number>();
    for (let at = 0; at < count; at++) {
      const answer = this.request(at % this.workers.length, outcome, options);
      seen.set(answer, (seen.get(answer) ?? 0) + 1);
    }
    return seen;
  }

  /** Even traffic for some seconds; gives what `watch` said, with the seconds since the scene began, when it changed. */
  run({ seconds, perSecond, outcome, latencyMs = 1 }: Traffic, watch: () => string = () => ''): [number, string][] {
    const seen: [number, string][] = [];
    for (let at = 0; at < seconds * perSecond; at++) {
      this.clock.advance(1000 / perSecond);
      this.request(at % this.workers.length, outcome, { latencyMs });
      const now = watch();
      if (now !== seen.at(-1)?.[1]) seen.push([this.atMs / 1000, now]);
    }
    return seen;
  }

  /** What traffic changed: seconds since the scene began, port, what to, and for how many seconds. */
  history(): [number, number, string, number][] {
    return this.changes.map(({ atMs, endpoint, to, forMs }) => [atMs / 1000, endpoint.port, to, forMs / 1000]);
  }

  /** The first lease on the endpoint of this port; all others are given back as if their clients had left. */
  leaseOn(port: number, worker = 0): Lease {
    for (let at = 0; at < 100; at++) {
      const lease = leased(this.acquire(worker));
      if (lease.endpoint.port === port) return lease;
      lease.release('client_gone');
    }
    throw new Error(`nobody is sent to ${port}`);
  }

  /** How the pool looks from outside, by port. */
  view(): Record<string, EndpointView> {
    const views = viewEndpoints(this.snapshot, { clock: this.clock, slowStart: this.policies.slowStart });
    return Object.fromEntries(views.map((view) => [view.endpoint.slice('127.0.0.1:'.length), view]));
  }

  /** The state of each endpoint, by port. */
  states(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.view()).map(([port, { state }]) => [port, state]));
  }

  /** The ports that are set aside by traffic. */
  out(): number[] {
    return this.worker(0)
      .usable.filter(({ cell }) => cell.isEjected())
      .map(({ port }) => port);
  }
}

export interface Traffic {
  readonly seconds: number;
  readonly perSecond: number;
  readonly outcome: Behaviour;
  readonly latencyMs?: number | ((port: number) => number);
}

interface RequestOptions {
  /** Time to the head of a good answer, or how to have it from the port. */
  readonly latencyMs?: number | ((port: number) => number);
  readonly group?: Group;
}
