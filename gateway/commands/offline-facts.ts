// What the files alone say of a gateway: its routes, and the endpoints that they list; everything else is as at a start.
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { RouteConfig } from '../config/route-schema.ts';
import { formatAddress } from '../core/address.ts';
import { systemClock as clock } from '../core/clock.ts';
import type { Endpoint } from '../core/instance.ts';
import { mergeInstances } from '../discovery/merge-instances.ts';
import { Catalog } from '../pool/catalog.ts';
import type { ListenerFacts } from '../proxy/explain/explain-entry.ts';
import type { ExplainFacts } from '../proxy/explain/explain-routed.ts';
import { allocateRouteCell } from '../shared/route-cell.ts';
import { readMaterial } from '../tls/read-material.ts';

const LANES = 1;

export interface FilesConfig {
  readonly gateway: GatewayConfig;
  readonly routes: readonly RouteConfig[];
}

/** Reads the certificates of the listeners as well. */
export async function offlineFacts({ gateway, routes }: FilesConfig): Promise<ExplainFacts> {
  const catalog = new Catalog(new Set(routes.map(({ service }) => service)), { lanes: LANES, clock });
  for (const route of routes) if (route.source === 'static') catalog.update(route.service, endpointsOf(route));
  return {
    basis: 'files',
    gateway,
    listeners: await listenersOf(gateway),
    routes,
    routeCell: () => allocateRouteCell(LANES),
    serviceOf(service) {
      const snapshot = catalog.get(service);
      if (snapshot === undefined) throw new Error(`no route has the service ${service}`);
      return { snapshot, status: undefined, maintenance: null };
    },
    clock,
  };
}

async function listenersOf({ listen }: GatewayConfig): Promise<ListenerFacts> {
  const withTls = listen.flatMap(({ tls }) => (tls === null ? [] : [tls]));
  const read = withTls.map(async (tls) => [tls, await readMaterial(tls, null)] as const);
  const readings = new Map(await Promise.all(read));
  return { listen, certificatesOf: (tls) => readings.get(tls)?.material?.certificates ?? [] };
}

function endpointsOf({ endpoints }: RouteConfig): Endpoint[] {
  const instances = endpoints.map((endpoint) => {
    return { ...endpoint, id: formatAddress(endpoint.host, endpoint.port), status: 'passing' as const };
  });
  return mergeInstances(instances, ['passing']);
}
