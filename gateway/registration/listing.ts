// The instances of services, remembered for a short time, and read once for all who ask at the same moment.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import type { ListedInstance, RegistryStore } from './store.ts';

export interface Listing {
  of(service: string): Promise<readonly ListedInstance[]>;
  /** Forgets what is known of the service, and what is being read. */
  invalidate(service: string): void;
}

export interface ListingOptions {
  readonly store: RegistryStore;
  readonly clock: Clock;
  /** How long an answer may be repeated, counted from the question. */
  readonly maxAgeMs: number;
}

/** Most services, and most instances of all of them, that are remembered. */
const MAX_SERVICES = 1000;
const MAX_INSTANCES = 100_000;

export function createListing({ store, clock, maxAgeMs }: ListingOptions): Listing {
  const cache = new LRUCache<string, readonly ListedInstance[]>({
    max: MAX_SERVICES,
    maxSize: MAX_INSTANCES,
    sizeCalculation: ({ length }) => length + 1,
    ttl: maxAgeMs,
    ttlResolution: 0,
    perf: { now: clock.nowMs },
  });
  const readings = new Map<string, Promise<readonly ListedInstance[]>>();

  async function read(service: string, start: number): Promise<readonly ListedInstance[]> {
    const reading = store.list(service);
    readings.set(service, reading);
    try {
      const instances = await reading;
      // What was read before a change must not be remembered after it.
      if (readings.get(service) === reading) cache.set(service, instances, { start });
      return instances;
    } finally {
      if (readings.get(service) === reading) readings.delete(service);
    }
  }
  return {
    async of(service) {
      return cache.get(service) ?? readings.get(service) ?? read(service, clock.nowMs());
    },
    invalidate(service) {
      cache.delete(service);
      readings.delete(service);
    },
  };
}
