// A real etcd for tests: of one member, on free ports, in a folder of its own, ended by its process ID.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { findFreePorts } from './free-ports.ts';
import { freezeProcess } from './freeze-process.ts';
import { tieToThisProcess } from './lifeline.ts';
import { waitFor } from './wait-for.ts';

export interface RealEtcd {
  readonly url: string;
  /** Sets a key to a text, or to JSON; with a lease it lives as long as that. Gives the revision. */
  put(key: string, value: unknown, lease?: string): Promise<string>;
  delete(key: string): Promise<string>;
  /** A lease that expires after so many seconds (etcd makes it two at least); gives its ID. */
  grant(seconds: number): Promise<string>;
  /** Forgets everything before the revision. */
  compact(revision: string): Promise<void>;
  /**
   * Lets nobody in without this name and password, until `requireNoPassword`; the tests' own calls log in. Set anew,
   * the password ends every token.
   */
  requirePassword(username: 'root', password: string): Promise<void>;
  requireNoPassword(): Promise<void>;
  /** Freezes the process (SIGSTOP): connections stay, and once this resolves nothing answers. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Ends it politely, or at once. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again on the same ports after `stop` or `kill`, with what it had stored or, if told so, with nothing. */
  restart(options?: { readonly isForgetful: boolean }): Promise<void>;
  /** Ends it and removes its folder. */
  close(): Promise<void>;
}

const START_LIMIT_MS = 20_000;

/**
 * Whether the machine has etcd. Without it the tests that need it are skipped with a line that says so; on CI
 * (`CI=true`) that is an error instead, so that they never go missing there.
 */
export function hasEtcd(): boolean {
  if (spawnSync('etcd', ['--version']).status === 0) return true;
  if (process.env.CI === 'true') throw new Error('etcd is missing: run scripts/install-etcd.sh');
  console.warn('SKIPPED: etcd is missing; scripts/install-etcd.sh installs it');
  return false;
}

/** Starts a server and waits until it can write. */
export async function startEtcd(): Promise<RealEtcd> {
  // Between finding a port and taking it somebody else may have taken it.
  return startOnce().catch(startOnce);
}

async function startOnce(): Promise<RealEtcd> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-etcd-'));
  const [clientPort = 0, peerPort = 0] = await findFreePorts(2);
  const url = `http://127.0.0.1:${clientPort}`;
  const pool = new Pool(url, { allowH2: false, headersTimeout: 10_000 });
  const start = () => spawnServer({ folder: join(folder, 'data'), url, peerUrl: `http://127.0.0.1:${peerPort}` });
  let server = start();
  let untie = (): void => undefined;
  let credentials: { readonly name: string; readonly password: string } | null = null;

  async function call(path: string, body: object): Promise<Record<string, unknown>> {
    const { token = '' } = credentials === null ? {} : await post('/v3/auth/authenticate', credentials, {});
    return post(path, body, credentials === null ? {} : { authorization: String(token) });
  }
  async function post(path: string, body: object, fields: object): Promise<Record<string, unknown>> {
    const headers = { 'content-type': 'application/json', ...fields };
    const answer = await pool.request({ method: 'POST', path, headers, body: JSON.stringify(body) });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    return JSON.parse(text);
  }
  async function ready(): Promise<void> {
    untie = tieToThisProcess(server.pid ?? 0);
    const isReady = () => {
      if (server.exitCode !== null) throw new Error(`etcd ended with ${server.exitCode}`);
      return call('/v3/kv/range', { key: encode('ready') }).then(
        () => true,
        () => false,
      );
    };
    await waitFor(isReady, { limitMs: START_LIMIT_MS, what: 'an etcd that answers' });
  }
  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    untie();
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    // A frozen process sees no SIGTERM.
    server.kill('SIGCONT');
    await ended;
  }
  async function close(): Promise<void> {
    await end('SIGKILL');
    await pool.destroy();
    await rm(folder, { recursive: true, force: true });
  }
  try {
    await ready();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url,
    put: (key, value, lease = '0') => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return call('/v3/kv/put', { key: encode(key), value: encode(text), lease }).then(revisionOf);
    },
    delete: (key) => call('/v3/kv/deleterange', { key: encode(key) }).then(revisionOf),
    grant: async (seconds) => String((await call('/v3/lease/grant', { TTL: seconds })).ID),
    compact: async (revision) => void (await call('/v3/kv/compaction', { revision, physical: true })),
    async requirePassword(username, password) {
      if (credentials !== null) return void (await call('/v3/auth/user/changepw', { name: username, password }));
      await call('/v3/auth/user/add', { name: username, password });
      await call('/v3/auth/user/grant', { user: username, role: 'root' });
      await call('/v3/auth/enable', {});
      credentials = { name: username, password };
    },
    async requireNoPassword() {
      await call('/v3/auth/disable', {});
      credentials = null;
    },
    async freeze() {
      if (server.pid === undefined) throw new Error('etcd does not run');
      await freezeProcess(server.pid);
    },
    thaw: () => void server.kill('SIGCONT'),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async restart({ isForgetful } = { isForgetful: false }) {
      if (isForgetful) await rm(join(folder, 'data'), { recursive: true });
      server = start();
      await ready();
    },
    close,
  };
}

interface ServerPlace {
  readonly folder: string;
  readonly url: string;
  readonly peerUrl: string;
}

function spawnServer({ folder, url, peerUrl }: ServerPlace): ChildProcess {
  const options = {
    '--name': 'weir-test',
    '--data-dir': folder,
    '--listen-client-urls': url,
    '--advertise-client-urls': url,
    '--listen-peer-urls': peerUrl,
    '--initial-advertise-peer-urls': peerUrl,
    '--initial-cluster': `weir-test=${peerUrl}`,
    '--logger': 'zap',
    '--log-level': 'error',
  };
  return spawn('etcd', Object.entries(options).flat(), { stdio: 'ignore' });
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

function revisionOf({ header }: Record<string, unknown>): string {
  return typeof header === 'object' && header !== null && 'revision' in header ? String(header.revision) : '';
}
