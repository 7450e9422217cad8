// The registries of the registration drill: Consul, or `weir registry` on SQLite or MariaDB; each can be killed and started.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { tieToThisProcess } from '../../test/support/lifeline.ts';
import { startMariadb } from '../../test/support/real-mariadb.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { DrillConsul, ROOT_TOKEN } from './consul.ts';
import { freeRange } from './free-range.ts';

export interface DrillRegistry {
  readonly title: string;
  /** For `weir register --registry`. */
  readonly registerUrl: string;
  /** What proves to it that an instance may register. */
  readonly environment: Readonly<Record<string, string>>;
  /** The `discovery` section of gateway.yaml, without the snapshot. */
  readonly discovery: object;
  /** Where `weir/client` finds it. */
  readonly client: object;
  /** The instances that it lists as well, as `address:port`, one for each registration. */
  endpoints(service: string): Promise<readonly string[]>;
  /** Ends it at once. */
  kill(): Promise<void>;
  /** Starts it again; resolves when it answers. */
  start(): Promise<void>;
  /** Its database, where that is a process of its own. */
  readonly database: { kill(): Promise<void>; start(): Promise<void> } | null;
  close(): Promise<void>;
}

export const REGISTRIES = { consul: startConsul, sqlite: startSqlite, mariadb: startOnMariadb } as const;
export type RegistryName = keyof typeof REGISTRIES;

const CLI = resolve(import.meta.dirname, '../../gateway/cli.ts');
const START_LIMIT_MS = 30_000;
const POLL = '250ms';

async function startConsul(): Promise<DrillRegistry> {
  const consul = new DrillConsul(await freeRange(4));
  await consul.start();
  const { url } = consul;
  return {
    title: 'Consul',
    registerUrl: `consul+${url}`,
    environment: { CONSUL_HTTP_TOKEN: ROOT_TOKEN },
    discovery: { source: 'consul', consul: { agents: [url], token: ROOT_TOKEN, wait: '10s' } },
    client: { consul: { agents: [url], token: ROOT_TOKEN, wait: '10s' } },
    endpoints: async (service) => {
      const target = `${url}/v1/health/service/${service}?passing`;
      const entries: readonly { Service: { Address: string; Port: number } }[] = await read(target, ROOT_TOKEN);
      return entries.map(({ Service }) => `${Service.Address}:${Service.Port}`);
    },
    kill: () => consul.stop('SIGKILL'),
    start: () => consul.start(),
    database: null,
    close: () => consul.close(),
  };
}

async function startSqlite(): Promise<DrillRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-registration-'));
  return startTable({
    title: 'weir registry on SQLite',
    store: `sqlite:${join(folder, 'registry.db')}`,
    database: null,
    closeStore: async () => rmSync(folder, { recursive: true, force: true }),
  });
}

async function startOnMariadb(): Promise<DrillRegistry> {
  const mariadb = await startMariadb();
  return startTable({
    title: 'weir registry on MariaDB',
    store: mariadb.url,
    database: { kill: () => mariadb.kill(), start: () => mariadb.restart() },
    closeStore: () => mariadb.close(),
  });
}

interface TableOptions extends Pick<DrillRegistry, 'title' | 'database'> {
  readonly store: string;
  readonly closeStore: () => Promise<void>;
}

async function startTable({ title, store, database, closeStore }: TableOptions): Promise<DrillRegistry> {
  const [port = 0] = await freeRange(1);
  const url = `http://127.0.0.1:${port}`;
  const table = new TableProcess(port, store);
  await table.start();
  return {
    title,
    registerUrl: url,
    environment: {},
    discovery: { source: 'registry', registry: { url, interval: POLL } },
    client: { registry: { url, interval: POLL } },
    endpoints: async (service) => {
      const target = `${url}/instances?service=${service}`;
      const list: { readonly instances: readonly { addr: string; port: number }[] } = await read(target);
      return list.instances.map(({ addr, port: at }) => `${addr}:${at}`);
    },
    kill: () => table.kill(),
    start: () => table.start(),
    database,
    async close() {
      await table.kill();
      await closeStore();
    },
  };
}

class TableProcess {
  readonly #port: number;
  readonly #store: string;
  #child: ChildProcess | undefined;
  #untie = (): void => undefined;

  constructor(port: number, store: string) {
    this.#port = port;
    this.#store = store;
  }

  async start(): Promise<void> {
    const args = ['registry', '--listen', `127.0.0.1:${this.#port}`, '--store', this.#store];
    const child = spawn(process.execPath, [CLI, ...args], { stdio: 'ignore' });
    this.#child = child;
    this.#untie = tieToThisProcess(child.pid ?? 0);
    const answers = async (): Promise<boolean> => {
      if (child.exitCode !== null) throw new Error(`the registry ended with ${child.exitCode}`);
      return fetch(`http://127.0.0.1:${this.#port}/instances?service=any`).then(
        ({ ok }) => ok,
        () => false,
      );
    };
    await waitFor(answers, { limitMs: START_LIMIT_MS, what: 'a registry that answers' });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#untie();
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}

async function read<T>(url: string, token = ''): Promise<T> {
  const headers = token === '' ? {} : { 'X-Consul-Token': token };
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(5000) });
  if (!answer.ok) throw new Error(`GET ${url}: ${answer.status}`);
  return JSON.parse(await answer.text());
}
