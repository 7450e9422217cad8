// A real gateway for drills: its own process, folder and ports, with what its admin address says of it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';

export interface DrillGateway {
  readonly port: number;
  readonly pid: number;
  /** The value of a metric, summed over its series; `name` may have labels, as the text writes them. */
  metric(name: string): Promise<number>;
  /** The states of the endpoints of a service, by address. */
  states(service: string): Promise<ReadonlyMap<string, string>>;
  /** What the gateway makes of a service. */
  pool(service: string): Promise<DrillPool>;
  stop(): Promise<void>;
}

export interface DrillPool {
  /** The endpoints that take requests. */
  readonly active: number;
  /** In words: its state, its breaker, and the state of each endpoint with the reason why it is not used. */
  readonly text: string;
}

export interface DrillOptions {
  readonly port: number;
  readonly adminPort: number;
  readonly workers: number;
  readonly routes: Readonly<Record<string, object>>;
  readonly gateway?: object;
}

interface UpstreamsPage {
  readonly services: readonly {
    readonly service: string;
    readonly state: string;
    readonly lastError: string | null;
    readonly breaker: string;
    readonly endpoints: readonly { readonly endpoint: string; readonly state: string; readonly why: string | null }[];
  }[];
}

const CLI = resolve(import.meta.dirname, '../../gateway/cli.ts');

/** Starts a gateway and waits until it is ready. */
export async function startGateway({
  port,
  adminPort,
  workers,
  routes,
  gateway = {},
}: DrillOptions): Promise<DrillGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-drill-'));
  mkdirSync(join(folder, 'routes'));
  const config = {
    listen: [{ address: `127.0.0.1:${port}` }],
    admin: { address: `127.0.0.1:${adminPort}` },
    workers,
    routes: 'routes',
    discovery: { snapshot: { path: join(folder, 'snapshot.json') } },
    shutdown: { drain: '2s' },
    log: { level: 'error', access: false },
    ...gateway,
  };
  writeFileSync(join(folder, 'gateway.yaml'), stringify(config));
  for (const [name, route] of Object.entries(routes)) {
    writeFileSync(join(folder, 'routes', `${name}.yaml`), stringify(route));
  }
  const child = spawn(process.execPath, [CLI, 'start', '--config', join(folder, 'gateway.yaml')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const admin = `http://127.0.0.1:${adminPort}`;
  await untilReady(child, `${admin}/readyz`);
  const viewOf = async (service: string): Promise<UpstreamsPage['services'][number] | undefined> => {
    const page: UpstreamsPage = JSON.parse(await (await fetch(`${admin}/debug/upstreams`)).text());
    return page.services.find((each) => each.service === service);
  };
  return {
    port,
    pid: child.pid ?? 0,
    metric: async (name) => sumOf(await (await fetch(`${admin}/metrics`)).text(), name),
    states: async (service) => {
      const view = await viewOf(service);
      return new Map(view?.endpoints.map(({ endpoint, state }) => [endpoint, state]));
    },
    pool: async (service) => {
      const view = await viewOf(service);
      if (view === undefined) return { active: 0, text: 'unknown' };
      const endpoints = view.endpoints.map(({ endpoint, state, why }) => `${endpoint} ${state}${inBrackets(why)}`);
      return {
        active: view.endpoints.filter(({ state }) => state === 'active').length,
        text: `${view.state}${inBrackets(view.lastError)}, breaker ${view.breaker}: ${endpoints.join(', ')}`,
      };
    },
    stop: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function inBrackets(why: string | null): string {
  return why === null ? '' : ` (${why})`;
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok === true) return;
    await delay(50);
  }
  throw new Error('the gateway does not become ready');
}

function sumOf(text: string, name: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
