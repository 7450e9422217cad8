// The tables of the registry in MySQL or MariaDB.
import { codeOf } from './mysql-fault.ts';
import type { Session } from './mysql-pool.ts';

// Times are UTC by the functions that write them: the time zones of server and session do not matter. Names are
// compared by their octets; two of 255 characters are 2,040 of the 3,072 bytes that a key may have.
const COMMON = 'ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const INSTANCE = `
  service VARCHAR(255) NOT NULL,
  instance VARCHAR(255) NOT NULL,
  addr VARCHAR(255) NOT NULL,
  port SMALLINT UNSIGNED NOT NULL,
  meta MEDIUMTEXT NOT NULL,
  heartbeat DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
  registered DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),`;

const TABLES: Readonly<Record<string, string>> = {
  service_registry: `CREATE TABLE IF NOT EXISTS service_registry (${INSTANCE}
    PRIMARY KEY (service, instance)) ${COMMON}`,
  service_registry_history: `CREATE TABLE IF NOT EXISTS service_registry_history (
    id BIGINT NOT NULL AUTO_INCREMENT,${INSTANCE}
    why VARCHAR(16) NOT NULL,
    gone DATETIME(3) NOT NULL DEFAULT (UTC_TIMESTAMP(3)),
    PRIMARY KEY (id), KEY service (service), KEY gone (gone)) ${COMMON}`,
};

/** Creates the tables that are missing; where both are there, the right to create any is not needed. */
export async function createTables(session: Session): Promise<void> {
  for (const [table, creation] of Object.entries(TABLES)) {
    if (!(await hasTable(session, table))) await session.change(creation);
  }
}

async function hasTable(session: Session, table: string): Promise<boolean> {
  try {
    await session.rows(`SELECT 1 FROM ${table} LIMIT 0`);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ER_NO_SUCH_TABLE') return false;
    throw error;
  }
}
