// Opens the store that a location names, with its outages told in the log.
import type { StoreLocation } from '../config/store-url.ts';
import { formatAddress } from '../core/address.ts';
import type { Log } from '../core/log.ts';
import { reportOutages } from './outage-log.ts';
import { openSqliteStore } from './sqlite-store.ts';
import type { RegistryStore, StoreOptions } from './store.ts';

/**
 * Rejects when a file cannot be used; a MySQL server may come later. Its driver is loaded only where it is needed.
 */
export async function openStore(location: StoreLocation, options: StoreOptions, log?: Log): Promise<RegistryStore> {
  const store = await openSilently(location, options);
  return log === undefined ? store : reportOutages(store, log);
}

/** The location in a few words, without credentials. */
export function describeLocation(location: StoreLocation): string {
  if (location.kind === 'sqlite') return `sqlite:${location.path}`;
  return `mysql://${formatAddress(location.host, location.port)}/${location.database}`;
}

async function openSilently(location: StoreLocation, options: StoreOptions): Promise<RegistryStore> {
  switch (location.kind) {
    case 'sqlite':
      try {
        return openSqliteStore({ ...options, path: location.path });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`the registry cannot use ${describeLocation(location)}: ${why}`);
      }
    case 'mysql': {
      const { openMysqlStore } = await import('./mysql-store.ts');
      return openMysqlStore({ ...options, location });
    }
  }
}
