// The book of all pools, kept by the supervisor: gives every endpoint its cell and every change its version.
import type { Clock } from '../core/clock.ts';
import type { Endpoint } from '../core/instance.ts';
import type { CellPlace } from '../shared/cell.ts';
import { createEndpointCellSource, EndpointCell } from '../shared/endpoint-cell.ts';
import { allocateServiceCell } from '../shared/service-cell.ts';
import type { EndpointSnapshot, ServiceSnapshot } from './snapshot.ts';

/** Holds the newest snapshot of every service. */
export class Catalog {
  readonly #lanes: number;
  readonly #clock: Clock;
  readonly #services = new Map<string, ServiceSnapshot>();
  #version = 0;
  #lastId = 0;

  /** `services` are the names that routes use; each begins with an empty pool. */
  constructor(services: Iterable<string>, { lanes, clock }: { lanes: number; clock: Clock }) {
    this.#lanes = lanes;
    this.#clock = clock;
    this.setServices(services);
  }

  /** Takes other services: those that stay keep their pools, new ones begin empty. */
  setServices(services: Iterable<string>): void {
    const wanted = new Set(services);
    for (const service of this.#services.keys()) if (!wanted.has(service)) this.#services.delete(service);
    for (const service of wanted) {
      if (this.#services.has(service)) continue;
      const cell = allocateServiceCell(this.#lanes);
      this.#services.set(service, { service, version: this.#version, cell, endpoints: [] });
    }
  }

  get version(): number {
    return this.#version;
  }

  all(): ServiceSnapshot[] {
    return [...this.#services.values()];
  }

  get(service: string): ServiceSnapshot | undefined {
    return this.#services.get(service);
  }

  /**
   * Takes the new endpoints of a service and returns its new snapshot; undefined for a service no route uses.
   * An endpoint that stays keeps its cell; one whose instances were all replaced starts afresh on a new cell. What comes
   * to a pool that was filled before warms up.
   */
  update(service: string, endpoints: readonly Endpoint[]): ServiceSnapshot | undefined {
    const previous = this.#services.get(service);
    if (previous === undefined) return undefined;
    const isFirst = previous.endpoints.length === 0;
    const known = new Map(previous.endpoints.map((endpoint) => [endpoint.key, endpoint]));
    const kept = endpoints.map((endpoint) => keptBy(endpoint, known.get(endpoint.key)));
    const newCell = createEndpointCellSource(this.#lanes, kept.filter((each) => each === undefined).length);
    const next: ServiceSnapshot = {
      service,
      version: ++this.#version,
      cell: previous.cell,
      endpoints: endpoints.map((endpoint, at) => {
        return kept[at] ?? { ...endpoint, id: ++this.#lastId, cell: this.#prepare(newCell(), isFirst) };
      }),
    };
    this.#services.set(service, next);
    return next;
  }

  #prepare(place: CellPlace, isFirst: boolean): CellPlace {
    if (!isFirst) new EndpointCell(place, -1).startWarming(this.#clock.nowMs());
    return place;
  }
}

function keptBy(endpoint: Endpoint, previous: EndpointSnapshot | undefined): EndpointSnapshot | undefined {
  const isSame = previous?.instances.some((instance) => endpoint.instances.includes(instance));
  return previous !== undefined && isSame ? { ...endpoint, id: previous.id, cell: previous.cell } : undefined;
}
