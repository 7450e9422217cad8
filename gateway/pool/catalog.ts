// The book of all pools, kept by the supervisor: gives every endpoint its cell and every change its version.
import type { Endpoint } from '../core/instance.ts';
import { allocateEndpointCell } from '../shared/endpoint-cell.ts';
import { allocateServiceCell } from '../shared/service-cell.ts';
import type { EndpointSnapshot, ServiceSnapshot } from './snapshot.ts';

/** Holds the newest snapshot of every service. */
export class Catalog {
  readonly #lanes: number;
  readonly #services = new Map<string, ServiceSnapshot>();
  #version = 0;
  #lastId = 0;

  /** `services` are the names that routes use; each begins with an empty pool. */
  constructor(services: Iterable<string>, lanes: number) {
    this.#lanes = lanes;
    for (const service of services) {
      this.#services.set(service, { service, version: 0, cell: allocateServiceCell(lanes), endpoints: [] });
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
   * An endpoint that stays keeps its cell; one whose instances were all replaced starts afresh on a new cell.
   */
  update(service: string, endpoints: readonly Endpoint[]): ServiceSnapshot | undefined {
    const previous = this.#services.get(service);
    if (previous === undefined) return undefined;
    const known = new Map(previous.endpoints.map((endpoint) => [endpoint.key, endpoint]));
    const next: ServiceSnapshot = {
      service,
      version: ++this.#version,
      cell: previous.cell,
      endpoints: endpoints.map((endpoint) => this.#withCell(endpoint, known.get(endpoint.key))),
    };
    this.#services.set(service, next);
    return next;
  }

  #withCell(endpoint: Endpoint, previous: EndpointSnapshot | undefined): EndpointSnapshot {
    const isSame = previous?.instances.some((instance) => endpoint.instances.includes(instance));
    if (previous !== undefined && isSame) return { ...endpoint, id: previous.id, cell: previous.cell };
    return { ...endpoint, id: ++this.#lastId, cell: allocateEndpointCell(this.#lanes) };
  }
}
