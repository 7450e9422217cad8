// The lists of a Consul cluster that move whenever the health of any service may have changed, and what a move says.
import { isObject, parseJson } from './record.ts';

/**
 * `/v1/health/service/<name>` is made of three tables, and each has a list whose blocking query ends with its changes
 * (Consul's state store; test/integration/consul-bell.test.ts asks a real agent):
 *
 * - `catalog/services`: any instance that is added, removed or registered otherwise (address, port, weights, meta,
 *   tags). Its answer names services and tags only, so it may be about any service.
 * - `health/state/critical` and `…/warning`: a check of an instance or a node, maintenance among them, that changed
 *   its status. No other check changes what an instance is worth, and these lists are short in a healthy cluster and
 *   name the service; `…/any` would also end for each new output, with every check there is.
 * - `catalog/nodes`: the address of a node, which is that of the instances without one. The filter keeps its answer empty.
 */
export const CONSUL_LISTS: readonly ConsulList[] = [
  { path: 'catalog/services', filter: '', read: readServices, isAboutAll: true },
  { path: 'health/state/critical', filter: '', read: readChecks, isAboutAll: false },
  { path: 'health/state/warning', filter: '', read: readChecks, isAboutAll: false },
  { path: 'catalog/nodes', filter: 'Node == "-"', read: () => new Map(), isAboutAll: true },
];

export interface ConsulList {
  readonly path: string;
  readonly filter: string;
  /** The entries of a body by a key of their own; undefined when it is not such a list. */
  readonly read: (text: string) => ListEntries | undefined;
  /** Whether a move without a difference may concern any service all the same. */
  readonly isAboutAll: boolean;
}

export type ListEntries = ReadonlyMap<string, ListEntry>;

interface ListEntry {
  /** The service that the entry is about; '' when it is about a node. */
  readonly service: string;
  readonly content: string;
}

/** What changed between two answers of a list. */
export interface ListChange {
  /** Services that changed for sure. */
  readonly services: ReadonlySet<string>;
  /** Whether others may have changed as well. */
  readonly isEverywhere: boolean;
}

/** Compares two answers of a list; `hasMoved` says whether its index did. */
export function compareLists(
  list: ConsulList,
  [before, after]: [ListEntries, ListEntries],
  hasMoved: boolean,
): ListChange {
  const keys = new Set([...before.keys(), ...after.keys()]);
  const services = new Set<string>();
  for (const key of keys) {
    if (before.get(key)?.content === after.get(key)?.content) continue;
    services.add(after.get(key)?.service ?? before.get(key)?.service ?? '');
  }
  const isOfNode = services.delete('');
  return { services, isEverywhere: isOfNode || (list.isAboutAll && hasMoved) };
}

/** `{"web": ["v1", "blue"]}`; the tags come in any order. */
function readServices(text: string): ListEntries | undefined {
  const json = parseJson(text);
  if ('error' in json || !isObject(json.value)) return undefined;
  return new Map(
    Object.entries(json.value).map(([service, tags]) => {
      return [service, { service, content: Array.isArray(tags) ? tags.map(String).sort().join('\n') : '' }];
    }),
  );
}

function readChecks(text: string): ListEntries | undefined {
  const json = parseJson(text);
  if ('error' in json || !Array.isArray(json.value)) return undefined;
  return new Map(
    json.value.filter(isObject).map(({ Node: node, CheckID: id, ServiceName: service }) => {
      const name = typeof service === 'string' ? service : '';
      return [`${node}/${id}`, { service: name, content: name }];
    }),
  );
}
