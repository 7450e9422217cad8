// The data plane of one worker: pools, routes, listeners and upstream connections, put together.
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { RouteConfig } from '../config/route-schema.ts';
import type { AccessRecord } from '../core/access-record.ts';
import type { Clock } from '../core/clock.ts';
import { FAILURE_TEXT } from '../core/failure.ts';
import type { Log } from '../core/log.ts';
import type { TrafficChange } from '../pool/lease.ts';
import { Pool } from '../pool/pool.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import { RouteTable } from '../routing/route-table.ts';
import type { GatewayCell } from '../shared/gateway-cell.ts';
import type { DegradedReason } from '../shared/service-cell.ts';
import { compileTrust, type TrustCheck } from './client-address.ts';
import { RequestHandler, refusedRecord } from './handler.ts';
import { HttpDate } from './http-date.ts';
import { Http1Upstream } from './http1-upstream.ts';
import { Listener } from './listener.ts';
import { prepareRoute, type Route } from './route.ts';
import { Sweep } from './sweep.ts';
import { WebSocketRelay } from './websocket.ts';

export interface DataPlaneOptions {
  readonly gateway: Pick<GatewayConfig, 'listen' | 'limits' | 'timeouts' | 'trustedProxies' | 'shutdown'>;
  readonly routes: readonly RouteConfig[];
  readonly routeCells: ReadonlyMap<string, SharedArrayBuffer>;
  /** Every service that a route uses. */
  readonly services: readonly ServiceSnapshot[];
  readonly cell: GatewayCell;
  readonly lane: number;
  readonly reusePort: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the record of every request; null when nobody wants it. */
  readonly onFinished: ((record: AccessRecord) => void) | null;
}

export class DataPlane {
  readonly #options: DataPlaneOptions;
  readonly #sweep: Sweep;
  readonly #upstream: Http1Upstream;
  readonly #websockets: WebSocketRelay;
  readonly #pools: ReadonlyMap<string, Pool>;
  readonly #listeners: readonly Listener[];

  constructor(options: DataPlaneOptions) {
    this.#options = options;
    const { gateway, services, cell, clock, onFinished } = options;
    this.#sweep = new Sweep(clock);
    this.#upstream = new Http1Upstream({ sweep: this.#sweep, onConnections: (by) => cell.upstreamChanged(by) });
    this.#websockets = new WebSocketRelay({ clock, onFinished, drainMs: gateway.shutdown.drainMs });
    this.#pools = new Map(services.map((snapshot) => [snapshot.service, this.#createPool(snapshot)]));
    const table = new RouteTable(this.#prepareRoutes());
    const isTrusted = compileTrust(gateway.trustedProxies);
    this.#listeners = gateway.listen.map((address) => this.#createListener(address, table, isTrusted));
  }

  /** The ports that are listened on, in the order of the configuration. */
  get ports(): number[] {
    return this.#listeners.map(({ port }) => port);
  }

  /** Takes over a newer snapshot of one service. */
  apply(snapshot: ServiceSnapshot): void {
    this.#pools.get(snapshot.service)?.apply(snapshot);
  }

  /** Resolves when all addresses accept connections; rejects when one cannot be had. */
  async listen(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.listen()));
  }

  /** Accepts no more; resolves when what is under way has ended. Tunnels end at once. */
  async drain(): Promise<void> {
    const drained = Promise.all(this.#listeners.map((listener) => listener.drain()));
    this.#websockets.stop();
    await drained;
    this.#upstream.stop();
  }

  /** Cuts everything. */
  async stop(): Promise<void> {
    this.#websockets.stop();
    for (const listener of this.#listeners) listener.stop();
    await this.drain();
  }

  #createPool(snapshot: ServiceSnapshot): Pool {
    const { lane, clock } = this.#options;
    return new Pool(snapshot, {
      lane,
      clock,
      onTrafficChange: (service, change) => this.#logTraffic(service, change),
      onGone: (endpoint) => {
        this.#upstream.forget(endpoint);
        this.#websockets.forget(endpoint);
      },
    });
  }

  #prepareRoutes() {
    const { routes, routeCells, lane, gateway } = this.#options;
    return routes.flatMap((config) => {
      const pool = this.#pools.get(config.service);
      const cell = routeCells.get(config.name);
      if (pool === undefined || cell === undefined) return [];
      const route = prepareRoute({ config, pool, cell, lane, maxBodyBytes: gateway.limits.bodyBytes });
      return [{ route, match: config.match }];
    });
  }

  #createListener(address: { host: string; port: number }, table: RouteTable<Route>, isTrusted: TrustCheck): Listener {
    const { gateway, cell, clock, reusePort, onFinished } = this.#options;
    const onDegraded = (service: string, reason: DegradedReason | null) => this.#logDegraded(service, reason);
    const services = { upstream: this.#upstream, clock, onFinished, onDegraded };
    const handler = new RequestHandler(table, {
      ...services,
      isTrusted,
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
      onRefused: (peer, situation, requestId) => onFinished?.(refusedRecord(peer, situation, requestId)),
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

  #logTraffic(service: string, { endpoint, to, why, failures, forMs }: TrafficChange): void {
    const { log } = this.#options;
    if (to === 'active') {
      log.info({ service, endpoint: endpoint.key }, 'endpoint is back in service');
      return;
    }
    const reason = why === null ? null : FAILURE_TEXT[why];
    log.warn({ service, endpoint: endpoint.key, reason, failures, forMs: Math.round(forMs) }, 'endpoint ejected');
  }

  #logDegraded(service: string, reason: DegradedReason | null): void {
    const { log } = this.#options;
    if (reason === null) log.info({ service }, 'service answers from its pool again');
    else log.warn({ service, reason }, 'service is degraded: its fallback answers');
  }
}
