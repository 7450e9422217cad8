// What a request meets on the route that takes it: limits, service, endpoint, and what happens when that fails.
import type { GatewayConfig } from '../../config/gateway-schema.ts';
import type { RouteConfig } from '../../config/route-schema.ts';
import type { Clock } from '../../core/clock.ts';
import { rewriteTarget } from '../../routing/rewrite.ts';
import type { CellPlace } from '../../shared/cell.ts';
import { RouteCell } from '../../shared/route-cell.ts';
import { ServiceCell } from '../../shared/service-cell.ts';
import { speaksHttp2 } from '../routes/route.ts';
import { asWritten, type ReadRequest } from './asked-request.ts';
import { explainAccess } from './explain-access.ts';
import { explainAnswer } from './explain-answer.ts';
import { candidatesOf, explainEndpoints } from './explain-endpoints.ts';
import type { ListenerFacts } from './explain-entry.ts';
import { explainFailure } from './explain-failure.ts';
import { explainConcurrency, explainLimits } from './explain-limits.ts';
import { explainKey, explainPick, explainSplit } from './explain-pick.ts';
import { explainService, type ServiceFacts } from './explain-service.ts';
import type { ExplainedForward, ExplainedPick, ExplainedRequest, Explanation } from './explanation.ts';
import { outcomeOf } from './outcome.ts';
import { rehearse } from './rehearsal.ts';

/** What is known of a gateway: a running one, or what its files say. */
export interface ExplainFacts {
  readonly basis: Explanation['basis'];
  readonly gateway: Pick<GatewayConfig, 'limits' | 'trustedProxies'>;
  readonly listeners: ListenerFacts;
  /** Those in force. */
  readonly routes: readonly RouteConfig[];
  /** The shared memory of a route, which is only read. */
  routeCell(route: string): CellPlace;
  serviceOf(service: string): ServiceFacts;
  readonly clock: Clock;
}

type RoutedExplanation = Omit<Explanation, 'summary' | 'entry' | 'route' | 'rivals' | 'moreRivals'>;

export interface Routed {
  readonly facts: ExplainFacts;
  readonly route: RouteConfig;
  readonly read: ReadRequest;
  readonly request: ExplainedRequest;
}

/** Everything that is to be said of a request once its route is known, but of the route itself. */
export function explainRouted({ facts, route, read, request }: Routed): RoutedExplanation {
  const { clock, routes, gateway } = facts;
  const isTunnel = route.websocket && !speaksHttp2(route);
  const upgrade = !read.isUpgrade ? null : isTunnel ? 'tunnelled' : 'ignored';
  const config = upgrade === 'tunnelled' ? forTunnels(route) : route;
  const known = facts.serviceOf(config.service);
  const place = facts.routeCell(config.name);
  const counts = new RouteCell(place, -1);
  const shared = new ServiceCell(known.snapshot.cell, -1);
  const ofService = routes.filter(({ service }) => service === config.service);
  const parts = { config, routes: ofService, snapshot: known.snapshot, routeCell: place, clock };
  const { access, seen } = explainAccess(config, { routes: ofService, read, client: request.client });
  const rehearsed = rehearse(parts, seen, request.client);
  const [first] = rehearsed.attempts;
  const labels = first === undefined ? rehearsed.wanted : first.labels;
  const candidates = candidatesOf({ ...rehearsed, labels, policy: config.balance.policy });
  const key = explainKey(config, seen, request.client);
  const service = explainService(config, known, clock);
  const pick = explainPick({ config, rehearsed, candidates, key });
  const isUnknown = service.state === 'unknown';
  const maxBodyBytes = config.bodyBytes ?? gateway.limits.bodyBytes;
  const isInMaintenance = shared.isInMaintenance();
  return {
    basis: facts.basis,
    request: { ...request, upgrade },
    outcome: outcomeOf({ config, access, read, maxBodyBytes, isInMaintenance, isUnknown, rehearsed, pick }),
    access,
    forward: forwardOf(config, read, pick),
    rateLimits: explainLimits(config, seen, request.client),
    rateLimited: counts.rateLimited(),
    concurrency: explainConcurrency(config, counts),
    service,
    split: explainSplit(config, rehearsed, seen),
    key,
    endpoints: explainEndpoints(candidates, { ...rehearsed, labels }, pick.isCertain ? pick.endpoint : null),
    pick: isUnknown ? null : pick,
    failure: explainFailure(config, read, { cell: shared, clock }),
    answer: upgrade === 'tunnelled' ? null : explainAnswer(config, read),
  };
}

/** A tunnel is tried once, and the fallback does not answer for it (websocket.ts). */
function forTunnels(route: RouteConfig): RouteConfig {
  return { ...route, fallback: null, retry: { ...route.retry, attempts: 1 } };
}

/** What the request looks like on the way to the service; null when it cannot be sent. */
function forwardOf(
  { rewrite, protocol }: RouteConfig,
  read: ReadRequest,
  pick: ExplainedPick,
): ExplainedForward | null {
  const target = rewriteTarget(read.target, rewrite);
  if (target === undefined) return null;
  const { host, stripPrefix, addPrefix, requestHeaders } = rewrite;
  const endpoint = pick.isCertain ? pick.endpoint : null;
  return {
    target: asWritten(target),
    host: host === 'client' ? asWritten(read.host) : host === 'upstream' ? endpoint : host.literal,
    hostFrom: typeof host === 'string' ? host : 'literal',
    protocol,
    stripPrefix,
    addPrefix,
    sets: Object.keys(requestHeaders.set),
    removes: requestHeaders.remove,
  };
}
