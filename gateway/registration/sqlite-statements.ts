// The SQL of the SQLite store: its tables, and the statements on them.
import type { DatabaseSync } from 'node:sqlite';

/** Creates what is missing; times are seconds since the epoch, to the millisecond. */
export const SQLITE_SCHEMA = `
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
    id INTEGER PRIMARY KEY AUTOINCREMENT,
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
  CREATE INDEX IF NOT EXISTS service_registry_history_service ON service_registry_history (service);
`;

export type SqliteStatements = ReturnType<typeof prepareStatements>;

/** Prepares every statement; parameters have names. */
export function prepareStatements(database: DatabaseSync) {
  const one = 'service = :service AND instance = :instance';
  const isAlive = "heartbeat > unixepoch('subsec') - :expirySeconds";
  const row = 'service, instance, addr, port, meta, heartbeat, registered';
  const copy = `INSERT INTO service_registry_history (${row}, why) SELECT ${row}`;
  const expired = 'heartbeat <= :before ORDER BY heartbeat, rowid LIMIT :rows';
  const entry = `SELECT rowid AS id, service, instance, addr, port, meta, why, round(registered * 1000) AS registeredMs,
    round(heartbeat * 1000) AS lastSeenMs, round(gone * 1000) AS goneMs FROM service_registry_history`;
  const page = `rowid > :afterId AND gone >= CASE WHEN :since < 0 THEN unixepoch('subsec') + :since ELSE :since END
    ORDER BY rowid LIMIT :limit`;
  const prepare = (sql: string) => database.prepare(sql);
  return {
    beat: prepare(`UPDATE service_registry SET heartbeat = unixepoch('subsec')
      WHERE ${one} AND addr = :addr AND port = :port AND meta = :meta AND ${isAlive}`),
    find: prepare(`SELECT ${isAlive} AS alive FROM service_registry WHERE ${one}`),
    upsert: prepare(`INSERT INTO service_registry (service, instance, addr, port, meta)
      VALUES (:service, :instance, :addr, :port, :meta) ON CONFLICT (service, instance) DO UPDATE SET
      addr = excluded.addr, port = excluded.port, meta = excluded.meta, heartbeat = unixepoch('subsec')`),
    countOf: prepare('SELECT count(*) AS count FROM service_registry WHERE service = :service'),
    count: prepare('SELECT count(*) AS count FROM service_registry'),
    list: prepare(`SELECT instance, addr, port, meta FROM service_registry
      WHERE service = :service AND ${isAlive} ORDER BY instance`),
    remember: prepare(`${copy}, :why FROM service_registry WHERE ${one}`),
    remove: prepare(`DELETE FROM service_registry WHERE ${one}`),
    expiry: prepare("SELECT unixepoch('subsec') - :expirySeconds AS before"),
    rememberExpired: prepare(`${copy}, 'expired' FROM service_registry WHERE ${expired}`),
    removeExpired: prepare(`DELETE FROM service_registry
      WHERE rowid IN (SELECT rowid FROM service_registry WHERE ${expired})`),
    history: prepare(`${entry} WHERE ${page}`),
    historyOf: prepare(`${entry} WHERE service = :service AND ${page}`),
    forget: prepare(`DELETE FROM service_registry_history WHERE rowid IN (
      SELECT rowid FROM service_registry_history WHERE gone < unixepoch('subsec') - 86400 * :days
      OR rowid <= (SELECT max(rowid) FROM service_registry_history) - :entries LIMIT :rows)`),
  };
}
