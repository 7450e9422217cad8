// How the running gateway looks from outside: what the admin address and the metrics show, read when somebody asks.
import { type ServiceViewOptions, upstreamsDocument } from './admin/upstreams-document.ts';
import type { GatewayConfig } from './config/gateway-schema.ts';
import { formatAddress } from './core/address.ts';
import { systemClock as clock } from './core/clock.ts';
import type { GatewayState } from './core/gateway-state.ts';
import { SPAN_FATES } from './core/tracing.ts';
import type { DiscoveryBook } from './discovery/discovery-book.ts';
import type { ListenerCertificates } from './listener-certificates.ts';
import type { Maintenance } from './maintenance.ts';
import type { RoutesInForce } from './routes-in-force.ts';
import { type GatewayCell, PROXY_HEADER_FAILURES, UNROUTED_REASONS } from './shared/gateway-cell.ts';
import { currentLeader } from './shared/leader-lease.ts';
import type { LogOutput } from './telemetry/log-output.ts';
import type { Crew } from './threads/crew.ts';
import { VERSION } from './version.ts';

export interface GatewayParts {
  readonly cell: GatewayCell;
  readonly crew: Crew;
  readonly book: DiscoveryBook;
  readonly routes: RoutesInForce;
  readonly output: LogOutput;
  readonly maintenance: Maintenance;
  readonly certificates: ListenerCertificates;
  readonly listen: () => GatewayConfig['listen'];
}

export class GatewayView {
  readonly #parts: GatewayParts;
  readonly #startedAtMs = clock.wallMs();

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  state(): GatewayState {
    const { cell, crew, book, output, certificates, listen } = this.#parts;
    const { term, worker: holder } = currentLeader(cell.words);
    const members = crew.members();
    return {
      version: VERSION,
      pid: process.pid,
      startedAtMs: this.#startedAtMs,
      leader: { worker: members.find(({ lane }) => lane + 1 === holder)?.id ?? null, term },
      workers: members.map(({ id, lane }) => {
        const { downstream, upstream, lagMs, snapshot } = cell.worker(lane);
        return {
          id,
          leader: lane + 1 === holder,
          snapshot,
          connections: downstream,
          upstreamConnections: upstream,
          eventLoopLagMs: lagMs,
        };
      }),
      listeners: listen().map(({ host, port, tls }) => {
        const address = formatAddress(host, port);
        return { address, certificates: tls === null ? null : certificates.stateOf(tls) };
      }),
      workerRestarts: crew.restarts,
      unrouted: UNROUTED_REASONS.map((reason) => ({ reason, count: cell.unrouted(reason) })),
      proxyHeaderFailures: PROXY_HEADER_FAILURES.map((reason) => ({ reason, count: cell.proxyHeaderFailures(reason) })),
      spans: SPAN_FATES.map((fate) => ({ fate, count: cell.spans(fate) })),
      logLinesDropped: output.dropped,
      snapshotVersion: book.version,
      snapshotTakenAtMs: book.takenAtMs,
      snapshotFrom: book.from,
      statuses: book.statuses(),
    };
  }

  /** How the configuration wants a service to be seen. */
  viewOf(service: string): ServiceViewOptions {
    const { routes, maintenance } = this.#parts;
    return {
      clock,
      slowStart: routes.slowStart(service),
      policies: routes.balancePolicies(service),
      hasBreaker: routes.hasBreaker(service),
      maintenance: maintenance.of(service),
    };
  }

  /** The document of /debug/upstreams. */
  upstreams(): object {
    const services = this.#parts.book.snapshots().map((snapshot) => {
      return { snapshot, view: this.viewOf(snapshot.service) };
    });
    return upstreamsDocument(this.state(), services, clock);
  }
}
