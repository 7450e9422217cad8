// What the supervisor and its workers say to each other.
import type { GatewayConfig } from '../config/gateway-schema.ts';
import type { RouteConfig } from '../config/route-schema.ts';
import type { DiscoveryUpdate, ResumePoint } from '../core/discovery-update.ts';
import type { ServiceSnapshot } from '../pool/snapshot.ts';
import type { CellPlace } from '../shared/cell.ts';
import type { TlsInForce } from '../tls/served-certificate.ts';

/** The routes in force, and what their requests share with those of other workers. */
export interface Routing {
  readonly routes: readonly RouteConfig[];
  readonly routeCells: ReadonlyMap<string, CellPlace>;
  /** For the rate limits; null where no route has any. */
  readonly limitTable: SharedArrayBuffer | null;
  /** Every service that a route uses, also those whose pool is still empty. */
  readonly services: readonly ServiceSnapshot[];
}

/** What a worker is born with. */
export interface WorkerBirth {
  /** 1..n; a replacement has the id of the worker it replaces. */
  readonly id: number;
  /** Its lane in all cells; no two living workers have the same. */
  readonly lane: number;
  readonly gateway: GatewayConfig;
  readonly routing: Routing;
  readonly sourceCells: ReadonlyMap<string, CellPlace>;
  readonly gatewayCell: CellPlace;
  readonly tlsCell: CellPlace;
  /** Certificates with their keys: workers read no files. */
  readonly tls: TlsInForce;
  /** The version of the newest change among them. */
  readonly version: number;
  readonly reusePort: boolean;
}

export type ToWorker =
  /** One service changed. Messages arrive in order, so a worker misses no version. */
  | { readonly kind: 'snapshot'; readonly snapshot: ServiceSnapshot }
  /** Other routes are in force. */
  | { readonly kind: 'routes'; readonly routing: Routing }
  /** Other certificates, or keys of tickets, are in force. */
  | { readonly kind: 'certificates'; readonly tls: TlsInForce }
  /** Open the listeners. */
  | { readonly kind: 'listen' }
  /** The lease that the worker took is confirmed: ask, from here. */
  | {
      readonly kind: 'lead';
      readonly term: number;
      readonly resume: readonly ResumePoint[];
      /** The routes whose services these are: some of them list the endpoints. */
      readonly routes: readonly RouteConfig[];
    }
  /** Accept no more, finish what is under way, end the tunnels after `tunnelsMs`, say `drained`. */
  | { readonly kind: 'drain'; readonly tunnelsMs: number };

export type FromWorker =
  | { readonly kind: 'booted' }
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly why: string }
  /** The worker took the lease and waits for `lead`. */
  | { readonly kind: 'leads'; readonly term: number }
  | { readonly kind: 'discovered'; readonly term: number; readonly update: DiscoveryUpdate }
  | { readonly kind: 'log'; readonly lines: string }
  | { readonly kind: 'drained' };
