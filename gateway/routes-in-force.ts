// The routes that are in force, with the shared memory that each of them keeps as long as it is.
import type { RouteConfig, RouteSource } from './config/route-schema.ts';
import type { SlowStartPolicy } from './resilience/slow-start.ts';
import type { CellPlace } from './shared/cell.ts';
import { allocateLimitTable } from './shared/limit-table.ts';
import { allocateRouteCell } from './shared/route-cell.ts';
import { allocateSourceCell } from './shared/source-cell.ts';

const SOURCES: readonly RouteSource[] = ['consul', 'registry', 'dns', 'etcd', 'static'];

/** Keys of rate limits that are remembered at a time; memory is taken as they come, up to some 25 MB. */
const LIMIT_ENTRIES = 2 ** 18;

const NO_SLOW_START: SlowStartPolicy = { windowMs: 0, minPercent: 100 };

/** The services of routes, and the source of each. */
export function servicesOf(routes: readonly RouteConfig[]): Map<string, string> {
  return new Map(routes.map(({ service, source }) => [service, source]));
}

export class RoutesInForce {
  readonly #lanes: number;
  #routes: readonly RouteConfig[] = [];
  #cells: ReadonlyMap<string, CellPlace> = new Map();
  readonly #sourceCells: ReadonlyMap<string, CellPlace>;
  #limitTable: SharedArrayBuffer | null = null;

  constructor(routes: readonly RouteConfig[], lanes: number) {
    this.#lanes = lanes;
    this.#sourceCells = new Map(SOURCES.map((name) => [name, allocateSourceCell(lanes)]));
    this.replace(routes);
  }

  get routes(): readonly RouteConfig[] {
    return this.#routes;
  }

  /** By the name of the route. */
  get cells(): ReadonlyMap<string, CellPlace> {
    return this.#cells;
  }

  /** By the name of the source, of all that there are: workers are born with them. */
  get sourceCells(): ReadonlyMap<string, CellPlace> {
    return this.#sourceCells;
  }

  get limitTable(): SharedArrayBuffer | null {
    return this.#limitTable;
  }

  /** The cells of the sources that a route uses. */
  usedSourceCells(): Map<string, CellPlace> {
    const used = new Set<string>(this.#routes.map(({ source }) => source));
    return new Map([...this.#sourceCells].filter(([name]) => used.has(name)));
  }

  /** Puts other routes in force; those that stay keep their cells. */
  replace(routes: readonly RouteConfig[]): void {
    const before = this.#cells;
    this.#routes = routes;
    this.#cells = new Map(routes.map(({ name }) => [name, before.get(name) ?? allocateRouteCell(this.#lanes)]));
    if (routes.some(({ rateLimit }) => rateLimit.length > 0)) {
      this.#limitTable ??= allocateLimitTable({ entries: LIMIT_ENTRIES });
    }
  }

  /** The slow start of a service's endpoints. */
  slowStart(service: string): SlowStartPolicy {
    return this.#ofService(service)?.slowStart ?? NO_SLOW_START;
  }

  /** The balancing policies of a service's routes, each once. */
  balancePolicies(service: string): string[] {
    const policies = this.#routes.filter((route) => route.service === service).map(({ balance }) => balance.policy);
    return [...new Set(policies)];
  }

  hasBreaker(service: string): boolean {
    return (this.#ofService(service)?.breaker ?? null) !== null;
  }

  #ofService(service: string): RouteConfig | undefined {
    return this.#routes.find((route) => route.service === service);
  }
}
