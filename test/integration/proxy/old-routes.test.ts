// Routes that were replaced: what still runs under them keeps its own route in memory and nothing else.
import { once } from 'node:events';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type GatewayConfig, gatewaySchema } from '../../../gateway/config/gateway-schema.ts';
import { type RouteConfig, routeSchema } from '../../../gateway/config/route-schema.ts';
import { systemClock } from '../../../gateway/core/clock.ts';
import { Catalog } from '../../../gateway/pool/catalog.ts';
import { DataPlane, type Routing } from '../../../gateway/proxy/data-plane.ts';
import { allocateGatewayCell, GatewayCell } from '../../../gateway/shared/gateway-cell.ts';
import { allocateRouteCell } from '../../../gateway/shared/route-cell.ts';
import { allocateTlsCell, TlsCell } from '../../../gateway/shared/tls-cell.ts';
import { collect } from '../../support/collect.ts';
import { endpoint } from '../../support/endpoints.ts';
import { type StreamService, startStreamService } from '../../support/long-streams.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUTES = 20;
const RELOADS = 60;
const RELOADS_PER_STREAM = 10;

describe('routes that were replaced', () => {
  let owned: AsyncDisposableStack;
  let service: StreamService;
  let plane: DataPlane;
  let routing: Routing;
  /** Every configuration of a route that was put in force by a reload. */
  let configs: WeakRef<RouteConfig>[];

  beforeEach(async () => {
    owned = new AsyncDisposableStack();
    configs = [];
    service = owned.adopt(await startStreamService('one'), (server) => server.stop());
    const catalog = new Catalog(['s'], { lanes: 1, clock: systemClock });
    catalog.update('s', [endpoint(service.port)]);
    const names = Array.from({ length: ROUTES }, (_, at) => `r${at}`);
    const routes = names.map((name): RouteConfig => {
      const given = { service: 's', match: [{ paths: [`/${name}/*`] }] };
      return { name, file: `${name}.yaml`, ...routeSchema.parse(given), source: 'static' };
    });
    routing = {
      routes,
      routeCells: new Map(names.map((name) => [name, allocateRouteCell(1)])),
      limitTable: null,
      services: catalog.all(),
    };
    const gateway: GatewayConfig = gatewaySchema.parse({ listen: [{ address: '127.0.0.1:1' }] });
    plane = owned.adopt(
      new DataPlane({
        gateway: {
          ...gateway,
          listen: [
            { host: '127.0.0.1', port: 0, tls: null, http2: false, proxyProtocol: [], redirect: null, hsts: null },
          ],
        },
        // A worker keeps what it was born with.
        routing,
        onKept: () => undefined,
        tracer: null,
        gatehouse: { prepare: () => new Map(), stop: async () => undefined },
        tls: { materials: new Map(), ticketKeys: new Uint8Array(48) },
        tlsCounts: new TlsCell(allocateTlsCell(1), 0),
        cell: new GatewayCell(allocateGatewayCell(1), 0),
        lane: 0,
        reusePort: false,
        clock: systemClock,
        log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
        onFinished: null,
      }),
      (each) => each.stop(),
    );
    await plane.listen();
  });
  afterEach(() => owned.disposeAsync());

  /** Reloads: a worker gets a copy of its own each time. */
  function reload(): void {
    const routes = structuredClone(routing.routes);
    configs.push(...routes.map((route) => new WeakRef(route)));
    plane.replaceRoutes({ ...routing, routes });
  }

  /** How many of all configurations are still in memory. */
  async function alive(): Promise<number> {
    await immediate();
    collect();
    return configs.filter((ref) => ref.deref() !== undefined).length;
  }

  const atMost = (count: number) =>
    waitFor(async () => (await alive()) <= count, { limitMs: 10_000, what: `at most ${count} configurations` });

  it('stay in memory one by one, and only as long as a stream runs under them (case 133)', async () => {
    const tunnels: WebSocket[] = [];
    for (let time = 0; time < RELOADS; time++) {
      reload();
      if (time % RELOADS_PER_STREAM === 0) {
        const tunnel = new WebSocket(`ws://127.0.0.1:${plane.ports[0]}/r${time % 7}/chat`);
        owned.defer(() => tunnel.terminate());
        await once(tunnel, 'open');
        tunnels.push(tunnel);
      }
    }
    expect(configs).toHaveLength(RELOADS * ROUTES);
    await atMost(ROUTES + tunnels.length);
    // The streams are still at work.
    for (const tunnel of tunnels) {
      const echoed = once(tunnel, 'message');
      tunnel.send('there');
      expect(String((await echoed)[0])).toBe('there');
    }
    for (const tunnel of tunnels) tunnel.terminate();
    await atMost(ROUTES);
    expect(await alive()).toBe(ROUTES);
  });

  it('are gone when a request that began under them has been answered', async () => {
    reload();
    const events = await fetch(`http://127.0.0.1:${plane.ports[0]}/r1/events`);
    for (let time = 0; time < RELOADS; time++) reload();
    await atMost(ROUTES + 1);
    service.endEvents();
    expect((await events.text()).endsWith('data: end\n\n')).toBe(true);
    await atMost(ROUTES);
  });
});

function ignore(): void {}
