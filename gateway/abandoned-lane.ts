// What a worker that is gone held in shared memory: its connections, requests, probes and lease go back.
import { systemClock as clock } from './core/clock.ts';
import type { DiscoveryBook } from './discovery/discovery-book.ts';
import type { RoutesInForce } from './routes-in-force.ts';
import { EndpointCell } from './shared/endpoint-cell.ts';
import type { GatewayCell } from './shared/gateway-cell.ts';
import { releaseLease } from './shared/leader-lease.ts';
import { RouteCell } from './shared/route-cell.ts';
import { ServiceCell } from './shared/service-cell.ts';

export interface SharedPlaces {
  readonly cell: GatewayCell;
  readonly routes: RoutesInForce;
  readonly book: DiscoveryBook;
}

/** Gives back what the worker on `lane` held. */
export function abandonLane(lane: number, { cell, routes, book }: SharedPlaces): void {
  releaseLease(cell.words, lane + 1);
  cell.abandonLane(lane);
  for (const place of routes.cells.values()) new RouteCell(place, -1).abandonLane(lane);
  for (const { cell: service, endpoints } of book.snapshots()) {
    new ServiceCell(service, -1).abandonLane(lane);
    for (const endpoint of endpoints) new EndpointCell(endpoint.cell, -1).abandonLane(lane, clock.nowMs());
  }
}
