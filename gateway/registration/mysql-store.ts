// The table registry's memory in MySQL or MariaDB, which several registries may share.
import type { MysqlLocation } from '../config/store-url.ts';
import { MysqlPool, type Session } from './mysql-pool.ts';
import { createTables } from './mysql-schema.ts';
import {
  HISTORY_DAYS,
  HISTORY_ENTRIES,
  type HistoryQuery,
  type InstanceKey,
  type RegisterOutcome,
  type RegistryLimits,
  type RegistryStore,
  type StoreOptions,
} from './store.ts';
import { historyEntry, listedInstance } from './stored-row.ts';

export interface MysqlStoreOptions extends StoreOptions {
  readonly location: MysqlLocation;
}

/** Rows of the history that one statement forgets. */
const BATCH_ROWS = 1000;

const ONE = 'service = ? AND instance = ?';
const IS_ALIVE = 'heartbeat > UTC_TIMESTAMP(3) - INTERVAL ? SECOND';
const ROW = 'service, instance, addr, port, meta, heartbeat, registered';
const COPY = `INSERT INTO service_registry_history (${ROW}, why, gone) SELECT ${ROW}`;
const BEAT = `UPDATE service_registry SET heartbeat = UTC_TIMESTAMP(3)
  WHERE ${ONE} AND addr = ? AND port = ? AND meta = ? AND ${IS_ALIVE}`;
const FIND = `SELECT ${IS_ALIVE} AS alive FROM service_registry WHERE ${ONE} FOR UPDATE`;
const UPSERT = `INSERT INTO service_registry (${ROW})
  VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))
  ON DUPLICATE KEY UPDATE addr = ?, port = ?, meta = ?, heartbeat = UTC_TIMESTAMP(3)`;
const LIST = `SELECT instance, addr, port, meta FROM service_registry
  WHERE service = ? AND ${IS_ALIVE} ORDER BY instance`;
const ENTRY = `SELECT id, service, instance, addr, port, meta, why, ${millisecondsOf('registered')} AS registeredMs,
  ${millisecondsOf('heartbeat')} AS lastSeenMs, ${millisecondsOf('gone')} AS goneMs FROM service_registry_history`;

/** Gives the store at once: a database that is not there yet is tried again by every call, and its tables created. */
export function openMysqlStore({ location, expirySeconds, limits }: MysqlStoreOptions): RegistryStore {
  const pool = new MysqlPool(location, createTables);
  return {
    register({ service, instance, addr, port, meta }) {
      const key = { service, instance };
      const facts = [addr, port, JSON.stringify(meta)];
      return pool.run(async (session): Promise<RegisterOutcome> => {
        // Nearly every call: nothing is new but the time.
        if ((await session.change(BEAT, [service, instance, ...facts, expirySeconds])) > 0) return 'heartbeat';
        return session.transaction(async () => {
          const state = await findState(session, key, expirySeconds);
          const refusal = state === 'unknown' ? await fullness(session, service, limits) : null;
          if (refusal !== null) return refusal;
          if (state === 'expired') await bury(session, key, 'expired');
          await session.change(UPSERT, [service, instance, ...facts, ...facts]);
          return state === 'alive' ? 'changed' : 'registered';
        });
      });
    },
    deregister(key) {
      return pool.run((session) =>
        session.transaction(async () => {
          const state = await findState(session, key, expirySeconds);
          if (state === 'unknown') return false;
          await bury(session, key, state === 'alive' ? 'deregistered' : 'expired');
          return state === 'alive';
        }),
      );
    },
    list(service) {
      return pool.run(async (session) => (await session.rows(LIST, [service, expirySeconds])).map(listedInstance));
    },
    history(query) {
      return pool.run((session) => readHistory(session, query));
    },
    async cleanUp() {
      const [before, services] = await pool.run((session) => findExpired(session, expirySeconds));
      let moved = 0;
      for (const service of services) moved += await pool.run((session) => moveExpired(session, service, before));
      await pool.run(forget);
      return moved;
    },
    close() {
      return pool.close();
    },
  };
}

