// The sources that the routes of a configuration use, made from it.
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { RouteConfig } from '../config/route-schema.ts';
import { formatAddress } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import type { Instance } from '../core/instance.ts';
import { createConsulSource } from './consul.ts';
import { createDnsSource } from './dns.ts';
import { createEtcdSource } from './etcd.ts';
import { createRegistrySource } from './registry.ts';
import type { DiscoverySource, QueryMeter } from './source.ts';
import { createStaticSource } from './static.ts';

export interface SourcesOptions {
  readonly gateway: GatewayConfig;
  readonly routes: readonly RouteConfig[];
  readonly clock: Clock;
  /** Told of every query of the source `source`. */
  readonly onQuery: (source: string, ...query: Parameters<QueryMeter>) => void;
}

/** One source for each name that a route uses. */
export function createSources({ gateway, routes, clock, onQuery }: SourcesOptions): DiscoverySource[] {
  const { consul, registry, dns, etcd, confirmEmptyMs } = gateway.discovery;
  const shared = (source: string) => ({
    confirmEmptyMs,
    clock,
    meter: (...query: Parameters<QueryMeter>) => onQuery(source, ...query),
  });
  const used = new Set(routes.map(({ source }) => source));
  const sources: DiscoverySource[] = [];
  if (used.has('consul')) sources.push(createConsulSource({ ...consul, ...shared('consul') }));
  if (used.has('registry')) sources.push(createRegistrySource({ ...registry, ...shared('registry') }));
  if (used.has('dns')) sources.push(createDnsSource({ ...dns, ...shared('dns') }));
  if (used.has('etcd')) sources.push(createEtcdSource({ ...etcd, ...shared('etcd') }));
  if (used.has('static')) sources.push(createStaticSource(staticInstances(routes)));
  return sources;
}

function staticInstances(routes: readonly RouteConfig[]): ReadonlyMap<string, readonly Instance[]> {
  const fixed = routes.filter(({ source }) => source === 'static');
  return new Map(fixed.map(({ service, endpoints }) => [service, endpoints.map(staticInstance)]));
}

function staticInstance(endpoint: RouteConfig['endpoints'][number]): Instance {
  return { ...endpoint, id: formatAddress(endpoint.host, endpoint.port), status: 'passing' };
}
