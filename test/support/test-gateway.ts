// A data plane in this thread, on a free port, in front of given endpoints: the proxy without discovery.
import { randomBytes } from 'node:crypto';
import { Gatehouse } from '../../gateway/auth/gatehouse.ts';
import { type GatewayConfig, gatewaySchema } from '../../gateway/config/gateway-schema.ts';
import type { ListenerConfig } from '../../gateway/config/listener-schema.ts';
import { type RouteConfig, routeSchema } from '../../gateway/config/route-schema.ts';
import type { AccessRecord } from '../../gateway/core/access-record.ts';
import { systemClock } from '../../gateway/core/clock.ts';
import type { Endpoint } from '../../gateway/core/instance.ts';
import type { Tracer } from '../../gateway/core/tracing.ts';
import { Catalog } from '../../gateway/pool/catalog.ts';
import { type EndpointView, viewEndpoints } from '../../gateway/pool/view.ts';
import { DataPlane } from '../../gateway/proxy/data-plane.ts';
import { allocateGatewayCell, GatewayCell, type ProxyHeaderFailure } from '../../gateway/shared/gateway-cell.ts';
import { allocateLimitTable } from '../../gateway/shared/limit-table.ts';
import { allocateRouteCell, RouteCell } from '../../gateway/shared/route-cell.ts';
import { ServiceCell } from '../../gateway/shared/service-cell.ts';
import { allocateTlsCell, TlsCell } from '../../gateway/shared/tls-cell.ts';
import { readMaterial } from '../../gateway/tls/read-material.ts';
import { type ListenerMaterial, materialKey } from '../../gateway/tls/served-certificate.ts';
import { endpoint } from './endpoints.ts';

export interface TestGatewayOptions {
  /** Ports on 127.0.0.1, or whole endpoints. */
  readonly endpoints: readonly (number | Endpoint)[];
  /** Parts of the route file, as its YAML would give them. */
  readonly route?: Readonly<Record<string, unknown>>;
  /** Further routes of the same service, by name. */
  readonly otherRoutes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The content of the users file of every route that has one. */
  readonly users?: string;
  /** Parts of gateway.yaml, as its YAML would give them. */
  readonly gateway?: Readonly<Record<string, unknown>>;
  /** Parts of the listener, as the YAML of gateway.yaml would give them. */
  readonly listener?: Readonly<Record<string, unknown>>;
  /** What tickets are sealed with, in place of keys of its own. */
  readonly ticketKeys?: Uint8Array;
  readonly tracer?: Tracer;
}

export interface TestGateway {
  readonly port: number;
  readonly records: AccessRecord[];
  readonly logLines: string[];
  /** What the workers share of the service and of the route, to be read, and the switches of an operator. */
  readonly service: ServiceCell;
  readonly counts: RouteCell;
  endpoints(): EndpointView[];
  update(endpoints: readonly (number | Endpoint)[]): void;
  /** Puts these routes of the service in force in place of all others, by name. */
  replaceRoutes(routes: Readonly<Record<string, Readonly<Record<string, unknown>>>>): void;
  /** Open connections of clients and to endpoints. */
  connections(): { downstream: number; upstream: number };
  readonly handshakes: TlsCell;
  /** Connections that were closed for want of a PROXY header. */
  proxyHeaderFailures(reason: ProxyHeaderFailure): number;
  /** Puts in force what stands in the files of the certificates now. */
  rereadCertificates(): Promise<void>;
  drain(): Promise<void>;
  stop(): Promise<void>;
}

const LANES = 1;

