// The pool of one service in one worker: applies snapshots, hands out leases, sees what other workers set aside.
import type { Balancer } from '../balancing/balancer.ts';
import { WeightedRoundRobin } from '../balancing/weighted-round-robin.ts';
import type { Clock } from '../core/clock.ts';
import type { EjectionPolicy } from '../resilience/ejection.ts';
import { ServiceCell } from '../shared/service-cell.ts';
import { Lease, type LeaseOwner, type TrafficChange } from './lease.ts';
import { PooledEndpoint } from './pooled-endpoint.ts';
import { reconcile } from './reconcile.ts';
import type { ServiceSnapshot } from './snapshot.ts';

/**
 * Why there was no lease: `empty` when the source knows no endpoint that may take traffic, `ejected` when all of them
 * are set aside, `tried` when the request has been to all the others.
 */
export type NoLease = 'empty' | 'ejected' | 'tried';

export interface AcquireOptions {
  /** The endpoints this request has been to. */
  readonly tried: readonly PooledEndpoint[];
  readonly ejection: EjectionPolicy;
  /** Whether an ejected endpoint is better than none. */
  readonly failOpen: boolean;
}

export interface PoolOptions {
  readonly lane: number;
  readonly clock: Clock;
  readonly onTrafficChange: (service: string, change: TrafficChange) => void;
  /** Called once for every endpoint that leaves: its idle connections must go. */
  readonly onGone: (endpoint: PooledEndpoint) => void;
}

export class Pool implements LeaseOwner {
  readonly service: string;
  readonly shared: ServiceCell;
  readonly clock: Clock;
  readonly #options: PoolOptions;
  readonly #balancer: Balancer<PooledEndpoint>;
  /** All endpoints of the snapshot, in its order. */
  #endpoints: readonly PooledEndpoint[] = [];
  /** Those that their source lets take traffic. */
  #healthy: readonly PooledEndpoint[] = [];
  /** Those of them that traffic showed to be bad. */
  #ejected: readonly PooledEndpoint[] = [];
  #epoch = -1;

  constructor(snapshot: ServiceSnapshot, options: PoolOptions) {
    this.service = snapshot.service;
    this.shared = new ServiceCell(snapshot.cell, options.lane);
    this.clock = options.clock;
    this.#options = options;
    this.#balancer = new WeightedRoundRobin(() => this.shared.nextTurn());
    this.apply(snapshot);
  }

  get healthyCount(): number {
    return this.#healthy.length;
  }

  /** Takes over the endpoints of a newer snapshot; those that stay keep their state. */
  apply(snapshot: ServiceSnapshot): void {
    const { added, kept, changed, gone } = reconcile(this.#endpoints, snapshot.endpoints);
    const byId = new Map<number, PooledEndpoint>();
    for (const endpoint of kept) byId.set(endpoint.id, endpoint);
    for (const { held, facts } of changed) {
      held.weight = facts.weight;
      held.healthy = facts.healthy;
      byId.set(held.id, held);
    }
    for (const facts of added) byId.set(facts.id, new PooledEndpoint(facts, this.#options.lane));
    this.#endpoints = snapshot.endpoints.flatMap(({ id }) => byId.get(id) ?? []);
    this.#healthy = this.#endpoints.filter((endpoint) => endpoint.healthy && endpoint.weight > 0);
    this.#regroup();
    for (const endpoint of gone) this.#options.onGone(endpoint);
  }

  /** A lease on one endpoint, which the caller must release; or why there is none. */
  acquire(options: AcquireOptions): Lease | NoLease {
    if (this.shared.epoch() !== this.#epoch) this.#regroup();
    if (this.#healthy.length === 0) return 'empty';
    const { ejection: policy, tried } = options;
    if (this.#ejected.length > 0) {
      const probed = this.#beginProbe(tried);
      if (probed !== undefined) return new Lease(this, probed, { policy, isProbe: true });
    }
    const endpoint = this.#balancer.pick(tried);
    if (endpoint !== undefined) return new Lease(this, endpoint, { policy, isProbe: false });
    if (this.#ejected.length < this.#healthy.length) return 'tried';
    if (!options.failOpen) return 'ejected';
    const desperate = this.#leastRecentlyTurned(tried);
    return desperate === undefined ? 'tried' : new Lease(this, desperate, { policy, isProbe: false });
  }

  ejectedCount(): number {
    let count = 0;
    for (const endpoint of this.#healthy) if (!endpoint.cell.isActive()) count++;
    return count;
  }

  bumpEpoch(): void {
    this.shared.bumpEpoch();
  }

  trafficChanged(change: TrafficChange): void {
    this.bumpEpoch();
    this.#options.onTrafficChange(this.service, change);
  }

  /** Sorts the healthy endpoints into those to choose from and those set aside. */
  #regroup(): void {
    this.#epoch = this.shared.epoch();
    const active: PooledEndpoint[] = [];
    const ejected: PooledEndpoint[] = [];
    for (const endpoint of this.#healthy) (endpoint.cell.isActive() ? active : ejected).push(endpoint);
    this.#ejected = ejected;
    this.#balancer.update(active);
  }

  #beginProbe(tried: readonly PooledEndpoint[]): PooledEndpoint | undefined {
    const nowMs = this.clock.nowMs();
    for (const endpoint of this.#ejected) {
      if (!tried.includes(endpoint) && endpoint.cell.beginProbe(nowMs)) return endpoint;
    }
    return undefined;
  }

  /** Fail open: the ejected endpoints take turns. */
  #leastRecentlyTurned(tried: readonly PooledEndpoint[]): PooledEndpoint | undefined {
    const from = this.shared.nextTurn();
    for (let step = 0; step < this.#ejected.length; step++) {
      const endpoint = this.#ejected[(from + step) % this.#ejected.length];
      if (endpoint !== undefined && !tried.includes(endpoint)) return endpoint;
    }
    return undefined;
  }
}
