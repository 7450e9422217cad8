// The databases that a registry may keep its table in, empty and real, with SQL of their own at hand.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openMysqlStore } from '../../gateway/registration/mysql-store.ts';
import { openSqliteStore } from '../../gateway/registration/sqlite-store.ts';
import type { RegistryStore, StoreOptions } from '../../gateway/registration/store.ts';
import type { RealMariadb } from './real-mariadb.ts';

export interface RegistryDatabase {
  /** Opens another store on the same tables. */
  open(): RegistryStore;
  /** Runs SQL on a connection of its own, as another process would. */
  sql(statement: string): Promise<Record<string, unknown>[]>;
  /** SQL for the time in a column, so many seconds earlier. */
  earlier(column: string, seconds: number): string;
  close(): Promise<void>;
}

/** A new file in a folder of its own. */
export async function createSqliteDatabase(options: StoreOptions): Promise<RegistryDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-store-'));
  const path = join(folder, 'registry.db');
  return {
    open: () => openSqliteStore({ path, ...options }),
    async sql(statement) {
      const database = new DatabaseSync(path, { timeout: 2000 });
      try {
        return database.prepare(statement).all();
      } finally {
        database.close();
      }
    },
    earlier: (column, seconds) => `${column} - ${seconds}`,
    close: () => rm(folder, { recursive: true }),
  };
}

/** The database of a running server, without tables; closing it leaves the server running. */
export async function createMariadbDatabase(server: RealMariadb, options: StoreOptions): Promise<RegistryDatabase> {
  const { location, sql } = server;
  await sql('DROP TABLE IF EXISTS service_registry, service_registry_history');
  return {
    open: () => openMysqlStore({ location, ...options }),
    sql,
    earlier: (column, seconds) => `${column} - INTERVAL ${seconds} SECOND`,
    close: async () => undefined,
  };
}
