// An instance of a drill under its wrapper: `weir register` as a process, and the service that it runs.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export interface WrappedOptions {
  readonly name: string;
  readonly port: number;
  /** Options of `weir register` besides name, port and address. */
  readonly options: readonly string[];
  /** Secrets for the wrapper. */
  readonly environment: Readonly<Record<string, string>>;
  /** Options of `weir/client`: the service asks the first of their services. */
  readonly client?: object;
}

interface Processes {
  readonly endpoint: string;
  readonly wrapper: ChildProcess;
  readonly servicePid: number;
  readonly complaints: readonly string[];
}

const CLI = resolve(import.meta.dirname, '../../gateway/cli.ts');
const SERVICE = join(import.meta.dirname, 'wrapped-server.ts');

export class WrappedInstance {
  readonly endpoint: string;
  /** What the service said of calls that failed. */
  readonly complaints: readonly string[];
  readonly #wrapper: ChildProcess;
  readonly #servicePid: number;

  private constructor({ endpoint, wrapper, servicePid, complaints }: Processes) {
    this.endpoint = endpoint;
    this.complaints = complaints;
    this.#wrapper = wrapper;
    this.#servicePid = servicePid;
  }

  /** Resolves when the service listens; the wrapper registers it soon afterwards. */
  static async start({ name, port, options, environment, client }: WrappedOptions): Promise<WrappedInstance> {
    const own = ['--name', name, '--port', String(port), '--address', '127.0.0.1', ...options];
    const service = [
      process.execPath,
      SERVICE,
      String(port),
      ...(client === undefined ? [] : [JSON.stringify(client)]),
    ];
    // Both have the pipe as standard input, whose end tells the service that this process is gone.
    const wrapper = spawn(process.execPath, [CLI, 'register', ...own, '--', ...service], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    });
    let told = '';
    wrapper.stderr.setEncoding('utf8').on('data', (text: string) => {
      told = `${told}${text}`.slice(-2000);
    });
    const output = createInterface({ input: wrapper.stdout });
    const complaints: string[] = [];
    const [line]: unknown[] = await Promise.race([once(output, 'line'), once(wrapper, 'exit')]);
    const pid = /^pid (\d+)$/.exec(String(line))?.[1];
    if (pid === undefined) throw new Error(`the service on port ${port} does not start: ${told}`);
    output.on('line', (complaint) => complaints.push(complaint));
    return new WrappedInstance({ endpoint: `127.0.0.1:${port}`, wrapper, servicePid: Number(pid), complaints });
  }

  /** Asks the wrapper to end, as an init or an orchestrator does; gives its exit code. */
  async stop(): Promise<number | null> {
    const gone = this.#gone();
    this.#wrapper.kill('SIGTERM');
    await gone;
    return this.#wrapper.exitCode;
  }

  /** Kills the service; resolves when its wrapper, which lives, has ended by itself. */
  async killService(): Promise<void> {
    const gone = this.#gone();
    kill(this.#servicePid);
    await gone;
  }

  /** Kills the wrapper and the service; neither can say a word. */
  async killBoth(): Promise<void> {
    const gone = this.#gone();
    this.#wrapper.kill('SIGKILL');
    kill(this.#servicePid);
    await gone;
  }

  async #gone(): Promise<void> {
    const { exitCode, signalCode } = this.#wrapper;
    if (exitCode === null && signalCode === null) await once(this.#wrapper, 'exit');
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
