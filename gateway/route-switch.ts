// Changing the routes in force: discovery learns of their services first, then all workers change over.
import { setTimeout as delay } from 'node:timers/promises';
import type { RouteConfig } from './config/route-schema.ts';
import type { DiscoveryBook } from './discovery/discovery-book.ts';
import { staticEndpoints } from './discovery/sources.ts';
import { type RoutesInForce, servicesOf } from './routes-in-force.ts';
import { currentLeader } from './shared/leader-lease.ts';
import type { Crew } from './threads/crew.ts';
import type { Routing, ToWorker } from './threads/messages.ts';

/** How long the first answers of the sources are waited for. */
export const FIRST_ANSWERS_MS = 5000;

export interface SwitchParts {
  readonly routes: RoutesInForce;
  readonly book: DiscoveryBook;
  readonly crew: Crew;
  /** The words of the leader lease. */
  readonly words: Int32Array;
}

export class RouteSwitch {
  readonly #parts: SwitchParts;
  /** The routes whose services discovery is asked for: those in force, and during a change those to come as well. */
  #asked: readonly RouteConfig[];

  constructor(parts: SwitchParts) {
    this.#parts = parts;
    this.#asked = parts.routes.routes;
  }

  /** What workers need to know of the routes in force. */
  routing(): Routing {
    const { routes, cells, limitTable } = this.#parts.routes;
    return { routes, routeCells: cells, limitTable, services: this.#parts.book.snapshots() };
  }

  /** What a worker is told that leads in this term. */
  leadFrom(term: number): ToWorker {
    return { kind: 'lead', term, resume: this.#parts.book.resumePoints(), routes: this.#asked };
  }

  /**
   * Puts other routes in force once discovery knows the services that are new with them, or has had time enough; those
   * named in `touched` are new or different.
   */
  async replace(routes: readonly RouteConfig[], touched: ReadonlySet<string>): Promise<void> {
    const { book, crew } = this.#parts;
    const before = this.#parts.routes.routes;
    const services = servicesOf(routes);
    const leaving = before.filter(({ service }) => !services.has(service));
    // What lists its endpoints must not change before the routes that choose by their tags.
    const listed = before.filter(({ source, service }) => source === 'static' && services.get(service) === 'static');
    const isListed = ({ service }: RouteConfig): boolean => listed.some((route) => route.service === service);
    this.#ask([...routes.filter((route) => !isListed(route)), ...listed, ...leaving]);
    await Promise.race([book.whenHeard(), delay(FIRST_ANSWERS_MS, undefined, { ref: false })]);
    this.#parts.routes.replace(routes);
    for (const { service } of listed) book.takeListed(service, staticEndpoints(routes, service));
    const affected = new Set(routes.filter(({ name }) => touched.has(name)).map(({ service }) => service));
    const snapshots = book.snapshots().filter(({ service }) => affected.has(service));
    crew.tellAll({ kind: 'routes', routing: { ...this.routing(), services: snapshots } });
    this.#ask(routes);
  }

  /** The book keeps the services of these routes, and the leader asks for them. */
  #ask(routes: readonly RouteConfig[]): void {
    const { book, crew, words } = this.#parts;
    this.#asked = routes;
    book.setServices(servicesOf(routes));
    const { worker, term } = currentLeader(words);
    const leader = crew.members().find(({ lane }) => lane + 1 === worker);
    if (leader !== undefined) crew.tell(leader, this.leadFrom(term));
  }
}
