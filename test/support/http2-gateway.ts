// The whole request path behind HTTP/2 connections in this thread: plain sockets with prior knowledge, on a free port.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Gatehouse } from '../../gateway/auth/gatehouse.ts';
import { gatewaySchema } from '../../gateway/config/gateway-schema.ts';
import { type RouteConfig, routeSchema } from '../../gateway/config/route-schema.ts';
import type { AccessRecord } from '../../gateway/core/access-record.ts';
import { systemClock } from '../../gateway/core/clock.ts';
import { Catalog } from '../../gateway/pool/catalog.ts';
import { type EndpointView, viewEndpoints } from '../../gateway/pool/view.ts';
import { compileTrust, describePeer } from '../../gateway/proxy/client-address.ts';
import type { HostedConnection } from '../../gateway/proxy/front/connection-host.ts';
import { HttpDate } from '../../gateway/proxy/front/http-date.ts';
import { refusedRecord } from '../../gateway/proxy/front/refused-record.ts';
import { RequestHandler } from '../../gateway/proxy/handler.ts';
import { Http2Connection, type Http2Host } from '../../gateway/proxy/http2/http2-connection.ts';
import { PoolSet } from '../../gateway/proxy/routes/pool-set.ts';
import { prepareRoute } from '../../gateway/proxy/routes/route.ts';
import { Sweep } from '../../gateway/proxy/sweep.ts';
import { TrafficLog } from '../../gateway/proxy/traffic-log.ts';
import { Upstreams } from '../../gateway/proxy/upstream/upstreams.ts';
import { RouteTable } from '../../gateway/routing/route-table.ts';
import { allocateRouteCell } from '../../gateway/shared/route-cell.ts';
import { endpoint } from './endpoints.ts';

export interface Http2GatewayOptions {
  /** Ports on 127.0.0.1. */
  readonly endpoints: readonly number[];
  /** Parts of the route file, as its YAML would give them. */
  readonly route?: Readonly<Record<string, unknown>>;
  /** Parts of gateway.yaml, as its YAML would give them. */
  readonly gateway?: Readonly<Record<string, unknown>>;
  /** The Strict-Transport-Security line of the listener; none by default. */
  readonly hstsLine?: string;
}

export interface Http2Gateway {
  readonly port: number;
  readonly records: AccessRecord[];
  endpoints(): EndpointView[];
  /** Open connections of clients. */
  connections(): number;
  /** Resolves when every connection has had its last answer. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

const LANES = 1;

export async function startHttp2Gateway(options: Http2GatewayOptions): Promise<Http2Gateway> {
  const { limits, timeouts } = gatewaySchema.parse(options.gateway ?? {});
  const given = routeSchema.parse({ service: 's', match: [{ paths: ['/*'] }], ...options.route });
  const config: RouteConfig = { name: 'r', file: 'r.yaml', ...given, source: 'static' };
  const catalog = new Catalog(['s'], { lanes: LANES, clock: systemClock });
  catalog.update(
    's',
    options.endpoints.map((port) => endpoint(port)),
  );
  const records: AccessRecord[] = [];
  const sweep = new Sweep(systemClock);
  const upstream = new Upstreams({ sweep, onConnections: () => undefined });
  const ignore = (): void => undefined;
  const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const log = new TrafficLog(silent);
  const gatehouse = new Gatehouse({ clock: systemClock, log: silent });
  const pools = new PoolSet({ lane: 0, clock: systemClock, log, onGone: (gone) => upstream.forget(gone) });
  pools.replace([config], catalog.all());
  const pool = pools.get('s');
  if (pool === undefined) throw new Error('the service has no pool');
  const route = prepareRoute({
    config,
    pool,
    cell: allocateRouteCell(LANES),
    lane: 0,
    gatekeeper: gatehouse.prepare([config]).get('r') ?? null,
    limitTable: null,
    maxBodyBytes: limits.bodyBytes,
    targetOf: (host, port) => ({ key: `${host}:${port}`, host, port }),
  });
  const isTrusted = compileTrust([]);
  const handler = new RequestHandler(
    { current: { table: new RouteTable([{ route, match: config.match }]), isGuarded: route.gatekeeper !== null } },
    {
      upstream,
      clock: systemClock,
      onFinished: (record) => records.push(record),
      staleCache: null,
      onDegraded: ignore,
      isTrusted,
      onUnrouted: ignore,
      proto: 'http',
      redirect: null,
      portLine: 'X-Forwarded-Port: 1\r\n',
      openTunnel: ignore,
      tracer: null,
    },
  );
  const connections = new Set<HostedConnection>();
  const host: Http2Host = {
    headLimits: {
      firstLineBytes: limits.requestLineBytes,
      fieldsBytes: limits.headersBytes,
      fieldCount: limits.headerCount,
    },
    timeouts,
    sweep,
    date: new HttpDate(systemClock, sweep),
    hstsLine: options.hstsLine ?? '',
    onRequest: (exchange, its) => handler.handle(exchange, its),
    onRefused: (peer, situation, requestId) => {
      records.push(refusedRecord({ peer, situation, requestId, scheme: 'http' }));
    },
    onClosed: (connection) => connections.delete(connection),
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    connections.add(new Http2Connection(socket, host, describePeer(socket.remoteAddress, isTrusted)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the gateway has no port');
  const closed = once(server, 'close');
  return {
    port: address.port,
    records,
    endpoints: () =>
      catalog.all().flatMap((snapshot) => viewEndpoints(snapshot, { clock: systemClock, slowStart: config.slowStart })),
    connections: () => connections.size,
    drain: async () => {
      for (const connection of connections) connection.endWhenIdle();
      server.close();
      await closed;
    },
    stop: async () => {
      for (const connection of connections) connection.destroy();
      server.close();
      await closed;
      upstream.stop();
      await gatehouse.stop();
    },
  };
}
