// The cluster's lists of a scripted Consul, made from the states of its services; each moves as the real one does.
import type { ServiceState } from './scripted-consul-replies.ts';

interface Entry {
  readonly Node?: unknown;
  readonly Service?: { readonly Tags?: readonly string[] };
  readonly Checks?: readonly { readonly Status: string; readonly ServiceID: string }[];
}

const CRITICAL = 'health/state/critical';
const WARNING = 'health/state/warning';
const SERVICES = 'catalog/services';

export interface ScriptedLists {
  /** Takes over the state of a service; gives the paths of the lists that moved. */
  set(service: string, state: ServiceState): string[];
  body(path: string): unknown;
  index(path: string): string;
}

export function createScriptedLists(): ScriptedLists {
  const entries = new Map<string, readonly Entry[]>();
  const indexes = new Map<string, bigint>();
  const checks = (service: string, status: string) =>
    (entries.get(service) ?? []).flatMap(({ Checks = [] }) =>
      Checks.filter(({ Status }) => Status === status).map((check) => {
        return { ...check, ServiceName: check.ServiceID === '' ? '' : service };
      }),
    );
  const facts = (service: string) => ({
    [SERVICES]: JSON.stringify(entries.get(service)?.map(({ Node, Service }) => [Node, Service])),
    [CRITICAL]: JSON.stringify(checks(service, 'critical')),
    [WARNING]: JSON.stringify(checks(service, 'warning')),
  });
  const all = (status: string) => [...entries.keys()].flatMap((service) => checks(service, status));
  return {
    set(service, state) {
      const before = facts(service);
      entries.set(
        service,
        state.entries.filter((entry): entry is Entry => typeof entry === 'object' && entry !== null),
      );
      const after = facts(service);
      const moved = ([SERVICES, CRITICAL, WARNING] as const).filter((path) => before[path] !== after[path]);
      for (const path of moved) indexes.set(path, (indexes.get(path) ?? 100n) + 1n);
      return moved;
    },
    body(path) {
      if (path === CRITICAL) return all('critical');
      if (path === WARNING) return all('warning');
      if (path !== SERVICES) return [];
      const tagsOf = (list: readonly Entry[]) => [...new Set(list.flatMap(({ Service }) => Service?.Tags ?? []))];
      return Object.fromEntries([...entries].map(([service, list]) => [service, tagsOf(list)]));
    },
    index: (path) => String(indexes.get(path) ?? 100n),
  };
}
