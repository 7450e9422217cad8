// The pool of one service in one worker: applies snapshots, hands out leases, sees what other workers set aside.
import type { Clock } from '../core/clock.ts';
import type { Outcome } from '../core/failure.ts';
import { lastOf } from '../core/last-of-kind.ts';
import { PASSED, REFUSED } from '../shared/breaker-words.ts';
import { ServiceCell } from '../shared/service-cell.ts';
import { Group, type GroupOptions } from './group.ts';
import { Lease, type LeaseOptions, type LeaseOwner } from './lease.ts';
import type { PoolPolicies } from './policies.ts';
import { PooledEndpoint } from './pooled-endpoint.ts';
import { reconcile } from './reconcile.ts';
import type { ServiceSnapshot } from './snapshot.ts';
import { type BreakerChange, type JudgedPool, type TrafficChange, TrafficJudge } from './traffic-judge.ts';

/**
 * Why there was no lease: `empty` when no endpoint may take traffic, `ejected` when all of them are set aside, `tried`
 * when the request has been to all the others, `breaker` when the breaker is open.
 */
export type NoLease = 'empty' | 'ejected' | 'tried' | 'breaker';

export interface AcquireOptions {
  readonly group: Group;
  /** The endpoints this request has been to. */
  readonly tried: readonly PooledEndpoint[];
  /** The hash of the request's key, for consistent hashing. */
  readonly hash: number | undefined;
  /** Whether an ejected endpoint is better than none. */
  readonly failOpen: boolean;
  /** Whether the request may be made again when it fails (true): others probe only where nobody else has come. */
  readonly isRepeatable?: boolean;
}

/** How long an endpoint whose ejection is over waits for a request that may be made again. */
const PROBE_PATIENCE_MS = 5000;

export interface PoolOptions {
  readonly lane: number;
  readonly clock: Clock;
  readonly policies: PoolPolicies;
  readonly onTrafficChange: (service: string, change: TrafficChange) => void;
  readonly onBreakerChange: (service: string, change: BreakerChange) => void;
  /** Called once for every endpoint that leaves: its idle connections must go. */
  readonly onGone: (endpoint: PooledEndpoint) => void;
}

export class Pool implements LeaseOwner, JudgedPool {
  readonly service: string;
  readonly shared: ServiceCell;
  readonly clock: Clock;
  policies: PoolPolicies;
  readonly #options: PoolOptions;
  readonly #judge: TrafficJudge;
  #groups: Group[] = [];
  /** Groups of routes that were replaced, as long as a request of theirs goes on. */
  #retired: WeakRef<Group>[] = [];
  /** All endpoints of the snapshot, in its order. */
  #endpoints: readonly PooledEndpoint[] = [];
  #usable: readonly PooledEndpoint[] = [];
  #epoch = -1;

  constructor(snapshot: ServiceSnapshot, options: PoolOptions) {
    this.service = snapshot.service;
    this.shared = new ServiceCell(snapshot.cell, options.lane);
    this.clock = options.clock;
    this.policies = options.policies;
    this.#options = options;
    this.#judge = new TrafficJudge(this);
    this.apply(snapshot);
  }

  get usable(): readonly PooledEndpoint[] {
    return this.#usable;
  }

