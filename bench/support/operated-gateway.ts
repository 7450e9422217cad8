// Gateways that a drill operates: files that change, reloads, worker restarts, processes side by side on one port.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { ReloadReport } from '../../gateway/reloader.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { residentMiB } from './process.ts';

const CLI = resolve(import.meta.dirname, '../../gateway/cli.ts');
const LIMIT_MS = 60_000;

/** The files of the gateways of a drill: routes that they share, and a gateway.yaml for each. */
export class OperatedFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'weir-operate-'));

  constructor() {
    mkdirSync(join(this.path, 'routes'));
  }

  /** Writes a route file as text or as what its YAML says; null removes it. */
  route(name: string, content: object | string | null): void {
    const path = join(this.path, 'routes', `${name}.yaml`);
    if (content === null) rmSync(path);
    else writeFileSync(path, typeof content === 'string' ? content : stringify(content));
  }

  /** Writes the file `name` for a gateway and gives its path. */
  gateway(name: string, content: object): string {
    const path = join(this.path, name);
    writeFileSync(path, stringify(content));
    return path;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

interface UpstreamsPage {
  readonly gateway: { readonly workers: readonly { readonly id: number }[] };
}

/** One process; its log is read all the time unless the drill says otherwise. */
export class OperatedGateway {
  readonly #child: ChildProcess;
  readonly #admin: string;

  private constructor(child: ChildProcess, admin: string) {
    this.#child = child;
    this.#admin = admin;
    child.stdout?.resume();
  }

  /** Starts it and waits until it is ready. */
  static async start(gatewayFile: string, adminPort: number): Promise<OperatedGateway> {
    const args = [CLI, 'start', '--config', gatewayFile];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const gateway = new OperatedGateway(child, `http://127.0.0.1:${adminPort}`);
    const isReady = async () => {
      if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`);
      return (await fetch(`${gateway.#admin}/readyz`).catch(() => undefined))?.ok;
    };
    await waitFor(isReady, { limitMs: LIMIT_MS, what: 'a gateway that is ready' });
    return gateway;
  }

  residentMiB(): number {
    return Math.round(residentMiB(this.#child.pid ?? 0));
  }

  /** A metric without labels. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.#admin}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    if (line === undefined) throw new Error(`there is no metric ${name}`);
    return Number(line.slice(name.length + 1));
  }

  async reload(): Promise<ReloadReport> {
    const answer = await fetch(`${this.#admin}/debug/reload`, { method: 'POST' });
    if (!answer.ok) throw new Error(`the reload answered ${answer.status}: ${await answer.text()}`);
    return JSON.parse(await answer.text());
  }

  /** Replaces a worker and waits until the old one has gone. */
  async restartWorker(id: number): Promise<void> {
    const answer = await fetch(`${this.#admin}/debug/workers/${id}/restart`, { method: 'POST' });
    if (answer.status !== 202) throw new Error(`the restart of worker ${id} answered ${answer.status}`);
    await this.untilSettled();
  }

  /** Waits until no worker is being replaced; what has been ordered before has begun. */
  async untilSettled(): Promise<void> {
    const isSettled = async () => {
      const workers = await this.#workers();
      return new Set(workers).size === workers.length;
    };
    await waitFor(isSettled, { limitMs: LIMIT_MS, what: 'the old workers to be gone' });
  }

  async #workers(): Promise<number[]> {
    const page: UpstreamsPage = JSON.parse(await (await fetch(`${this.#admin}/debug/upstreams`)).text());
    return page.gateway.workers.map(({ id }) => id);
  }

  /** Lets the log pile up for a while. */
  async leaveLogUnread(forMs: number): Promise<void> {
    this.#child.stdout?.pause();
    await delay(forMs);
    this.#child.stdout?.resume();
  }

  /** Ends it politely; rejects when it does not end well. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const [code] = await gone;
    if (code !== 0) throw new Error(`the gateway ended with ${code}`);
  }
}
