// Connections to MySQL or MariaDB: few, every piece of work bounded in time, deadlocks and lost connections tried again.
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createPool,
  type ExecuteValues,
  type Pool,
  type PoolConnection,
  type ResultSetHeader,
  type RowDataPacket,
} from 'mysql2/promise';
import type { MysqlLocation } from '../config/store-url.ts';
import { codeOf, describeFault, isPassing } from './mysql-fault.ts';
import { pause } from './register-pause.ts';
import type { Row } from './stored-row.ts';

/** A connection for as long as a piece of work needs it. */
export interface Session {
  rows(sql: string, values?: ExecuteValues): Promise<readonly Row[]>;
  /** Gives the number of rows that were found to change. */
  change(sql: string, values?: ExecuteValues): Promise<number>;
  transaction<T>(work: () => Promise<T>): Promise<T>;
}

type Work<T> = (session: Session) => Promise<T>;

const CONNECTIONS = 8;
const MAX_WAITING = 2000;
const CONNECT_TIMEOUT_MS = 2000;
/** For the whole of a piece of work with all its tries: less than the 5 s for which a gateway waits. */
const WORK_TIMEOUT_MS = 4000;
const MAX_TRIES = 6;
/** How long a connection that was given up may take to close. */
const CLOSE_MS = 1000;

/** Read committed locks rows but no gaps between them, so those who register side by side do not wait for one another. */
const SESSION_SETTINGS = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION innodb_lock_wait_timeout = 2",
];

export class MysqlPool {
  readonly #pool: Pool;
  readonly #prepare: Work<void>;
  readonly #sockets = new Set<Socket>();
  readonly #known = new WeakSet<object>();
  #isPrepared = false;

  /** `prepare` comes before the first work, and again after work that missed a table. */
  constructor({ host, port, user, password, database }: MysqlLocation, prepare: Work<void>) {
    this.#prepare = prepare;
    this.#pool = createPool({
      user,
      password,
      database,
      stream: () => this.#connect(host, port),
      charset: 'utf8mb4',
      connectTimeout: CONNECT_TIMEOUT_MS,
      connectionLimit: CONNECTIONS,
      queueLimit: MAX_WAITING,
      trace: false,
    });
  }

  /**
   * Does the work on a connection; when it meets a deadlock or a connection that is gone, once more from its start.
   * Rejects within 4 s with an error that can be logged: it names neither user nor password.
   */
  async run<T>(work: Work<T>): Promise<T> {
    const untilMs = performance.now() + WORK_TIMEOUT_MS;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#runOnce(work, untilMs);
      } catch (error) {
        if (codeOf(error) === 'ER_NO_SUCH_TABLE') this.#isPrepared = false;
        if (!isPassing(error) || tries === MAX_TRIES || performance.now() >= untilMs) {
          throw new Error(describeFault(error));
        }
        // Those who blocked one another must not meet again.
        await delay(Math.random() * 10 * 2 ** tries);
      }
    }
  }

  /** Ends the connections; those that the database does not close within a second are cut. Never rejects. */
  async close(): Promise<void> {
    const ended = new AbortController();
    const end = this.#pool.end().catch(() => undefined);
    // mysql2 waits for ever for a connection that `#runOnce` gives up meanwhile, so the second bounds the wait too.
    await Promise.race([end, pause(CLOSE_MS, ended.signal)]);
    ended.abort();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #runOnce<T>(work: Work<T>, untilMs: number): Promise<T> {
    const timeout = Promise.withResolvers<never>();
    let connection: PoolConnection | undefined;
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      connection?.destroy();
      timeout.reject(new Error('the database does not answer in time'));
    }, untilMs - performance.now());
    const doWork = async (): Promise<T> => {
      connection = await this.#pool.getConnection();
      try {
        if (isOver) return await timeout.promise;
        const session = await this.#session(connection);
        if (!this.#isPrepared) await this.#prepare(session);
        this.#isPrepared = true;
        return await work(session);
      } finally {
        // One that was destroyed is no longer the pool's.
        connection.release();
      }
    };
    return Promise.race([doWork(), timeout.promise]).finally(() => clearTimeout(timer));
  }

  async #session(connection: PoolConnection): Promise<Session> {
    const { connection: core } = connection;
    if (!this.#known.has(core)) {
      // An idle connection that breaks must not end the process; the pool notices by itself.
      core.on('error', () => undefined);
      for (const statement of SESSION_SETTINGS) await connection.query(statement);
      this.#known.add(core);
    }
    return {
      async rows(sql, values = []) {
        const [rows] = await connection.execute<RowDataPacket[]>(sql, values);
        return rows;
      },
      async change(sql, values = []) {
        const [header] = await connection.execute<ResultSetHeader>(sql, values);
        return header.affectedRows;
      },
      async transaction(work) {
        await connection.beginTransaction();
        try {
          const result = await work();
          await connection.commit();
          return result;
        } catch (error) {
          await connection.rollback().catch(() => connection.destroy());
          throw error;
        }
      },
    };
  }

  #connect(host: string, port: number): Socket {
    const socket = connect({ host, port, noDelay: true, keepAlive: true });
    this.#sockets.add(socket);
    // mysql2 only says that it has no more to send: a database that hangs would keep the connection for ever.
    socket.once('finish', () => setTimeout(() => socket.destroy(), CLOSE_MS).unref());
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}