  /** Adds a group to choose from. */
  addGroup(options: GroupOptions): Group {
    const group = new Group(options);
    this.#groups.push(group);
    group.update(this.#usable, this.policies.slowStart, this.clock);
    return group;
  }

  /** Takes other policies, and a newer snapshot if there is one; the groups are to be added anew. */
  reconfigure(policies: PoolPolicies, snapshot: ServiceSnapshot | undefined): void {
    this.policies = policies;
    this.#retired = [...this.#retired, ...this.#groups.map((group) => new WeakRef(group))].filter((ref) => ref.deref());
    this.#groups = [];
    if (snapshot !== undefined) this.apply(snapshot);
  }

  /** Lets all endpoints go: no route uses the service any more. */
  close(): void {
    for (const endpoint of this.#endpoints) this.#options.onGone(endpoint);
  }

  /** Takes over the endpoints of a newer snapshot; those that stay keep their state. */
  apply(snapshot: ServiceSnapshot): void {
    const { added, kept, gone } = reconcile(this.#endpoints, snapshot.endpoints);
    const { lane, clock } = this.#options;
    const byId = new Map<number, PooledEndpoint>();
    for (const { held, facts } of kept) {
      held.sourceWeight = facts.weight;
      held.healthy = facts.healthy;
      held.labels = this.policies.keepsLabels ? { tags: facts.tags, meta: facts.meta } : null;
      byId.set(held.id, held);
    }
    for (const facts of added)
      byId.set(facts.id, new PooledEndpoint(facts, { lane, clock, keepsLabels: this.policies.keepsLabels }));
    this.#endpoints = snapshot.endpoints.flatMap(({ id }) => byId.get(id) ?? []);
    this.#regroup();
    for (const endpoint of gone) this.#options.onGone(endpoint);
  }

  /** A lease on one endpoint of the group, which the caller must release; or why there is none. */
  acquire({ group, tried, hash, failOpen, isRepeatable = true }: AcquireOptions): Lease | NoLease {
    if (this.shared.epoch() !== this.#epoch) this.#regroup();
    const nowMs = this.clock.nowMs();
    if (group.isWarmerAt(nowMs)) group.update(this.#usable, this.policies.slowStart, this.clock);
    if (group.isEmpty) return 'empty';
    const { breaker } = this.policies;
    const token = breaker === null ? PASSED : this.shared.admit(breaker, nowMs);
    if (token === REFUSED) return 'breaker';
    const probed = group.beginProbe(tried, isRepeatable ? nowMs : nowMs - PROBE_PATIENCE_MS);
    if (probed !== undefined) {
      return this.#lease({ endpoint: probed, group, isProbe: true, breakerToken: token, startedMs: nowMs });
    }
    const picked = group.pick(tried, hash);
    if (picked !== undefined) {
      return this.#lease({ endpoint: picked, group, isProbe: false, breakerToken: token, startedMs: nowMs });
    }
    if (failOpen && group.areAllEjected) {
      const desperate = this.#nextEjected(group, tried);
      if (desperate !== undefined) {
        return this.#lease({ endpoint: desperate, group, isProbe: false, breakerToken: token, startedMs: nowMs });
      }
    }
    if (breaker !== null && token !== PASSED) {
      this.shared.breakerProbeEnded({ policy: breaker, nowMs, token, isGood: null });
    }
    return group.areAllEjected && !failOpen ? 'ejected' : 'tried';
  }

  nowMs(): number {
    return this.clock.nowMs();
  }

  answered(lease: Lease, elapsedMs: number): void {
    this.#judge.answered(lease, elapsedMs);
  }

  released(lease: Lease, outcome: Outcome): void {
    this.#judge.released(lease, outcome);
  }

  trafficChanged(change: TrafficChange): void {
    this.shared.bumpEpoch();
    if (change.reason !== null) this.shared.countEjection(change.reason.trigger);
    this.#options.onTrafficChange(this.service, change);
  }

  breakerChanged(change: BreakerChange): void {
    this.#options.onBreakerChange(this.service, change);
  }

  #lease(options: LeaseOptions): Lease {
    this.shared.requestStarted();
    const lease = new Lease(this, options);
    lastOf.lease = lease;
    return lease;
  }

  /** Looks anew at who may take traffic, and who of them is set aside. */
  #regroup(): void {
    this.#epoch = this.shared.epoch();
    this.#usable = this.#endpoints.filter(({ healthy, sourceWeight, cell }) => {
      return healthy && sourceWeight > 0 && cell.operatorWord() === 'none';
    });
    const retired = this.#retired.flatMap((ref) => ref.deref() ?? []);
    for (const group of [...this.#groups, ...retired]) group.update(this.#usable, this.policies.slowStart, this.clock);
  }

  /** Fail open: the ejected endpoints take turns. */
  #nextEjected({ ejected }: Group, tried: readonly PooledEndpoint[]): PooledEndpoint | undefined {
    const from = this.shared.nextTurn();
    for (let step = 0; step < ejected.length; step++) {
      const endpoint = ejected[(from + step) % ejected.length];
      if (endpoint !== undefined && !tried.includes(endpoint)) return endpoint;
    }
    return undefined;
  }
}
