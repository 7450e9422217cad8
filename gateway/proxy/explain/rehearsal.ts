// A rehearsal: the real choice of an endpoint, made on private copies of what the workers share, so that it costs nobody a turn.
import { makeBalancer } from '../../balancing/make-balancer.ts';
import type { RouteConfig } from '../../config/route-schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { GroupLabels } from '../../pool/group.ts';
import { Lease } from '../../pool/lease.ts';
import type { NoLease, Pool } from '../../pool/pool.ts';
import type { PooledEndpoint } from '../../pool/pooled-endpoint.ts';
import type { ServiceSnapshot } from '../../pool/snapshot.ts';
import { type EndpointView, viewEndpoints } from '../../pool/view.ts';
import { isIdempotent } from '../../resilience/retry.ts';
import { FULL_TENTHS } from '../../resilience/slow-start.ts';
import type { CellPlace } from '../../shared/cell.ts';
import { RouteCell } from '../../shared/route-cell.ts';
import type { RequestDescription } from '../exchange.ts';
import { PoolSet } from '../routes/pool-set.ts';
import { RouteChoice } from '../routes/route-choice.ts';
import { TrafficLog } from '../traffic-log.ts';

export interface RehearsalOptions {
  readonly config: RouteConfig;
  /** All routes of its service. */
  readonly routes: readonly RouteConfig[];
  readonly snapshot: ServiceSnapshot;
  readonly routeCell: CellPlace;
  readonly clock: Clock;
}

type Request = Pick<RequestDescription, 'method' | 'target' | 'header'>;

/** One attempt as it would be made. */
export interface RehearsedAttempt {
  readonly endpoint: string;
  /** Whether it tries an ejected endpoint whose time is over. */
  readonly isProbe: boolean;
  /** Whether an ejected endpoint is asked because there is no other. */
  readonly isDesperate: boolean;
  /** Whether it is one of the requests that decide if the breaker closes. */
  readonly isBreakerProbe: boolean;
  /** False where chance has decided. */
  readonly isCertain: boolean;
  /** The labels of the group that it was chosen from; null for the whole pool. */
  readonly labels: GroupLabels | null;
  /** The branch that serves in place of the one that the request is for; null when that one serves. */
  readonly insteadBranch: string | null;
}

export interface Rehearsed {
  /** The position of the branch that the request is for. */
  readonly branch: number;
  readonly branchLabels: readonly (string | null)[];
  /** Whether the weights have decided on the branch, and not a rule. */
  readonly isBranchByTurn: boolean;
  /** The labels of the branch that the request is for. */
  readonly wanted: GroupLabels | null;
  /** In order; empty when there is nobody to ask. */
  readonly attempts: readonly RehearsedAttempt[];
  /** Why there is no further attempt; null when the route wants no more. */
  readonly ended: NoLease | null;
  /** Whom a key belongs to however busy that endpoint is; undefined where no key decides. */
  readonly owner: string | undefined;
  /** All endpoints, and those of them that their source and the operator let take traffic, before the first attempt. */
  readonly views: readonly EndpointView[];
  readonly usable: readonly UsableEndpoint[];
}

/** An endpoint as balancers see it. */
export interface UsableEndpoint {
  readonly key: string;
  readonly weight: number;
  readonly inFlight: number;
  /** The peak-sensitive latency; 0 while nothing is known of it. */
  readonly latencyMs: number;
  readonly isEjected: boolean;
}

const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Makes the attempts of one request, each as if the one before had failed and changed nothing else. */
export function rehearse(options: RehearsalOptions, request: Request, client: string): Rehearsed {
  const { config, routes, snapshot, clock } = options;
  const copy = createCopier();
  const chance = new WatchedClock(clock);
  const copied = copySnapshot(snapshot, copy);
  const pools = new PoolSet({ lane: 0, clock: chance, log: new TrafficLog(SILENT), onGone: () => {} });
  pools.replace(routes, [copied]);
  const pool = pools.get(snapshot.service);
  if (pool === undefined) throw new Error(`no route uses ${snapshot.service}`);
  const cell = new WatchedRouteCell(copy(options.routeCell), 0);
  const choice = new RouteChoice(config, pool, cell);
  const views = viewEndpoints(copied, { clock: chance, slowStart: config.slowStart });
  // With a slow start balancers count in tenths of weights.
  const unit = config.slowStart.windowMs > 0 ? FULL_TENTHS : 1;
  const usable = pool.usable.map((endpoint) => seen(endpoint, unit));
  const branch = choice.branchFor(request);
  const hash = choice.hashOf(request, client);
  const wanted = choice.branches[branch]?.group.labels ?? null;
  const owner = hash === undefined ? undefined : ownerOf(pool, wanted, hash);
  return {
    branch,
    branchLabels: choice.branches.map(({ label }) => label),
    isBranchByTurn: cell.hasGivenSplitTurn,
    wanted,
    owner,
    views,
    usable,
    ...attempt({ config, choice, chance, branch, hash, isRepeatable: isRepeatable(request) }),
  };
}

