// Explanations of the running gateway: the facts as the supervisor knows them at this moment, of which nothing is used up.
import type { ExplainDuty } from './admin/explain-page.ts';
import type { GatewayConfig } from './config/gateway-schema.ts';
import { systemClock as clock } from './core/clock.ts';
import type { DiscoveryBook } from './discovery/discovery-book.ts';
import type { ListenerCertificates } from './listener-certificates.ts';
import type { Maintenance } from './maintenance.ts';
import { explain } from './proxy/explain/explain.ts';
import type { ExplainFacts } from './proxy/explain/explain-routed.ts';
import { explanationText } from './proxy/explain/explanation-text.ts';
import type { RoutesInForce } from './routes-in-force.ts';

export interface LiveParts {
  readonly book: DiscoveryBook;
  readonly routes: RoutesInForce;
  readonly maintenance: Maintenance;
  readonly gatewayInForce: () => GatewayConfig;
  readonly certificates: ListenerCertificates;
}

export function createExplainer(parts: LiveParts): ExplainDuty {
  return (question) => {
    const document = explain(question, factsOf(parts));
    return typeof document === 'string' ? document : { document, text: explanationText(document) };
  };
}

function factsOf({ book, routes, maintenance, gatewayInForce, certificates }: LiveParts): ExplainFacts {
  const snapshots = new Map(book.snapshots().map((snapshot) => [snapshot.service, snapshot]));
  return {
    basis: 'gateway',
    gateway: gatewayInForce(),
    listeners: { listen: gatewayInForce().listen, certificatesOf: (tls) => certificates.servedOf(tls) },
    routes: routes.routes,
    routeCell(route) {
      const cell = routes.cells.get(route);
      if (cell === undefined) throw new Error(`the route ${route} has no shared memory`);
      return cell;
    },
    serviceOf(service) {
      const snapshot = snapshots.get(service);
      if (snapshot === undefined) throw new Error(`the service ${service} has no pool`);
      const status = book.statuses().find((each) => each.service === service);
      return { snapshot, status, maintenance: maintenance.of(service) };
    },
    clock,
  };
}