/** Locks the row, if there is one, until the transaction ends. */
async function findState(
  session: Session,
  { service, instance }: InstanceKey,
  expirySeconds: number,
): Promise<'alive' | 'expired' | 'unknown'> {
  const [row] = await session.rows(FIND, [expirySeconds, service, instance]);
  if (row === undefined) return 'unknown';
  return Number(row.alive) === 1 ? 'alive' : 'expired';
}

/** Why there is no room for another instance of the service; null when there is. */
async function fullness(session: Session, service: string, limits: RegistryLimits): Promise<RegisterOutcome | null> {
  const [of] = await session.rows('SELECT COUNT(*) AS count FROM service_registry WHERE service = ?', [service]);
  if (Number(of?.count) >= limits.perService) return 'service_full';
  const [all] = await session.rows('SELECT COUNT(*) AS count FROM service_registry');
  return Number(all?.count) >= limits.total ? 'registry_full' : null;
}

async function bury(session: Session, { service, instance }: InstanceKey, why: string): Promise<void> {
  await session.change(`${COPY}, ?, UTC_TIMESTAMP(3) FROM service_registry WHERE ${ONE}`, [why, service, instance]);
  await session.change(`DELETE FROM service_registry WHERE ${ONE}`, [service, instance]);
}

/** The moment before which a heartbeat is too old, and the services with such instances. */
async function findExpired(session: Session, expirySeconds: number): Promise<[before: string, services: string[]]> {
  const [moment] = await session.rows('SELECT CAST(UTC_TIMESTAMP(3) - INTERVAL ? SECOND AS CHAR) AS before_', [
    expirySeconds,
  ]);
  const before = String(moment?.before_);
  const rows = await session.rows('SELECT DISTINCT service FROM service_registry WHERE heartbeat <= ?', [before]);
  return [before, rows.map(({ service }) => String(service))];
}

async function moveExpired(session: Session, service: string, before: string): Promise<number> {
  const expired = 'FROM service_registry WHERE service = ? AND heartbeat <= ?';
  return session.transaction(async () => {
    // Locked first, so that what is copied is what is deleted, whoever else cleans up or sends a heartbeat.
    const locked = await session.rows(`SELECT instance ${expired} FOR UPDATE`, [service, before]);
    if (locked.length === 0) return 0;
    await session.change(`${COPY}, 'expired', UTC_TIMESTAMP(3) ${expired}`, [service, before]);
    return session.change(`DELETE ${expired}`, [service, before]);
  });
}

async function forget(session: Session): Promise<void> {
  const [newest] = await session.rows('SELECT COALESCE(MAX(id), 0) AS id FROM service_registry_history');
  await deleteHistory(session, 'id <= ?', Number(newest?.id) - HISTORY_ENTRIES);
  await deleteHistory(session, 'gone < UTC_TIMESTAMP(3) - INTERVAL ? DAY', HISTORY_DAYS);
}

async function deleteHistory(session: Session, condition: string, bound: number): Promise<void> {
  const sql = `DELETE FROM service_registry_history WHERE ${condition} LIMIT ${BATCH_ROWS}`;
  while ((await session.change(sql, [bound])) === BATCH_ROWS);
}

async function readHistory(session: Session, { service, since, afterId, limit }: HistoryQuery) {
  const conditions = ['id > ?'];
  const values: (string | number)[] = [afterId];
  if (service !== undefined) {
    conditions.push('service = ?');
    values.push(service);
  }
  if (since?.kind === 'time') {
    conditions.push("gone >= TIMESTAMP('1970-01-01 00:00:00') + INTERVAL ? MICROSECOND");
    values.push(since.wallMs * 1000);
  } else if (since !== undefined) {
    conditions.push('gone >= UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND');
    values.push(since.durationMs * 1000);
  }
  // A bound number is sent as a float, which LIMIT does not take; this one was checked.
  const sql = `${ENTRY} WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ${Math.trunc(limit)}`;
  return (await session.rows(sql, values)).map(historyEntry);
}

function millisecondsOf(column: string): string {
  return `TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', ${column}) DIV 1000`;
}
