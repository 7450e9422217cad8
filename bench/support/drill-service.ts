// The service of a drill: instances that are processes, registered in a table registry as long as they live.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Behaviour } from './drill-instance.ts';

const SCRIPT = join(import.meta.dirname, 'drill-instance.ts');
const HEARTBEAT_MS = 5000;

export interface DrillServiceOptions {
  readonly name: string;
  readonly registryUrl: string;
  readonly ports: readonly number[];
}

/** One instance; its name in the registry stays the same over restarts. */
export class DrillInstance {
  readonly port: number;
  readonly #name: string;
  #child: ChildProcess | undefined;

  constructor(name: string, port: number) {
    this.#name = name;
    this.port = port;
  }

  get endpoint(): string {
    return `127.0.0.1:${this.port}`;
  }

  get isAlive(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async start(): Promise<void> {
    const child = fork(SCRIPT, [this.#name, String(this.port)], { execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] });
    this.#child = child;
    await once(child, 'message');
  }

  /** Tells it how to behave from now on. */
  async behave(behaviour: Behaviour): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const heard = once(child, 'message');
    child.send(behaviour);
    await heard;
  }

  /** Ends it at once, or (SIGTERM) when what it has under way has ended. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.isAlive) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}

export class DrillService {
  readonly instances: readonly DrillInstance[];
  readonly #options: DrillServiceOptions;
  readonly #registered = new Set<DrillInstance>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(options: DrillServiceOptions) {
    this.#options = options;
    this.instances = options.ports.map((port, at) => new DrillInstance(`i${at}`, port));
  }

  /** Starts all instances and registers them. */
  async start(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.start()));
    await Promise.all(this.instances.map((instance) => this.register(instance)));
    this.#heartbeat = setInterval(() => void this.#beat(), HEARTBEAT_MS);
  }

  async register(instance: DrillInstance): Promise<void> {
    this.#registered.add(instance);
    const body = { ...this.#keyOf(instance), addr: '127.0.0.1', port: instance.port };
    await this.#call('POST', body);
  }

  async deregister(instance: DrillInstance): Promise<void> {
    this.#registered.delete(instance);
    await this.#call('DELETE', this.#keyOf(instance));
  }

  async stop(): Promise<void> {
    clearInterval(this.#heartbeat);
    await Promise.all(this.instances.map((instance) => instance.end('SIGKILL')));
  }

  /** A dead instance sends no heartbeat, and one that could not be sent is followed by the next. */
  async #beat(): Promise<void> {
    const living = [...this.#registered].filter(({ isAlive }) => isAlive);
    await Promise.allSettled(living.map((instance) => this.register(instance)));
  }

  #keyOf(instance: DrillInstance): { readonly service: string; readonly instance: string } {
    return { service: this.#options.name, instance: `drill-${instance.port}` };
  }

  async #call(method: 'POST' | 'DELETE', body: object): Promise<void> {
    const answer = await fetch(`${this.#options.registryUrl}/register`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} /register: ${answer.status} ${await answer.text()}`);
    await answer.body?.cancel();
  }
}
