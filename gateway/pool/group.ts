// The part of a pool that one route, or one branch of its split, chooses from; with its own balancer.
import type { Balancer } from '../balancing/balancer.ts';
import type { Clock } from '../core/clock.ts';
import { FULL_TENTHS, nextStepMs, type SlowStartPolicy, warmTenths } from '../resilience/slow-start.ts';
import type { PooledEndpoint } from './pooled-endpoint.ts';

/** What an endpoint must carry to belong to a group: all of the tags, and each meta entry with this value. */
export interface GroupLabels {
  readonly tags: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
}

export interface GroupOptions {
  /** null for all endpoints of the pool. */
  readonly labels: GroupLabels | null;
  readonly balancer: Balancer<PooledEndpoint>;
}

export class Group {
  readonly labels: GroupLabels | null;
  readonly #balancer: Balancer<PooledEndpoint>;
  /** Those that their source and the operator let take traffic. */
  #usable: readonly PooledEndpoint[] = [];
  /** Those of them that traffic has set aside. */
  #ejected: readonly PooledEndpoint[] = [];
  /** When the weight of an endpoint that warms up grows next, in ms of the shared clock. */
  #nextWarmMs = Number.POSITIVE_INFINITY;

  constructor({ labels, balancer }: GroupOptions) {
    this.labels = labels;
    this.#balancer = balancer;
  }

  get isEmpty(): boolean {
    return this.#usable.length === 0;
  }

  get areAllEjected(): boolean {
    return this.#ejected.length === this.#usable.length;
  }

  get ejected(): readonly PooledEndpoint[] {
    return this.#ejected;
  }

  /** Takes the endpoints of the pool that may take traffic, and sorts out those that are set aside. */
  update(usable: readonly PooledEndpoint[], slowStart: SlowStartPolicy, clock: Clock): void {
    const { labels } = this;
    this.#usable = labels === null ? usable : usable.filter((endpoint) => hasLabels(endpoint, labels));
    const active: PooledEndpoint[] = [];
    const ejected: PooledEndpoint[] = [];
    for (const endpoint of this.#usable) (endpoint.cell.isEjected() ? ejected : active).push(endpoint);
    this.#ejected = ejected;
    this.#nextWarmMs = weigh(active, slowStart, clock.nowMs());
    this.#balancer.update(active);
  }

  /** Whether the weights must be looked at again. */
  isWarmerAt(nowMs: number): boolean {
    return nowMs >= this.#nextWarmMs;
  }

  pick(tried: readonly PooledEndpoint[], hash: number | undefined): PooledEndpoint | undefined {
    return this.#balancer.pick(tried, hash);
  }

  /** An ejected endpoint whose time is over, and which this request may try. */
  beginProbe(tried: readonly PooledEndpoint[], nowMs: number): PooledEndpoint | undefined {
    for (const endpoint of this.#ejected) {
      if (!tried.includes(endpoint) && endpoint.cell.beginProbe(nowMs)) return endpoint;
    }
    return undefined;
  }
}

function hasLabels({ labels }: PooledEndpoint, wanted: GroupLabels): boolean {
  if (labels === null) return false;
  const { tags, meta } = labels;
  return (
    wanted.tags.every((tag) => tags.includes(tag)) &&
    Object.entries(wanted.meta).every(([key, value]) => Object.hasOwn(meta, key) && meta[key] === value)
  );
}

/**
 * Sets the weights by how warm each endpoint is; gives when they change next. With slow start all are tenths, so that
 * the proportions are right in whole numbers: in every group alike, for they choose from the same endpoints.
 */
function weigh(endpoints: readonly PooledEndpoint[], slowStart: SlowStartPolicy, nowMs: number): number {
  let nextMs = Number.POSITIVE_INFINITY;
  for (const endpoint of endpoints) {
    const since = slowStart.windowMs > 0 ? endpoint.cell.warmingSinceMs() : null;
    const unit = slowStart.windowMs > 0 ? FULL_TENTHS : 1;
    endpoint.weight = endpoint.sourceWeight * (since === null ? unit : warmTenths(slowStart, nowMs - since));
    if (since !== null) nextMs = Math.min(nextMs, nowMs + nextStepMs(slowStart, nowMs - since));
  }
  return nextMs;
}