export async function startTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const gateway: GatewayConfig = gatewaySchema.parse({
    shutdown: { drain: '1s' },
    ...options.gateway,
    listen: [{ address: '127.0.0.1:1', ...options.listener }],
  });
  const [listener] = gateway.listen;
  if (listener === undefined) throw new Error('there is no listener');
  const tls = { materials: await materialsOf(listener), ticketKeys: options.ticketKeys ?? randomBytes(48) };
  const tlsCounts = new TlsCell(allocateTlsCell(LANES), 0);
  const { users } = options;
  const route = parseRoute('r', { match: [{ paths: ['/*'] }], ...options.route }, users);
  const others = Object.entries(options.otherRoutes ?? {}).map(([name, given]) => parseRoute(name, given, users));
  const routes = [route, ...others];
  const catalog = new Catalog(['s'], { lanes: LANES, clock: systemClock });
  const { cell: serviceCell } = catalog.update('s', options.endpoints.map(asEndpoint)) ?? {};
  if (serviceCell === undefined) throw new Error('the catalog does not know the service');
  const routeCell = allocateRouteCell(LANES);
  const cell = new GatewayCell(allocateGatewayCell(LANES), 0);
  const records: AccessRecord[] = [];
  const logLines: string[] = [];
  const write = (fields: object, message: string): void => {
    logLines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const routing = {
    routes,
    routeCells: new Map([['r', routeCell], ...others.map(({ name }) => [name, allocateRouteCell(LANES)] as const)]),
    limitTable: routes.every(({ rateLimit }) => rateLimit.length === 0) ? null : allocateLimitTable({ entries: 4096 }),
    services: catalog.all(),
  };
  const plane = new DataPlane({
    gateway: { ...gateway, listen: [{ ...listener, host: '127.0.0.1', port: 0 }] },
    routing,
    onKept: () => undefined,
    gatehouse: new Gatehouse({ clock: systemClock, log: { debug: write, info: write, warn: write, error: write } }),
    tls,
    tlsCounts,
    cell,
    lane: 0,
    reusePort: false,
    clock: systemClock,
    log: { debug: write, info: write, warn: write, error: write },
    onFinished: (record) => records.push(record),
    tracer: options.tracer ?? null,
  });
  await plane.listen();
  const [port = 0] = plane.ports;
  return {
    port,
    records,
    logLines,
    service: new ServiceCell(serviceCell, -1),
    counts: new RouteCell(routeCell, -1),
    endpoints: () =>
      catalog.all().flatMap((snapshot) => viewEndpoints(snapshot, { clock: systemClock, slowStart: route.slowStart })),
    update: (endpoints) => {
      const snapshot = catalog.update('s', endpoints.map(asEndpoint));
      if (snapshot !== undefined) plane.apply(snapshot);
    },
    replaceRoutes: (given) => {
      const replaced = Object.entries(given).map(([name, parts]) => parseRoute(name, parts, users));
      plane.replaceRoutes({ ...routing, routes: replaced });
    },
    connections: () => {
      const { downstream, upstream } = cell.worker(0);
      return { downstream, upstream };
    },
    handshakes: tlsCounts,
    proxyHeaderFailures: (reason) => cell.proxyHeaderFailures(reason),
    rereadCertificates: async () => plane.replaceCertificates({ ...tls, materials: await materialsOf(listener) }),
    drain: () => plane.drain(),
    stop: () => plane.stop(),
  };
}

async function materialsOf({ tls }: ListenerConfig): Promise<ReadonlyMap<string, ListenerMaterial>> {
  if (tls === null) return new Map();
  const { material, broken } = await readMaterial(tls, null);
  if (material === null) throw new Error(JSON.stringify(broken));
  return new Map([[materialKey(tls), material]]);
}

function parseRoute(name: string, given: Readonly<Record<string, unknown>>, users = ''): RouteConfig {
  const route = {
    name,
    file: `${name}.yaml`,
    ...routeSchema.parse({ service: 's', ...given }),
    source: 'static' as const,
  };
  const { auth } = route;
  if (auth?.kind !== 'basic') return route;
  return { ...route, auth: { ...auth, users: { ...auth.users, content: new Uint8Array(Buffer.from(users)) } } };
}

function asEndpoint(given: number | Endpoint): Endpoint {
  return typeof given === 'number' ? endpoint(given) : given;
}
