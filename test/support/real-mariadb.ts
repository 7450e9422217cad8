// A real MariaDB for tests: on a free port, in a folder of its own, ended by its process ID.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Connection, createConnection } from 'mysql2/promise';
import type { MysqlLocation } from '../../gateway/config/store-url.ts';
import { findFreePorts } from './free-ports.ts';
import { freezeProcess } from './freeze-process.ts';
import { tieToThisProcess } from './lifeline.ts';
import { waitFor } from './wait-for.ts';

export interface RealMariadb {
  readonly location: MysqlLocation;
  /** The same as a URL of a store. */
  readonly url: string;
  /** Runs a statement as an administrator, on a connection of its own; gives the rows, if there are any. */
  sql(statement: string): Promise<Record<string, unknown>[]>;
  /** Freezes the process (SIGSTOP): connections stay, and once this resolves nothing answers. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Ends it at once. */
  kill(): Promise<void>;
  /** Starts it again on the same port after `kill`, with what it had stored. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  close(): Promise<void>;
}

const START_LIMIT_MS = 40_000;
const ACCOUNT = { user: 'weir', password: 's%cret/@1', database: 'weir_test' };
const ADMIN = { user: 'admin', password: 'admin' };

/** Debian keeps servers where only root looks for programs. */
const ENVIRONMENT = { ...process.env, PATH: [process.env.PATH, '/usr/sbin', '/usr/local/sbin'].join(delimiter) };

/** `mariadbd` obeys root only when it is told to. */
const AS_ROOT = process.getuid?.() === 0 ? ['--user=root'] : [];

/**
 * Whether the machine has MariaDB. Without it the tests that need it are skipped with a line that says so; on CI
 * (`CI=true`) that is an error instead, so that they never go missing there.
 */
export function hasMariadb(): boolean {
  if (spawnSync('mariadbd', ['--version'], { env: ENVIRONMENT }).status === 0) return true;
  if (process.env.CI === 'true') throw new Error('MariaDB is missing: run scripts/install-mariadb.sh');
  console.warn('SKIPPED: MariaDB is missing; scripts/install-mariadb.sh installs it');
  return false;
}

/** Makes a database that is empty, and waits until its server answers. */
export async function startMariadb(): Promise<RealMariadb> {
  // Between finding a port and taking it somebody else may have taken it.
  return startOnce().catch(startOnce);
}

async function startOnce(): Promise<RealMariadb> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-mariadb-'));
  const [port = 0] = await findFreePorts(1);
  const { user, password, database } = ACCOUNT;
  let server: ChildProcess | undefined;
  let untie = (): void => undefined;

  async function sql(statement: string): Promise<Record<string, unknown>[]> {
    const connection = await connectAsAdmin(port, database);
    try {
      const [rows] = await connection.query(statement);
      return Array.isArray(rows) ? JSON.parse(JSON.stringify(rows)) : [];
    } finally {
      await connection.end();
    }
  }
  async function start(): Promise<void> {
    const started = spawnServer(folder, port);
    server = started;
    untie = tieToThisProcess(started.pid ?? 0);
    const isReady = () => {
      if (started.exitCode !== null) throw new Error(`mariadbd ended with ${started.exitCode}`);
      return sql('SELECT 1').then(
        () => true,
        () => false,
      );
    };
    await waitFor(isReady, { limitMs: START_LIMIT_MS, what: 'a MariaDB that answers' });
  }
  async function kill(): Promise<void> {
    untie();
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  }
  async function close(): Promise<void> {
    await kill();
    await rm(folder, { recursive: true, force: true });
  }
  try {
    await install(folder);
    await start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    location: { kind: 'mysql', host: '127.0.0.1', port, user, password, database },
    url: `mysql://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`,
    sql,
    async freeze() {
      if (server?.pid === undefined) throw new Error('mariadbd does not run');
      await freezeProcess(server.pid);
    },
    thaw: () => void server?.kill('SIGCONT'),
    kill,
    restart: start,
    close,
  };
}

/** Makes the tables of the server itself, and what it runs at each start: the accounts and the database of the tests. */
async function install(folder: string): Promise<void> {
  const { user, password, database } = ACCOUNT;
  const accounts = [
    `CREATE DATABASE IF NOT EXISTS ${database};`,
    `CREATE OR REPLACE USER '${user}'@'127.0.0.1' IDENTIFIED BY '${password}';`,
    `GRANT ALL ON ${database}.* TO '${user}'@'127.0.0.1';`,
    `CREATE OR REPLACE USER '${ADMIN.user}'@'127.0.0.1' IDENTIFIED BY '${ADMIN.password}';`,
    `GRANT ALL ON *.* TO '${ADMIN.user}'@'127.0.0.1' WITH GRANT OPTION;`,
  ];
  await writeFile(join(folder, 'init.sql'), `${accounts.join('\n')}\n`);
  const args = ['--no-defaults', ...AS_ROOT, `--datadir=${join(folder, 'data')}`, '--skip-test-db'];
  const installation = spawn('mariadb-install-db', args, { stdio: ['ignore', 'pipe', 'pipe'], env: ENVIRONMENT });
  let said = '';
  for (const stream of [installation.stdout, installation.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const [code] = await once(installation, 'close');
  if (code !== 0) throw new Error(`mariadb-install-db ended with ${code}: ${said.slice(-2000)}`);
}

function spawnServer(folder: string, port: number): ChildProcess {
  const options = {
    datadir: join(folder, 'data'),
    'init-file': join(folder, 'init.sql'),
    socket: join(folder, 'socket'),
    'pid-file': join(folder, 'pid'),
    'log-error': join(folder, 'error.log'),
    'bind-address': '127.0.0.1',
    port: String(port),
    'innodb-buffer-pool-size': '32M',
    'innodb-log-file-size': '16M',
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  return spawn('mariadbd', ['--no-defaults', ...AS_ROOT, '--skip-name-resolve', ...args], {
    stdio: 'ignore',
    env: ENVIRONMENT,
  });
}

function connectAsAdmin(port: number, database: string): Promise<Connection> {
  return createConnection({ host: '127.0.0.1', port, ...ADMIN, database, dateStrings: true });
}