/** Gives a private copy of each cell; cells that share a buffer share its copy. */
function createCopier(): (place: CellPlace) => CellPlace {
  const copies = new Map<SharedArrayBuffer, SharedArrayBuffer>();
  return (place) => {
    const copy = copies.get(place.buffer) ?? place.buffer.slice(0);
    copies.set(place.buffer, copy);
    return { ...place, buffer: copy };
  };
}

function copySnapshot(snapshot: ServiceSnapshot, copy: (place: CellPlace) => CellPlace): ServiceSnapshot {
  const endpoints = snapshot.endpoints.map((endpoint) => ({ ...endpoint, cell: copy(endpoint.cell) }));
  return { ...snapshot, cell: copy(snapshot.cell), endpoints };
}

interface AttemptParts {
  readonly config: RouteConfig;
  readonly choice: RouteChoice;
  readonly chance: WatchedClock;
  readonly branch: number;
  readonly hash: number | undefined;
  readonly isRepeatable: boolean;
}

/** As attempts.ts does. */
function isRepeatable(request: Request): boolean {
  return isIdempotent(request.method) || request.header('idempotency-key') !== undefined;
}

function attempt(parts: AttemptParts): Pick<Rehearsed, 'attempts' | 'ended'> {
  const { config, choice, chance, branch, hash, isRepeatable } = parts;
  const failOpen = config.fallback === null || !config.fallback.on.includes('unreachable');
  const tried: PooledEndpoint[] = [];
  const attempts: RehearsedAttempt[] = [];
  while (attempts.length < config.retry.attempts) {
    chance.hasDecided = false;
    const lease = choice.acquire(branch, { tried, hash, failOpen, isRepeatable });
    if (!(lease instanceof Lease)) return { attempts, ended: lease };
    const { endpoint, group, isProbe, breakerToken } = lease;
    const label = choice.branches.find((each) => each.group === group)?.label ?? null;
    attempts.push({
      endpoint: endpoint.key,
      isProbe,
      isDesperate: !isProbe && endpoint.cell.isEjected(),
      isBreakerProbe: breakerToken > 0,
      isCertain: !chance.hasDecided,
      labels: group.labels,
      insteadBranch: group === choice.branches[branch]?.group ? null : label,
    });
    tried.push(endpoint);
    lease.release('client_gone');
  }
  return { attempts, ended: null };
}

function ownerOf(pool: Pool, labels: GroupLabels | null, hash: number): string | undefined {
  const balancer = makeBalancer<PooledEndpoint>(
    { kind: 'consistent_hash', boundedLoad: Number.POSITIVE_INFINITY },
    { nextTurn: () => 0, random: () => 0, totalInFlight: () => 0 },
  );
  return pool.addGroup({ labels, balancer }).pick([], hash)?.key;
}

function seen(endpoint: PooledEndpoint, unit: number): UsableEndpoint {
  const { key, cell } = endpoint;
  const weight = endpoint.weight / unit;
  return { key, weight, inFlight: endpoint.inFlight(), latencyMs: endpoint.latencyMs(), isEjected: cell.isEjected() };
}

/** Stands still, and notes whether somebody has asked it for chance. */
class WatchedClock implements Clock {
  hasDecided = false;
  readonly #clock: Clock;
  readonly #nowMs: number;
  readonly #wallMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#nowMs = clock.nowMs();
    this.#wallMs = clock.wallMs();
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  random(): number {
    this.hasDecided = true;
    return this.#clock.random();
  }
}

/** Notes whether the split has asked whose turn it is. */
class WatchedRouteCell extends RouteCell {
  hasGivenSplitTurn = false;

  override nextSplitTurn(): number {
    this.hasGivenSplitTurn = true;
    return super.nextSplitTurn();
  }
}
