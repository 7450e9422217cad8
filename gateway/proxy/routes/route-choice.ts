// Which endpoints a request of a route may go to: the branches of its split, and the key for consistent hashing.
import { hashKey } from '../../balancing/key-hash.ts';
import { makeBalancer } from '../../balancing/make-balancer.ts';
import { type TurnOrder, turnOrder } from '../../balancing/turn-order.ts';
import type { RouteConfig } from '../../config/route-schema.ts';
import type { Group, GroupLabels } from '../../pool/group.ts';
import type { Lease } from '../../pool/lease.ts';
import type { AcquireOptions, NoLease, Pool } from '../../pool/pool.ts';
import type { RouteCell } from '../../shared/route-cell.ts';
import type { RequestDescription } from '../exchange.ts';
import { cookieOf, type KeyPart, requestKey } from './request-key.ts';

/** One branch of a split; a route without one has a single branch. */
export interface Branch {
  readonly group: Group;
  /** How logs call it: its labels; null for the only one. */
  readonly label: string | null;
  readonly when: RouteConfig['split'][number]['when'];
  /** Whether it stands in for others that have no endpoint: one without weight is for its rule alone. */
  readonly isSubstitute: boolean;
}

type Request = Pick<RequestDescription, 'target' | 'header'>;

export class RouteChoice {
  readonly branches: readonly Branch[];
  readonly #hashPart: KeyPart | null;
  readonly #order: TurnOrder | null;
  readonly #hasRules: boolean;
  readonly #cell: RouteCell;
  readonly #pool: Pool;

  constructor(config: RouteConfig, pool: Pool, cell: RouteCell) {
    const { split, balance } = config;
    this.#cell = cell;
    this.#pool = pool;
    this.#hashPart = balance.hash;
    this.branches = split.length === 0 ? [onlyBranch(config, pool, cell)] : branchesOf(config, pool, cell);
    this.#hasRules = split.some(({ when }) => when !== null);
    // Weights of 0 have no turn, and each branch keeps its place.
    this.#order = split.length === 0 ? null : orderOf(split.map(({ weight }) => weight));
  }

  /** The number of the branch for a request: the first whose rule holds, else by weight, exactly over all workers. */
  branchFor(request: Request): number {
    if (this.#order === null) return 0;
    if (this.#hasRules) {
      const ruled = this.branches.findIndex(({ when }) => when !== null && holds(when, request));
      if (ruled !== -1) return ruled;
    }
    return this.#order(this.#cell.nextSplitTurn());
  }

  /** A lease on an endpoint of the branch that the request is for; where that has none left, of the next one that has. */
  acquire(wanted: number, options: Omit<AcquireOptions, 'group'>): Lease | NoLease {
    if (this.branches.length === 1 || !options.failOpen) return this.#acquireFrom(wanted, options);
    // A good endpoint of another branch is better than one that is set aside.
    const acquired = this.#acquireFrom(wanted, { ...options, failOpen: false });
    return acquired === 'ejected' || acquired === 'tried' ? this.#acquireFrom(wanted, options) : acquired;
  }

  #acquireFrom(wanted: number, options: Omit<AcquireOptions, 'group'>): Lease | NoLease {
    const { tried, hash, failOpen, isRepeatable = true } = options;
    let first: NoLease = 'empty';
    for (let step = 0; step < this.branches.length; step++) {
      const branch = this.branches[(wanted + step) % this.branches.length];
      if (branch === undefined || (step > 0 && !branch.isSubstitute)) continue;
      const { group } = branch;
      const acquired = this.#pool.acquire({ group, tried, hash, failOpen, isRepeatable });
      if (typeof acquired !== 'string' || acquired === 'breaker') return acquired;
      if (first === 'empty') first = acquired;
    }
    return first;
  }

  /** How logs call the branch that served a request for branch `wanted`; null without a split. */
  labelOf(served: Group | undefined, wanted: number): string | null {
    const intended = this.branches[wanted]?.label ?? null;
    if (served === undefined || intended === null || served === this.branches[wanted]?.group) return intended;
    return `${this.branches.find(({ group }) => group === served)?.label} instead of ${intended}`;
  }

  /** The hash of the request's key; undefined where the policy needs none or the request has none. */
  hashOf(request: Request, client: string): number | undefined {
    if (this.#hashPart === null) return undefined;
    const key = requestKey(this.#hashPart, request, client);
    return key === undefined ? undefined : hashKey(key);
  }
}

function onlyBranch(config: RouteConfig, pool: Pool, cell: RouteCell): Branch {
  const labels = hasLabels(config.subset) ? config.subset : null;
  // Round robins that take the whole pool share its turns: so each endpoint gets its share over all of them.
  const isShared = labels === null && config.balance.policy === 'weighted_round_robin';
  const nextTurn = isShared ? () => pool.shared.nextTurn() : () => cell.nextGroupTurn(0);
  return { group: addGroup({ config, pool, labels, nextTurn }), label: null, when: null, isSubstitute: false };
}

function branchesOf(config: RouteConfig, pool: Pool, cell: RouteCell): Branch[] {
  const { subset } = config;
  return config.split.map(({ weight, tags, meta, when }, at) => {
    const labels = { tags: [...subset.tags, ...tags], meta: { ...subset.meta, ...meta } };
    const group = addGroup({ config, pool, labels, nextTurn: () => cell.nextGroupTurn(at) });
    return { group, label: labelOf({ tags, meta }, at), when, isSubstitute: weight > 0 };
  });
}

interface GroupParts {
  readonly config: RouteConfig;
  readonly pool: Pool;
  readonly labels: GroupLabels | null;
  readonly nextTurn: () => number;
}

function addGroup({ config, pool, labels, nextTurn }: GroupParts): Group {
  const { policy, hash } = config.balance;
  const balancer = makeBalancer<Pool['usable'][number]>(
    { kind: policy, ...(hash !== null && { boundedLoad: hash.boundedLoad }) },
    { nextTurn, random: () => pool.clock.random(), totalInFlight: () => pool.shared.inFlight() },
  );
  return pool.addGroup({ labels: labels !== null && hasLabels(labels) ? labels : null, balancer });
}

function hasLabels({ tags, meta }: GroupLabels): boolean {
  return tags.length > 0 || Object.keys(meta).length > 0;
}

function labelOf({ tags, meta }: GroupLabels, at: number): string {
  const words = [...tags, ...Object.entries(meta).map(([key, value]) => `${key}=${value}`)];
  return words.length === 0 ? `#${at + 1}` : words.join('+');
}

/** Positions with weight 0 are left out of the turns. */
function orderOf(weights: readonly number[]): TurnOrder {
  const positions = weights.flatMap((weight, at) => (weight > 0 ? [at] : []));
  const order = turnOrder(weights.filter((weight) => weight > 0));
  return (turn) => positions[order(turn)] ?? 0;
}

function holds(when: NonNullable<Branch['when']>, request: Request): boolean {
  const value = when.on === 'header' ? request.header(when.name) : cookieOf(request.header('cookie') ?? '', when.name);
  return value !== undefined && (when.equals === '*' || value === when.equals);
}
