// The client library `weir/client`: discovery, pools and an undici dispatcher, put together for a service of one process.
import type { DiscoveryDispatcher, FetchDispatcher } from './client/discovery-dispatcher.ts';
import type { DiscoveryDispatcherOptions } from './client/options.ts';
import { readOptions } from './client/read-options.ts';
import { prepareService, type Service } from './client/service.ts';
import { ServiceBook } from './client/service-book.ts';
import { ServiceDispatcher } from './client/service-dispatcher.ts';
import { systemClock as clock } from './core/clock.ts';
import { unasked } from './core/discovery-update.ts';
import type { Log } from './core/log.ts';
import { Asker } from './discovery/asker.ts';
import { poolMark } from './discovery/pool-mark.ts';
import { createSourceMaker } from './discovery/sources.ts';
import { PoolSet } from './proxy/routes/pool-set.ts';
import { RouteChoice } from './proxy/routes/route-choice.ts';
import { TrafficLog } from './proxy/traffic-log.ts';
import { attemptFailure, isLocalShortage } from './proxy/upstream/upstream-error.ts';
import { allocateRouteCell, RouteCell } from './shared/route-cell.ts';

export type { DiscoveryDispatcher, UpstreamView } from './client/discovery-dispatcher.ts';
export type { DiscoveryDispatcherOptions, ServiceOptions } from './client/options.ts';
export type { WeirError, WeirErrorCode } from './client/weir-error.ts';

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Makes a dispatcher for undici's and Node's own `fetch` and begins to ask for the services. It keeps the process alive
 * until `close()` or `destroy()`. Throws a WeirError (`WEIR_BAD_OPTIONS`) that names everything that is wrong.
 */
export function createDiscoveryDispatcher(options: DiscoveryDispatcherOptions): DiscoveryDispatcher & FetchDispatcher;
export function createDiscoveryDispatcher(options: DiscoveryDispatcherOptions): DiscoveryDispatcher {
  const { gateway, routes, readyTimeoutMs } = readOptions(options);
  const { log = SILENT, fallback } = options;
  const services: Service[] = [];
  const pools = new PoolSet({
    lane: 0,
    clock,
    log: new TrafficLog(log),
    onGone: (endpoint) => {
      for (const { connections } of services) connections.forget(endpoint);
    },
  });
  const sourceNames = new Map(routes.map(({ service, source }) => [service, source]));
  const book = new ServiceBook({ services: sourceNames, clock, log, onSnapshot: (snapshot) => pools.apply(snapshot) });
  pools.replace(routes, book.snapshots());
  for (const config of routes) {
    const pool = pools.get(config.service);
    if (pool === undefined) throw new Error(`no pool for ${config.service}`);
    const choice = new RouteChoice(config, pool, new RouteCell(allocateRouteCell(1), 0));
    services.push(prepareService({ config, pool, choice }));
  }
  const asker = new Asker({
    sourceOf: createSourceMaker({ gateway, routes: () => routes, clock, onQuery: () => undefined }),
    holdLastGoodMs: gateway.discovery.holdLastGoodMs,
    clock,
    onUpdate: (update) => book.take(update),
  });
  asker.ask([...sourceNames].map(([name, source]) => ({ status: unasked(name, source), pool: poolMark([]) })));
  return new ServiceDispatcher({
    services,
    book,
    readyTimeoutMs,
    sockets: { attemptFailure, isLocalShortage },
    log,
    fallback,
    clock,
    stopDiscovery: () => asker.stop(),
  });
}
