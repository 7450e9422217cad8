// The table registry's memory in SQLite.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import type { ListedInstance, RegisterOutcome, RegistryStore } from './store.ts';

export interface SqliteStoreOptions {
  /** The database file; its folder is created. `:memory:` keeps nothing. */
  readonly path: string;
  /** Seconds after its last heartbeat at which an instance is gone. */
  readonly expirySeconds: number;
}

/** Days that the history remembers. */
const HISTORY_DAYS = 30;

/** Milliseconds to wait for another process that writes to the same file. */
const BUSY_TIMEOUT_MS = 2000;

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS service_registry (
    service TEXT NOT NULL,
    instance TEXT NOT NULL,
    addr TEXT NOT NULL,
    port INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535),
    meta TEXT NOT NULL DEFAULT '{}',
    heartbeat REAL NOT NULL DEFAULT (unixepoch('subsec')),
    registered REAL NOT NULL DEFAULT (unixepoch('subsec')),
    UNIQUE (service, instance)
  );
  CREATE INDEX IF NOT EXISTS service_registry_heartbeat ON service_registry (heartbeat);
  CREATE TABLE IF NOT EXISTS service_registry_history (
    service TEXT NOT NULL,
    instance TEXT NOT NULL,
    addr TEXT NOT NULL,
    port INTEGER NOT NULL,
    meta TEXT NOT NULL,
    heartbeat REAL NOT NULL,
    registered REAL NOT NULL,
    why TEXT NOT NULL,
    gone REAL NOT NULL DEFAULT (unixepoch('subsec'))
  );
  CREATE INDEX IF NOT EXISTS service_registry_history_gone ON service_registry_history (gone);
`;

/** Opens the database and creates what it lacks. Throws when the file cannot be used. */
export function openSqliteStore({ path, expirySeconds }: SqliteStoreOptions): RegistryStore {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec(SCHEMA);
  } catch (error) {
    database.close();
    throw error;
  }
  const statements = prepareStatements(database);

  return {
    async register({ service, instance, addr, port, meta }) {
      const json = JSON.stringify(meta);
      return inTransaction(database, (): RegisterOutcome => {
        const known = statements.find.get({ service, instance, expirySeconds });
        statements.upsert.run({ service, instance, addr, port, meta: json });
        if (known === undefined || known.alive === 0) return 'registered';
        return known.addr === addr && known.port === port && known.meta === json ? 'heartbeat' : 'changed';
      });
    },
    async deregister({ service, instance }) {
      return inTransaction(database, () => {
        statements.rememberOne.run({ service, instance });
        return statements.remove.run({ service, instance }).changes > 0;
      });
    },
    async list(service) {
      return statements.list.all({ service, expirySeconds }).map(listedInstance);
    },
    async cleanUp() {
      return inTransaction(database, () => {
        // One moment for both statements, else a row could be deleted without having been copied.
        const before = Number(statements.expiry.get({ expirySeconds })?.before);
        statements.rememberExpired.run({ before });
        statements.forget.run({ days: HISTORY_DAYS });
        return Number(statements.removeExpired.run({ before }).changes);
      });
    },
    async close() {
      database.close();
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  const copy = 'INSERT INTO service_registry_history (service, instance, addr, port, meta, heartbeat, registered, why)';
  const row = 'service, instance, addr, port, meta, heartbeat, registered';
  return {
    find: database.prepare(`
      SELECT addr, port, meta, heartbeat > unixepoch('subsec') - :expirySeconds AS alive
      FROM service_registry WHERE service = :service AND instance = :instance`),
    upsert: database.prepare(`
      INSERT INTO service_registry (service, instance, addr, port, meta)
      VALUES (:service, :instance, :addr, :port, :meta)
      ON CONFLICT (service, instance) DO UPDATE SET
        addr = excluded.addr, port = excluded.port, meta = excluded.meta, heartbeat = unixepoch('subsec')`),
    list: database.prepare(`
      SELECT instance, addr, port, meta FROM service_registry
      WHERE service = :service AND heartbeat > unixepoch('subsec') - :expirySeconds ORDER BY instance`),
    rememberOne: database.prepare(`
      ${copy} SELECT ${row}, 'deregistered' FROM service_registry WHERE service = :service AND instance = :instance`),
    remove: database.prepare('DELETE FROM service_registry WHERE service = :service AND instance = :instance'),
    expiry: database.prepare("SELECT unixepoch('subsec') - :expirySeconds AS before"),
    rememberExpired: database.prepare(`
      ${copy} SELECT ${row}, 'expired' FROM service_registry WHERE heartbeat <= :before`),
    removeExpired: database.prepare('DELETE FROM service_registry WHERE heartbeat <= :before'),
    forget: database.prepare("DELETE FROM service_registry_history WHERE gone < unixepoch('subsec') - 86400 * :days"),
  };
}

/** Takes the write lock first: SQLite cannot wait for it once a transaction has read. */
function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function listedInstance(row: Record<string, SQLOutputValue>): ListedInstance {
  const { instance, addr, port, meta } = row;
  return { instance: String(instance), addr: String(addr), port: Number(port), meta: readMeta(String(meta)) };
}

/** Meta that others wrote into the table by hand may be anything; what is no object is none. */
function readMeta(json: string): ListedInstance['meta'] {
  try {
    const value: unknown = JSON.parse(json);
    return isMeta(value) ? value : {};
  } catch {
    return {};
  }
}

function isMeta(value: unknown): value is ListedInstance['meta'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
