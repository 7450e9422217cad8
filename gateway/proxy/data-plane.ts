// The data plane of one worker: pools, routes, listeners and upstream connections, put together.
import type { Gatekeeper } from '../access/gatekeeper.ts';
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { ListenerConfig, TlsConfig } from '../config/listener-schema.ts';
import type { RouteConfig } from '../config/route-schema.ts';
import type { AccessRecord } from '../core/access-record.ts';
import { formatAddress } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import { forgetLast } from '../core/last-of-kind.ts';
import type { Log } from '../core/log.ts';
import { compileNetworks } from '../core/networks.ts';
import type { Tracer } from '../core/tracing.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import { RouteTable } from '../routing/route-table.ts';
import type { CellPlace } from '../shared/cell.ts';
import type { GatewayCell } from '../shared/gateway-cell.ts';
import { LimitTable } from '../shared/limit-table.ts';
import type { TlsCell } from '../shared/tls-cell.ts';
import { materialKey, type TlsInForce } from '../tls/served-certificate.ts';
import { type KeptUnder, StaleCache } from './answers/stale-cache.ts';
import { compileTrust, type TrustCheck } from './client-address.ts';
import { isUpgradable } from './exchange.ts';
import { HttpDate } from './front/http-date.ts';
import { Listener, type ListenerTls, type ProxyProtocol } from './front/listener.ts';
import { refusedRecord } from './front/refused-record.ts';
import { RequestHandler, type RoutesInPlace, type RouteTableHolder } from './handler.ts';
import type { TakeRecord } from './routed-request.ts';
import { PoolSet } from './routes/pool-set.ts';
import { prepareRoute } from './routes/route.ts';
import { Sweep } from './sweep.ts';
import { TrafficLog } from './traffic-log.ts';
import type { Upstream, UpstreamTarget } from './upstream/upstream.ts';
import { Upstreams } from './upstream/upstreams.ts';
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
  readonly tls: TlsInForce;
  readonly tlsCounts: TlsCell;
  readonly cell: GatewayCell;
  readonly lane: number;
  readonly reusePort: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the record of every request; null when nobody wants it. */
  readonly onFinished: ((record: AccessRecord) => void) | null;
  /** Gives an answer that was kept for the fallback to the other workers. */
  readonly onKept: (kept: KeptUnder) => void;
  readonly gatehouse: Gatehouse;
  /** Absent or null: nothing is traced, and the trace context of clients passes as it is. */
  readonly tracer: Tracer | null;
}

/** Where the gatekeepers of routes come from. */
export interface Gatehouse {
  /** Those of these routes by their names, in place of the ones before. */
  prepare(routes: readonly RouteConfig[]): ReadonlyMap<string, Gatekeeper>;
  stop(): Promise<void>;
}

export class DataPlane {
  readonly #options: DataPlaneOptions;
  readonly #sweep: Sweep;
  readonly #upstream: Upstream;
  readonly #websockets: WebSocketRelay;
  readonly #log: TrafficLog;
  readonly #pools: PoolSet;
  readonly #table: RouteTableHolder;
  readonly #staleCache: StaleCache;
  /** The servers of fallbacks, each once: their connections outlive a change of the routes. */
  #fallbackTargets: ReadonlyMap<string, UpstreamTarget> = new Map();
  readonly #listeners: readonly Listener[];
  readonly #onFinished: TakeRecord | null;

  constructor(options: DataPlaneOptions) {
    this.#options = options;
    const { gateway, cell, clock, lane, onKept } = options;
    const onFinished = options.tracer !== null ? tracing(options.onFinished) : options.onFinished;
    this.#onFinished = onFinished;
    this.#log = new TrafficLog(options.log);
    this.#sweep = new Sweep(clock);
    this.#upstream = new Upstreams({ sweep: this.#sweep, onConnections: (by) => cell.upstreamChanged(by) });
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
    this.#listeners = gateway.listen.map((listener) => this.#createListener(listener, isTrusted));
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
    forgetLast();
  }

