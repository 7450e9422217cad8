// The table registry's memory in SQLite.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { prepareStatements, SQLITE_SCHEMA, type SqliteStatements } from './sqlite-statements.ts';
import {
  HISTORY_DAYS,
  HISTORY_ENTRIES,
  type HistoryQuery,
  type RegisterOutcome,
  type RegistryLimits,
  type RegistryStore,
  type StoreOptions,
} from './store.ts';
import { historyEntry, listedInstance } from './stored-row.ts';

export interface SqliteStoreOptions extends StoreOptions {
  /** The database file; its folder is created. `:memory:` keeps nothing. */
  readonly path: string;
}

/** Milliseconds to wait for another process that writes to the same file. */
const BUSY_TIMEOUT_MS = 2000;

/** Rows that a clean-up moves or forgets before it lets others have their turn. */
const BATCH_ROWS = 500;

/** Opens the database and creates what it lacks. Throws when the file cannot be used. */
export function openSqliteStore({ path, expirySeconds, limits }: SqliteStoreOptions): RegistryStore {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec(SQLITE_SCHEMA);
  } catch (error) {
    database.close();
    throw error;
  }
  const statements = prepareStatements(database);

  return {
    async register({ service, instance, addr, port, meta }) {
      const key = { service, instance };
      const row = { ...key, addr, port, meta: JSON.stringify(meta) };
      // Nearly every call: nothing is new but the time.
      if (statements.beat.run({ ...row, expirySeconds }).changes > 0) return 'heartbeat';
      return inTransaction(database, (): RegisterOutcome => {
        const known = statements.find.get({ ...key, expirySeconds });
        const isAlive = known?.alive === 1;
        const refusal = known === undefined ? fullness(statements, service, limits) : null;
        if (refusal !== null) return refusal;
        if (known !== undefined && !isAlive) bury(statements, { ...key, why: 'expired' });
        statements.upsert.run(row);
        return isAlive ? 'changed' : 'registered';
      });
    },
    async deregister({ service, instance }) {
      const key = { service, instance };
      return inTransaction(database, () => {
        const known = statements.find.get({ ...key, expirySeconds });
        if (known === undefined) return false;
        const isAlive = known.alive === 1;
        bury(statements, { ...key, why: isAlive ? 'deregistered' : 'expired' });
        return isAlive;
      });
    },
    async list(service) {
      return statements.list.all({ service, expirySeconds }).map(listedInstance);
    },
    async history(query) {
      const { service = null, afterId, limit } = query;
      const since = sinceOf(query);
      const rows =
        service === null
          ? statements.history.all({ since, afterId, limit })
          : statements.historyOf.all({ service, since, afterId, limit });
      return rows.map(historyEntry);
    },
    async cleanUp() {
      let moved = 0;
      for (let batch = BATCH_ROWS; batch === BATCH_ROWS; moved += batch) {
        batch = inTransaction(database, () => {
          // One moment for both statements, else a row could be deleted without having been copied.
          const before = Number(statements.expiry.get({ expirySeconds })?.before);
          statements.rememberExpired.run({ before, rows: BATCH_ROWS });
          return Number(statements.removeExpired.run({ before, rows: BATCH_ROWS }).changes);
        });
        await nextTurn();
      }
      for (let batch = BATCH_ROWS; batch === BATCH_ROWS; ) {
        const bounds = { days: HISTORY_DAYS, entries: HISTORY_ENTRIES, rows: BATCH_ROWS };
        batch = Number(statements.forget.run(bounds).changes);
        await nextTurn();
      }
      return moved;
    },
    async close() {
      database.close();
    },
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

/** Why there is no room for another instance of the service; null when there is. */
function fullness(statements: SqliteStatements, service: string, limits: RegistryLimits): RegisterOutcome | null {
  if (Number(statements.countOf.get({ service })?.count) >= limits.perService) return 'service_full';
  return Number(statements.count.get()?.count) >= limits.total ? 'registry_full' : null;
}

function bury(statements: SqliteStatements, row: { service: string; instance: string; why: string }): void {
  statements.remember.run(row);
  statements.remove.run({ service: row.service, instance: row.instance });
}

/** The earliest time that is asked for, in seconds: of the epoch, or, where it is negative, from now. */
function sinceOf({ since }: HistoryQuery): number {
  if (since === undefined) return 0;
  return since.kind === 'time' ? Math.max(0, since.wallMs / 1000) : -since.durationMs / 1000;
}
