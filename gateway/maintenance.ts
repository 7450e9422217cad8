// Services that an operator has taken out of service: their fallback answers until they are put back.
import { systemClock as clock } from './core/clock.ts';
import type { Log } from './core/log.ts';
import type { ServiceSnapshot } from './pool/snapshot.ts';
import { ServiceCell } from './shared/service-cell.ts';

export interface UnderMaintenance {
  readonly sinceMs: number;
  readonly reason: string;
}

export class Maintenance {
  readonly #log: Log;
  readonly #services = new Map<string, UnderMaintenance>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Since when and why; null when the service is in service. */
  of(service: string): UnderMaintenance | null {
    return this.#services.get(service) ?? null;
  }

  /** Takes a service out of service, for all workers. */
  begin({ service, cell }: ServiceSnapshot, reason: string): void {
    this.#services.set(service, { sinceMs: clock.wallMs(), reason });
    new ServiceCell(cell, -1).setMaintenance(true);
    this.#log.warn({ service, reason }, 'an operator took the service out of service');
  }

  end({ service, cell }: ServiceSnapshot): void {
    this.#services.delete(service);
    new ServiceCell(cell, -1).setMaintenance(false);
    this.#log.info({ service }, 'an operator put the service back in service');
  }

  /** Forgets services that no route uses any more. */
  keepOnly(services: ReadonlySet<string>): void {
    for (const service of this.#services.keys()) if (!services.has(service)) this.#services.delete(service);
  }
}
