// What the files alone say of a gateway: its routes, and the endpoints that they list; everything else is as at a start.
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { RouteConfig } from '../config/route-schema.ts';
import { formatAddress } from '../core/address.ts';
import { systemClock as clock } from '../core/clock.ts';
import type { Endpoint } from '../core/instance.ts';
import { mergeInstances } from '../discovery/merge-instances.ts';
import { Catalog } from '../pool/catalog.ts';
import type { ExplainFacts } from '../proxy/explain/explain-routed.ts';
import { allocateRouteCell } from '../shared/route-cell.ts';

const LANES = 1;

export interface FilesConfig {
  readonly gateway: GatewayConfig;
  readonly routes: readonly RouteConfig[];
}

export function offlineFacts({ gateway, routes }: FilesConfig): ExplainFacts {
  const catalog = new Catalog(new Set(routes.map(({ service }) => service)), { lanes: LANES, clock });
  for (const route of routes) if (route.source === 'static') catalog.update(route.service, endpointsOf(route));
  return {
    basis: 'files',
    gateway,
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

function endpointsOf({ endpoints }: RouteConfig): Endpoint[] {
  const instances = endpoints.map((endpoint) => {
    return { ...endpoint, id: formatAddress(endpoint.host, endpoint.port), status: 'passing' as const };
  });
  return mergeInstances(instances, ['passing']);
}