  /** Puts other certificates in force, for connections that come from now on. */
  replaceCertificates({ materials, ticketKeys }: TlsInForce): void {
    for (const [at, { tls }] of this.#options.gateway.listen.entries()) {
      const material = tls === null ? undefined : materials.get(materialKey(tls));
      if (material !== undefined) this.#listeners[at]?.replaceCertificates(material, ticketKeys);
    }
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
    const untilMs = this.#options.clock.nowMs() + tunnelsMs;
    await Promise.all([...this.#listeners.map((listener) => listener.drain()), this.#websockets.drain(tunnelsMs)]);
    // Requests that were being checked may have opened tunnels since.
    await this.#websockets.drain(Math.max(0, untilMs - this.#options.clock.nowMs()));
    this.#upstream.stop();
    await this.#options.gatehouse.stop();
  }

  /** Cuts everything. */
  async stop(): Promise<void> {
    this.#websockets.stop();
    for (const listener of this.#listeners) listener.stop();
    await this.drain();
  }

  #prepareTable({ routes, routeCells, limitTable, services }: Routing): RoutesInPlace {
    const { lane, gateway, gatehouse } = this.#options;
    const gatekeepers = gatehouse.prepare(routes);
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
        const gatekeeper = gatekeepers.get(config.name) ?? null;
        const { bodyBytes: maxBodyBytes } = gateway.limits;
        const parts = { config, pool, cell, lane, gatekeeper, limitTable: table, maxBodyBytes };
        return [{ route: prepareRoute({ ...parts, targetOf }), match: config.match }];
      }),
    );
    for (const [key, target] of this.#fallbackTargets) if (!targets.has(key)) this.#upstream.forget(target);
    this.#fallbackTargets = targets;
    return { table: prepared, isGuarded: gatekeepers.size > 0 };
  }

  #createListener(config: ListenerConfig, isTrusted: TrustCheck): Listener {
    const { gateway, cell, clock, reusePort } = this.#options;
    const proto = config.tls === null ? 'http' : 'https';
    const handler = new RequestHandler(this.#table, {
      upstream: this.#upstream,
      clock,
      onFinished: this.#onFinished,
      tracer: this.#options.tracer,
      staleCache: this.#staleCache,
      onDegraded: (service, reason) => this.#log.degraded(service, reason),
      isTrusted,
      onUnrouted: (situation) => {
        if (situation === null) return;
        cell.countUnrouted(situation === 'no_route' || situation === 'redirected' ? situation : 'refused');
      },
      proto,
      redirect: config.redirect,
      portLine: `X-Forwarded-Port: ${config.port}\r\n`,
      openTunnel: (exchange, described) => {
        if (isUpgradable(exchange)) listener.openTunnel(exchange, described);
      },
    });
    const listener = new Listener({
      host: config.host,
      port: config.port,
      tls: config.tls === null ? null : this.#tlsOf(config.tls),
      hasHttp2: config.http2,
      proxyProtocol: this.#proxyProtocolOf(config.proxyProtocol),
      hsts: config.hsts,
      reusePort,
      limits: gateway.limits,
      timeouts: gateway.timeouts,
      cell,
      isTrusted,
      sweep: this.#sweep,
      date: new HttpDate(clock, this.#sweep),
      onRefused: (peer, situation, requestId) => {
        cell.countUnrouted('refused');
        this.#onFinished?.(refusedRecord({ peer, situation, requestId, scheme: proto }), null);
      },
      onRequest: (exchange, options) => handler.handle(exchange, options),
      onUpgrade: (upgrade) => this.#websockets.open(upgrade),
    });
    return listener;
  }

  #proxyProtocolOf(senders: readonly string[]): ProxyProtocol | null {
    if (senders.length === 0) return null;
    const { cell, log } = this.#options;
    return {
      isSender: compileNetworks(senders),
      onFailed: ({ address: peer }, reason) => {
        cell.countProxyHeaderFailure(reason);
        log.debug({ peer, reason }, 'connection without a PROXY header');
      },
    };
  }

  #tlsOf(config: TlsConfig): ListenerTls {
    const { tls, tlsCounts, log } = this.#options;
    const material = tls.materials.get(materialKey(config));
    if (material === undefined) throw new Error('a listener has no certificate');
    return {
      config,
      material,
      ticketKeys: tls.ticketKeys,
      counts: tlsCounts,
      onFailed: ({ address }, reason, code) => log.debug({ client: address, reason, code }, 'handshake failed'),
    };
  }
}

/** Ends the trace of a request by its record, before others take that. */
function tracing(onFinished: ((record: AccessRecord) => void) | null): TakeRecord {
  return (record, trace) => {
    trace?.end(record);
    onFinished?.(record);
  };
}
