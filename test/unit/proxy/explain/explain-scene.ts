// A gateway to be explained: routes as their YAML says them, pools as discovery fills them, workers that take turns.
import { gatewaySchema } from '../../../../gateway/config/gateway-schema.ts';
import { type RouteConfig, routeSchema } from '../../../../gateway/config/route-schema.ts';
import type { ServiceStatus } from '../../../../gateway/core/discovery-update.ts';
import { unasked } from '../../../../gateway/core/discovery-update.ts';
import type { Endpoint } from '../../../../gateway/core/instance.ts';
import { Catalog } from '../../../../gateway/pool/catalog.ts';
import type { ServiceSnapshot } from '../../../../gateway/pool/snapshot.ts';
import { explain } from '../../../../gateway/proxy/explain/explain.ts';
import type { CertificateFacts } from '../../../../gateway/proxy/explain/explain-entry.ts';
import type { ExplainFacts } from '../../../../gateway/proxy/explain/explain-routed.ts';
import type { ServiceFacts } from '../../../../gateway/proxy/explain/explain-service.ts';
import type { Explanation } from '../../../../gateway/proxy/explain/explanation.ts';
import { PoolSet } from '../../../../gateway/proxy/routes/pool-set.ts';
import { RouteChoice } from '../../../../gateway/proxy/routes/route-choice.ts';
import { TrafficLog } from '../../../../gateway/proxy/traffic-log.ts';
import type { CellPlace } from '../../../../gateway/shared/cell.ts';
import { allocateRouteCell, RouteCell } from '../../../../gateway/shared/route-cell.ts';
import { createScriptedClock, type ScriptedClock } from '../../../support/scripted-clock.ts';

const LANES = 4;
const WORKERS = 2;

export interface Asked {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: readonly string[];
  readonly client?: string | null;
}

export interface SceneOptions {
  /** Route files by name. */
  readonly routes: Readonly<Record<string, object>>;
  /** The endpoints of each service. */
  readonly pools?: Readonly<Record<string, readonly Endpoint[]>>;
  readonly gateway?: object;
  /** What every listener with TLS serves. */
  readonly certificates?: readonly CertificateFacts[];
}

export class ExplainScene {
  readonly clock: ScriptedClock = createScriptedClock();
  readonly routes: readonly RouteConfig[];
  readonly facts: ExplainFacts;
  readonly maintenance = new Map<string, NonNullable<ServiceFacts['maintenance']>>();
  readonly statuses = new Map<string, ServiceStatus>();
  readonly #catalog: Catalog;
  readonly #cells: ReadonlyMap<string, CellPlace>;

  constructor({ routes, pools = {}, gateway = {}, certificates = [] }: SceneOptions) {
    this.routes = Object.entries(routes).map(([name, route]) => routeOf(name, route));
    this.#catalog = new Catalog(new Set(this.routes.map(({ service }) => service)), {
      lanes: LANES,
      clock: this.clock,
    });
    this.#cells = new Map(this.routes.map(({ name }) => [name, allocateRouteCell(LANES)]));
    for (const [service, endpoints] of Object.entries(pools)) this.#catalog.update(service, endpoints);
    for (const { service, source } of this.routes) {
      const status = { ...unasked(service, source), lastSuccessMs: this.clock.wallMs() - 1200 };
      this.statuses.set(service, status);
    }
    const parsed = gatewaySchema.parse({ listen: [{ address: '127.0.0.1:1' }], ...gateway });
    const { limits, trustedProxies, listen } = parsed;
    this.facts = {
      basis: 'gateway',
      gateway: { limits, trustedProxies },
      listeners: { listen, certificatesOf: () => certificates },
      routes: this.routes,
      routeCell: (route) => this.cell(route),
      serviceOf: (service) => ({
        snapshot: this.snapshot(service),
        status: this.statuses.get(service),
        maintenance: this.maintenance.get(service) ?? null,
      }),
      clock: this.clock,
    };
  }

  cell(route: string): CellPlace {
    const cell = this.#cells.get(route);
    if (cell === undefined) throw new Error(`no route ${route}`);
    return cell;
  }

  snapshot(service: string): ServiceSnapshot {
    const snapshot = this.#catalog.get(service);
    if (snapshot === undefined) throw new Error(`no service ${service}`);
    return snapshot;
  }

  /** The explanation; throws when there is none. */
  explain(asked: Asked = {}): Explanation {
    const explanation = this.ask(asked);
    if (typeof explanation === 'string') throw new Error(explanation);
    return explanation;
  }

  ask({ method = 'GET', url = 'http://shop.test/', headers = [], client = '203.0.113.7' }: Asked) {
    return explain({ method, url, headers, client }, this.facts);
  }

  /** The choice of endpoints of a route in each of the workers. */
  workers(route: string): { readonly pools: PoolSet; readonly choice: RouteChoice }[] {
    return Array.from({ length: WORKERS }, (_, lane) => {
      const pools = new PoolSet({ lane, clock: this.clock, log: new TrafficLog(SILENT), onGone: () => undefined });
      const config = this.routes.find(({ name }) => name === route);
      if (config === undefined) throw new Error(`no route ${route}`);
      pools.replace(this.routes, this.#catalog.all());
      const pool = pools.get(config.service);
      if (pool === undefined) throw new Error(`no pool of ${config.service}`);
      return { pools, choice: new RouteChoice(config, pool, new RouteCell(this.cell(route), lane)) };
    });
  }

  /** All octets that the workers share, to see whether anything has changed. */
  octets(): string {
    const places = [
      ...this.#cells.values(),
      ...this.#catalog.all().flatMap(({ cell, endpoints }) => [cell, ...endpoints.map((each) => each.cell)]),
    ];
    const buffers = [...new Set(places.map(({ buffer }) => buffer))];
    return buffers.map((buffer) => Buffer.from(buffer).toString('base64')).join(' ');
  }
}

export function routeOf(name: string, route: object): RouteConfig {
  const parsed = routeSchema.parse({ service: name, match: [{}], ...route });
  return { name, file: `routes/${name}.yaml`, ...parsed, source: parsed.source ?? 'consul' };
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
