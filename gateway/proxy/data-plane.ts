// The data plane of one worker: pools, routes, listeners and upstream connections, put together.
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { RouteConfig } from '../config/route-schema.ts';
import type { AccessRecord } from '../core/access-record.ts';
import { formatAddress } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import { RouteTable } from '../routing/route-table.ts';
import type { CellPlace } from '../shared/cell.ts';
import type { GatewayCell } from '../shared/gateway-cell.ts';
import { LimitTable } from '../shared/limit-table.ts';
import { compileTrust, type TrustCheck } from './client-address.ts';
import { RequestHandler, type RouteTableHolder, refusedRecord } from './handler.ts';
import { HttpDate } from './http-date.ts';
import { Http1Upstream } from './http1-upstream.ts';
import { Listener } from './listener.ts';
import { PoolSet } from './pool-set.ts';
import { prepareRoute, type Route } from './route.ts';
import { type KeptUnder, StaleCache } from './stale-cache.ts';
import { Sweep } from './sweep.ts';
import { TrafficLog } from './traffic-log.ts';
import type { UpstreamTarget } from './upstream.ts';
import { WebSocketRelay } from './websocket.ts';

/** The routes in force, and what their requests share with those of other workers. */
export interface Routing {
  readonly routes: readonly RouteConfig[];
  readonly routeCells: ReadonlyMap<string, CellPlace>;
  /** For the rate limits; null where no route has any. */
  readonly limitTable: SharedArrayBuffer | null;
  /** Every service that a route uses, also those whose pool is still empty. */
  readonly services: readonly ServiceSnapshot[];
}

export interface DataPlaneOptions {
  readonly gateway: Pick<
    GatewayConfig,
    'listen' | 'limits' | 'timeouts' | 'trustedProxies' | 'shutdown' | 'degradedCache'
  >;
  readonly routing: Routing;
  readonly cell: GatewayCell;
  readonly lane: number;
  readonly reusePort: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the record of every request; null when nobody wants it. */
  readonly onFinished: ((record: AccessRecord) => void) | null;
  /** Gives an answer that was kept for the fallback to the other workers. */
  readonly onKept: (kept: KeptUnder) => void;
}

export class DataPlane {
  readonly #options: DataPlaneOptions;
  readonly #sweep: Sweep;
  readonly #upstream: Http1Upstream;
  readonly #websockets: WebSocketRelay;
  readonly #log: TrafficLog;
  readonly #pools: PoolSet;
  readonly #table: RouteTableHolder;
  readonly #staleCache: StaleCache;
  /** The servers of fallbacks, each once: their connections outlive a change of the routes. */
  #fallbackTargets: ReadonlyMap<string, UpstreamTarget> = new Map();
  readonly #listeners: readonly Listener[];

  constructor(options: DataPlaneOptions) {
    this.#options = options;
    const { gateway, cell, clock, lane, onFinished, onKept } = options;
    this.#log = new TrafficLog(options.log);
    this.#sweep = new Sweep(clock);
    this.#upstream = new Http1Upstream({ sweep: this.#sweep, onConnections: (by) => cell.upstreamChanged(by) });
    this.#websockets = new WebSocketRelay({ clock, onFinished, drainMs: gateway.shutdown.drainMs });
    this.#staleCache = new StaleCache({ ...gateway.degradedCache, onKept });
    this.#pools = new PoolSet({
      lane,
      clock,
      log: this.#log,
      onGone: (endpoint) => {
        this.#upstream.forget(endpoint);
        this.#websockets.forget(endpoint);
      },
    });
    this.#table = { current: this.#prepareTable(options.routing) };
    const isTrusted = compileTrust(gateway.trustedProxies);
    this.#listeners = gateway.listen.map((address) => this.#createListener(address, isTrusted));
  }

  /** The ports that are listened on, in the order of the configuration. */
  get ports(): number[] {
    return this.#listeners.map(({ port }) => port);
  }

  /** Takes over a newer snapshot of one service. */
  apply(snapshot: ServiceSnapshot): void {
    this.#pools.apply(snapshot);
  }

  /** Puts other routes in force by one assignment; requests under way go on by those that they came under. */
  replaceRoutes(routing: Routing): void {
    this.#table.current = this.#prepareTable(routing);
  }

  /** Takes over an answer that another worker keeps for the fallback. */
  takeKept(kept: KeptUnder): void {
    this.#staleCache.take(kept);
  }

  /** Resolves when all addresses accept connections; rejects when one cannot be had. */
  async listen(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.listen()));
  }

  /** Accepts no more; resolves when what is under way has ended, at the latest after `tunnelsMs` the tunnels. */
  async drain(tunnelsMs = 0): Promise<void> {
    await Promise.all([...this.#listeners.map((listener) => listener.drain()), this.#websockets.drain(tunnelsMs)]);
    this.#upstream.stop();
  }

  /** Cuts everything. */
  async stop(): Promise<void> {
    this.#websockets.stop();
    for (const listener of this.#listeners) listener.stop();
    await this.drain();
  }

  #prepareTable({ routes, routeCells, limitTable, services }: Routing): RouteTable<Route> {
    const { lane, gateway } = this.#options;
    this.#pools.replace(routes, services);
    const table = limitTable === null ? null : new LimitTable(limitTable);
    const targets = new Map<string, UpstreamTarget>();
    const targetOf = (host: string, port: number): UpstreamTarget => {
      const key = formatAddress(host, port);
      const target = targets.get(key) ?? this.#fallbackTargets.get(key) ?? { key, host, port };
      targets.set(key, target);
      return target;
    };
    const prepared = new RouteTable(
      routes.flatMap((config) => {
        const pool = this.#pools.get(config.service);
        const cell = routeCells.get(config.name);
        if (pool === undefined || cell === undefined) return [];
        const parts = { config, pool, cell, lane, limitTable: table, maxBodyBytes: gateway.limits.bodyBytes };
        return [{ route: prepareRoute({ ...parts, targetOf }), match: config.match }];
      }),
    );
    for (const [key, target] of this.#fallbackTargets) if (!targets.has(key)) this.#upstream.forget(target);
    this.#fallbackTargets = targets;
    return prepared;
  }

  #createListener(address: { host: string; port: number }, isTrusted: TrustCheck): Listener {
    const { gateway, cell, clock, reusePort, onFinished } = this.#options;
    const handler = new RequestHandler(this.#table, {
      upstream: this.#upstream,
      clock,
      onFinished,
      staleCache: this.#staleCache,
      onDegraded: (service, reason) => this.#log.degraded(service, reason),
      isTrusted,
      onUnrouted: (situation) => {
        if (situation !== null) cell.countUnrouted(situation === 'no_route' ? 'no_route' : 'refused');
      },
      portLine: `X-Forwarded-Port: ${address.port}\r\n`,
    });
    return new Listener({
      ...address,
      reusePort,
      limits: gateway.limits,
      timeouts: gateway.timeouts,
      cell,
      isTrusted,
      sweep: this.#sweep,
      date: new HttpDate(clock),
      onRefused: (peer, situation, requestId) => {
        cell.countUnrouted('refused');
        onFinished?.(refusedRecord(peer, situation, requestId));
      },
      onRequest: (exchange, options) => handler.handle(exchange, options),
      describeUpgrade: (request, options) => {
        const route = handler.findRoute(request);
        if (typeof route === 'string' || !route.config.websocket) return undefined;
        const described = handler.describe(request, route, options);
        return typeof described === 'string' ? undefined : described;
      },
      onUpgrade: (upgrade) => this.#websockets.open(upgrade),
    });
  }
}
