// Sample instances of a service, each a process of its own on a port of its own, to be killed and started again.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { findFreePorts } from './free-ports.ts';
import type { ServiceRegistration } from './real-consul.ts';

export interface SampleInstance {
  /** It answers with its name in `X-Instance`. */
  readonly name: string;
  readonly port: number;
  /** How many requests it had since its last start. */
  requests(): Promise<number>;
  /** Ends it at once (SIGKILL); harmless when it is gone. */
  kill(): Promise<void>;
  /** Starts it again on its port, after `kill`. */
  start(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('./sample-instance.ts', import.meta.url));

/** Starts one instance for each name and waits until they answer. */
export async function startInstances(...names: string[]): Promise<SampleInstance[]> {
  const ports = await findFreePorts(names.length);
  const instances = names.map((name, at) => new Instance(name, ports[at] ?? 0));
  await Promise.all(instances.map((instance) => instance.start()));
  return instances;
}

/** The registration in Consul of an instance, without a check. */
export function registrationOf(service: string, instance: SampleInstance, weight = 1): ServiceRegistration {
  const { name, port } = instance;
  return {
    ID: `${service}-${name}`,
    Name: service,
    Address: '127.0.0.1',
    Port: port,
    Weights: { Passing: weight, Warning: 1 },
  };
}

class Instance implements SampleInstance {
  readonly name: string;
  readonly port: number;
  #child: ChildProcess | undefined;

  constructor(name: string, port: number) {
    this.name = name;
    this.port = port;
  }

  async start(): Promise<void> {
    // It ends by itself when this process is gone: its channel closes.
    const child = fork(SCRIPT, [this.name, String(this.port)], { execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`the instance ${this.name} ended with ${code}`)));
    });
  }

  async requests(): Promise<number> {
    const child = this.#child;
    if (child === undefined) return 0;
    const answer = once(child, 'message');
    child.send('count');
    const [count] = await answer;
    return Number(count);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}
