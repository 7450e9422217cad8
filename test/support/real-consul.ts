// A real Consul agent (`consul agent -dev`) for tests: on free ports, ended by its process ID.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import { findFreePorts } from './free-ports.ts';
import { freezeProcess } from './freeze-process.ts';
import { tieToThisProcess } from './lifeline.ts';
import { waitFor } from './wait-for.ts';

export interface ServiceRegistration {
  readonly ID: string;
  readonly Name: string;
  readonly Port: number;
  readonly Address?: string;
  readonly Tags?: readonly string[];
  readonly Meta?: Readonly<Record<string, string>>;
  readonly Weights?: { readonly Passing: number; readonly Warning: number };
  readonly Check?: Readonly<Record<string, string>>;
}

export interface RealConsul {
  readonly url: string;
  readonly pid: number;
  register(service: ServiceRegistration): Promise<void>;
  deregister(serviceId: string): Promise<void>;
  setServiceMaintenance(serviceId: string, isOn: boolean): Promise<void>;
  setNodeMaintenance(isOn: boolean): Promise<void>;
  /** Reports a TTL check: `service:<id>` unless the registration named it otherwise. */
  setTtlCheck(checkId: string, status: 'pass' | 'warn' | 'fail'): Promise<void>;
  /** Sends a request to the agent's own API; gives the body, rejects unless the status is 200. */
  call(method: 'GET' | 'PUT', path: string, body?: unknown): Promise<string>;
  /** Freezes the process (SIGSTOP): connections stay, and once this resolves nothing answers. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Ends it politely, or at once. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again on the same ports after `stop` or `kill`; a dev agent has forgotten everything. */
  restart(): Promise<void>;
}

const START_LIMIT_MS = 20_000;

/**
 * Whether the machine has Consul. Without it the tests that need it are skipped with a line that says so; on CI
 * (`CI=true`) that is an error instead, so that they never go missing there.
 */
export function hasConsul(): boolean {
  if (spawnSync('consul', ['version']).status === 0) return true;
  if (process.env.CI === 'true') throw new Error('consul is missing: run scripts/install-consul.sh');
  console.warn('SKIPPED: consul is missing; scripts/install-consul.sh installs it');
  return false;
}

/** Starts an agent and waits until it has a leader and its node is in the catalog. */
export async function startConsul(): Promise<RealConsul> {
  // Between finding a port and taking it somebody else may have taken it.
  return startOnce().catch(startOnce);
}

async function startOnce(): Promise<RealConsul> {
  const ports = await findFreePorts(4);
  const url = `http://127.0.0.1:${ports[0]}`;
  const pool = new Pool(url, { allowH2: false });
  let agent = spawnAgent(ports);

  async function call(method: 'GET' | 'PUT', path: string, body?: unknown): Promise<string> {
    const answer = await pool.request({ method, path, body: body === undefined ? null : JSON.stringify(body) });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
    return text;
  }
  async function put(path: string, body?: unknown): Promise<void> {
    await call('PUT', path, body);
  }
  let untie = (): void => undefined;
  async function ready(): Promise<void> {
    untie = tieToThisProcess(agent.pid ?? 0);
    const isReady = async () => {
      if (agent.exitCode !== null) throw new Error(`consul ended with ${agent.exitCode}`);
      const nodes = await call('GET', '/v1/catalog/nodes?consistent').catch(() => '');
      return nodes.includes('weir-test');
    };
    await waitFor(isReady, { limitMs: START_LIMIT_MS, what: 'a Consul leader' });
  }
  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    untie();
    if (agent.exitCode !== null || agent.signalCode !== null) return;
    const ended = once(agent, 'exit');
    agent.kill(signal);
    // A frozen process sees no SIGTERM.
    agent.kill('SIGCONT');
    await ended;
  }
  try {
    await ready();
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
  return {
    url,
    get pid() {
      return pidOf(agent);
    },
    register: (service) => put('/v1/agent/service/register', service),
    deregister: (serviceId) => put(`/v1/agent/service/deregister/${serviceId}`),
    setServiceMaintenance: (serviceId, isOn) => put(`/v1/agent/service/maintenance/${serviceId}?enable=${isOn}`),
    setNodeMaintenance: (isOn) => put(`/v1/agent/maintenance?enable=${isOn}`),
    setTtlCheck: (checkId, status) => put(`/v1/agent/check/${status}/${checkId}`),
    call,
    freeze: () => freezeProcess(pidOf(agent)),
    thaw: () => void agent.kill('SIGCONT'),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async restart() {
      agent = spawnAgent(ports);
      await ready();
    },
  };
}

function spawnAgent(ports: readonly number[]): ChildProcess {
  const [http, serfLan, serfWan, server] = ports.map(String);
  const options = {
    '-bind': '127.0.0.1',
    '-client': '127.0.0.1',
    '-node': 'weir-test',
    '-log-level': 'err',
    '-hcl': 'disable_update_check = true',
    '-http-port': http,
    '-serf-lan-port': serfLan,
    '-serf-wan-port': serfWan,
    '-server-port': server,
    '-grpc-port': '-1',
    '-dns-port': '-1',
  };
  return spawn(
    'consul',
    ['agent', '-dev', ...Object.entries(options).flatMap(([name, value]) => [name, value ?? ''])],
    {
      stdio: 'ignore',
    },
  );
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('consul did not start');
  return pid;
}
