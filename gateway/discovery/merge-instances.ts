// From the instances as registered to the endpoints they make: one for every `host:port`.
import { formatAddress } from '../core/address.ts';
import type { Endpoint, Instance, InstanceStatus } from '../core/instance.ts';

const BEST_FIRST: readonly InstanceStatus[] = ['passing', 'warning', 'critical', 'maintenance'];

/**
 * The endpoints of a service, sorted by key, whatever the order of `instances`. An endpoint registered more than once
 * is healthy if one of its registrations has a status of `accept`; it then has the best status and the largest weight
 * among those, and the tags (sorted) and meta of the heaviest, between equals of the first ID. The registrations that
 * are not accepted count only where there are no others.
 */
export function mergeInstances(instances: readonly Instance[], accept: readonly InstanceStatus[]): Endpoint[] {
  const byKey = Map.groupBy(instances, ({ host, port }) => formatAddress(host, port));
  const endpoints: Endpoint[] = [];
  for (const [key, registrations] of byKey) {
    const [first, second] = registrations;
    // Nearly every address is registered once: then there is nothing to weigh, and many short-lived lists fewer.
    const isOnly = first !== undefined && second === undefined;
    endpoints.push(isOnly ? onlyEndpoint(key, first, accept) : mergeEndpoint(key, registrations, accept));
  }
  return endpoints.sort((a, b) => compare(a.key, b.key));
}

function onlyEndpoint(key: string, instance: Instance, accept: readonly InstanceStatus[]): Endpoint {
  const { id, host, port, weight, status } = instance;
  return {
    key,
    host,
    port,
    weight,
    status,
    healthy: accept.includes(status),
    tags: sortedTags(instance),
    meta: sortedMeta(instance),
    instances: [id],
  };
}

function mergeEndpoint(key: string, registrations: readonly Instance[], accept: readonly InstanceStatus[]): Endpoint {
  const accepted = registrations.filter(({ status }) => accept.includes(status));
  const isHealthy = accepted.length > 0;
  const [heaviest, ...lighter] = (isHealthy ? accepted : registrations).toSorted(heaviestFirst);
  if (heaviest === undefined) throw new Error(`no registration of ${key}`);
  const statuses = new Set([heaviest, ...lighter].map(({ status }) => status));
  return {
    key,
    host: heaviest.host,
    port: heaviest.port,
    weight: heaviest.weight,
    status: BEST_FIRST.find((status) => statuses.has(status)) ?? heaviest.status,
    healthy: isHealthy,
    tags: sortedTags(heaviest),
    meta: sortedMeta(heaviest),
    instances: [...new Set(registrations.map(({ id }) => id))].sort(compare),
  };
}

/** Content breaks the last ties, so that two records of one ID give the same endpoint in either order. */
function heaviestFirst(a: Instance, b: Instance): number {
  return b.weight - a.weight || compare(a.id, b.id) || compare(contentOf(a), contentOf(b));
}

function contentOf(instance: Instance): string {
  return JSON.stringify([sortedTags(instance), sortedMeta(instance)]);
}

function sortedTags({ tags }: Instance): readonly string[] {
  return tags.length < 2 ? tags : [...new Set(tags)].sort(compare);
}

function sortedMeta({ meta }: Instance): Readonly<Record<string, string>> {
  const fields = Object.entries(meta);
  return fields.length < 2 ? meta : Object.fromEntries(fields.sort(([a], [b]) => compare(a, b)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
