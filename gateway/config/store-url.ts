// Where the table registry keeps its table, as a URL: `sqlite:FILE` or `mysql://USER:PASSWORD@HOST[:PORT]/DATABASE`.
import { isHost } from '../core/address.ts';

export interface SqliteLocation {
  readonly kind: 'sqlite';
  /** The database file, relative to the working directory; `:memory:` keeps nothing. */
  readonly path: string;
}

/** A database of a MySQL or MariaDB server. */
export interface MysqlLocation {
  readonly kind: 'mysql';
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export type StoreLocation = SqliteLocation | MysqlLocation;

/** What a store's URL has to look like, for error texts. */
export const STORE_URL = 'a store like sqlite:data/registry.db or mysql://user:password@host/database';

const MYSQL_PORT = 3306;

/**
 * Reads a store's URL; undefined when it is none. In a user, a password or a database, what has a meaning in a URL is
 * percent-encoded (RFC 3986).
 */
export function parseStoreUrl(written: string): StoreLocation | undefined {
  const path = /^sqlite:(.+)$/s.exec(written)?.[1];
  if (path !== undefined) return path.includes('\0') ? undefined : { kind: 'sqlite', path };
  return /^mysql:\/\//i.test(written) ? parseMysqlUrl(written) : undefined;
}

function parseMysqlUrl(written: string): MysqlLocation | undefined {
  const url = URL.parse(written);
  if (url === null || url.search !== '' || url.hash !== '') return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  if (user === undefined || password === undefined || database === undefined) return undefined;
  if (user === '' || database === '' || database.includes('/') || !isHost(host)) return undefined;
  return { kind: 'mysql', host, port: url.port === '' ? MYSQL_PORT : Number(url.port), user, password, database };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
