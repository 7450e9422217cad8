// A data plane in this thread, on a free port, in front of given endpoints: the proxy without discovery.
import { type GatewayConfig, gatewaySchema } from '../../gateway/config/gateway-schema.ts';
import { type RouteConfig, routeSchema } from '../../gateway/config/route-schema.ts';
import type { AccessRecord } from '../../gateway/core/access-record.ts';
import { systemClock } from '../../gateway/core/clock.ts';
import type { Endpoint } from '../../gateway/core/instance.ts';
import { Catalog } from '../../gateway/pool/catalog.ts';
import { type EndpointView, viewEndpoints } from '../../gateway/pool/view.ts';
import { DataPlane } from '../../gateway/proxy/data-plane.ts';
import { allocateGatewayCell, GatewayCell } from '../../gateway/shared/gateway-cell.ts';
import { allocateRouteCell } from '../../gateway/shared/route-cell.ts';
import { endpoint } from './endpoints.ts';

export interface TestGatewayOptions {
  /** Ports on 127.0.0.1, or whole endpoints. */
  readonly endpoints: readonly (number | Endpoint)[];
  /** Parts of the route file, as its YAML would give them. */
  readonly route?: Readonly<Record<string, unknown>>;
  /** Parts of gateway.yaml, as its YAML would give them. */
  readonly gateway?: Readonly<Record<string, unknown>>;
}

export interface TestGateway {
  readonly port: number;
  readonly records: AccessRecord[];
  readonly logLines: string[];
  endpoints(): EndpointView[];
  update(endpoints: readonly (number | Endpoint)[]): void;
  /** Open connections of clients and to endpoints. */
  connections(): { downstream: number; upstream: number };
  drain(): Promise<void>;
  stop(): Promise<void>;
}

const LANES = 1;

export async function startTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  const gateway: GatewayConfig = gatewaySchema.parse({
    shutdown: { drain: '1s' },
    ...options.gateway,
    listen: [{ address: '127.0.0.1:1' }],
  });
  const route: RouteConfig = {
    name: 'r',
    file: 'r.yaml',
    ...routeSchema.parse({ service: 's', match: [{ paths: ['/*'] }], ...options.route }),
    source: 'static',
  };
  const catalog = new Catalog(['s'], LANES);
  catalog.update('s', options.endpoints.map(asEndpoint));
  const cell = new GatewayCell(allocateGatewayCell(LANES), 0);
  const records: AccessRecord[] = [];
  const logLines: string[] = [];
  const write = (fields: object, message: string): void => {
    logLines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const plane = new DataPlane({
    gateway: { ...gateway, listen: [{ host: '127.0.0.1', port: 0 }] },
    routes: [route],
    routeCells: new Map([['r', allocateRouteCell(LANES)]]),
    services: catalog.all(),
    cell,
    lane: 0,
    reusePort: false,
    clock: systemClock,
    log: { debug: write, info: write, warn: write, error: write },
    onFinished: (record) => records.push(record),
  });
  await plane.listen();
  const [port = 0] = plane.ports;
  return {
    port,
    records,
    logLines,
    endpoints: () => catalog.all().flatMap((snapshot) => viewEndpoints(snapshot, { lanes: LANES, clock: systemClock })),
    update: (endpoints) => {
      const snapshot = catalog.update('s', endpoints.map(asEndpoint));
      if (snapshot !== undefined) plane.apply(snapshot);
    },
    connections: () => {
      const { downstream, upstream } = cell.worker(0);
      return { downstream, upstream };
    },
    drain: () => plane.drain(),
    stop: () => plane.stop(),
  };
}

function asEndpoint(given: number | Endpoint): Endpoint {
  return typeof given === 'number' ? endpoint(given) : given;
}
