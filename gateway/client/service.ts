// A service as its requests use it: everything that the options fix, prepared once.
import type { RouteConfig } from '../config/route-schema.ts';
import type { Lease } from '../pool/lease.ts';
import type { AcquireOptions, NoLease, Pool } from '../pool/pool.ts';
import { Connections } from './connections.ts';
import type { Addressed } from './service-address.ts';

/** What of a request decides where it goes. */
export interface ChoosingRequest {
  readonly target: string;
  /** The values of a field by its lower-case name, joined. */
  header(name: string): string | undefined;
}

/** Chooses as a route of the gateway does. */
export interface EndpointChoice {
  branchFor(request: ChoosingRequest): number;
  acquire(wanted: number, options: Omit<AcquireOptions, 'group'>): Lease | NoLease;
  hashOf(request: ChoosingRequest, client: string): number | undefined;
}

export interface ServiceParts {
  readonly config: RouteConfig;
  readonly pool: Pool;
  readonly choice: EndpointChoice;
}

export interface Service extends ServiceParts, Addressed {
  readonly name: string;
  readonly connections: Connections;
  /** Statuses that count against the endpoint, and those for which another one is tried. */
  readonly failureStatuses: ReadonlySet<number>;
  readonly retryStatuses: ReadonlySet<number>;
}

export function prepareService(parts: ServiceParts): Service {
  const { service: name, ejection, retry, timeout } = parts.config;
  const protocol = parts.config.protocol === 'https' ? 'https' : 'http';
  return {
    ...parts,
    name,
    host: name.toLowerCase(),
    protocol,
    connections: new Connections({ protocol, connectTimeoutMs: timeout.connectMs }),
    failureStatuses: new Set(ejection.statuses),
    retryStatuses: new Set(retry.statuses),
  };
}
