// The sources that the routes of a configuration use, made from it.
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { RouteConfig } from '../config/route-schema.ts';
import { formatAddress } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import type { Endpoint, Instance } from '../core/instance.ts';
import { createConsulSource } from './consul.ts';
import { createDnsSource } from './dns.ts';
import { createEtcdSource } from './etcd.ts';
import { mergeInstances } from './merge-instances.ts';
import { createRegistrySource } from './registry.ts';
import type { DiscoverySource, QueryMeter } from './source.ts';
import { createStaticSource } from './static.ts';

export interface SourcesOptions {
  readonly gateway: GatewayConfig;
  /** The routes in force at the time of the call. */
  readonly routes: () => readonly RouteConfig[];
  readonly clock: Clock;
  /** Told of every query of the source `source`. */
  readonly onQuery: (source: string, ...query: Parameters<QueryMeter>) => void;
}

/** Makes the source of a name when it is first asked for; undefined for a name that there is not. */
export function createSourceMaker(options: SourcesOptions): (name: string) => DiscoverySource | undefined {
  const { gateway, routes, clock, onQuery } = options;
  const { consul, registry, dns, etcd, confirmEmptyMs } = gateway.discovery;
  const shared = (source: string) => ({
    confirmEmptyMs,
    clock,
    meter: (...query: Parameters<QueryMeter>) => onQuery(source, ...query),
  });
  return (name) => {
    switch (name) {
      case 'consul':
        return createConsulSource({ ...consul, ...shared(name) });
      case 'registry':
        return createRegistrySource({ ...registry, ...shared(name) });
      case 'dns':
        return createDnsSource({ ...dns, ...shared(name) });
      case 'etcd':
        return createEtcdSource({ ...etcd, ...shared(name) });
      case 'static':
        return createStaticSource((service) => staticInstances(routes(), service));
      default:
        return undefined;
    }
  };
}

/** The endpoints that the configuration lists for a service. */
export function staticEndpoints(routes: readonly RouteConfig[], service: string): Endpoint[] {
  return mergeInstances(staticInstances(routes, service), ['passing']);
}

function staticInstances(routes: readonly RouteConfig[], service: string): Instance[] {
  const route = routes.find((each) => each.source === 'static' && each.service === service);
  return (route?.endpoints ?? []).map(staticInstance);
}

function staticInstance(endpoint: RouteConfig['endpoints'][number]): Instance {
  return { ...endpoint, id: formatAddress(endpoint.host, endpoint.port), status: 'passing' };
}
