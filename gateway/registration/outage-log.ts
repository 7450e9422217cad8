// A store that tells the log when its database fails and when it works again: a line for each turn, not for each call.
import type { Log } from '../core/log.ts';
import type { RegistryStore } from './store.ts';

/** Wraps the store; each call does and gives what it did and gave before. */
export function reportOutages(store: RegistryStore, log: Log): RegistryStore {
  let failures = 0;
  async function watched<T>(call: () => Promise<T>): Promise<T> {
    try {
      const result = await call();
      if (failures > 0) log.info({ failures }, 'registry: the database works again');
      failures = 0;
      return result;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Another failure may have been counted while this call was on its way.
      if (failures++ === 0) log.error({ why }, 'registry: the database fails');
      throw error;
    }
  }
  return {
    register: (registration) => watched(() => store.register(registration)),
    deregister: (key) => watched(() => store.deregister(key)),
    list: (service) => watched(() => store.list(service)),
    history: (query) => watched(() => store.history(query)),
    cleanUp: () => watched(() => store.cleanUp()),
    close: () => store.close(),
  };
}
