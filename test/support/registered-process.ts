// `weir register` as operators run it, around a command that tells what it sees of the registry.
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findFreePorts } from './free-ports.ts';
import { send } from './send.ts';
import { waitFor } from './wait-for.ts';
import { type CommandEnd, startCommand, type WeirCommand } from './weir-command.ts';

export interface RegisteredOptions {
  /** Where the registry lists the instances of the service `web`. */
  readonly lookup: string;
  /** Options of `weir register` besides name, port, address. */
  readonly options: readonly string[];
  /** Under which address and port it is registered instead of its own. */
  readonly as?: { readonly address: string; readonly port?: number };
  /** Whether the command begins without listening; SIGUSR2 opens and closes it. */
  readonly isClosed?: boolean;
}

export interface RegisteredProcess {
  readonly port: number;
  readonly command: WeirCommand;
  /** Waits until the wrapped command said the word; gives the number of instances that it saw then. */
  said(word: string): Promise<string>;
  /** Whether it said the word. */
  hasSaid(word: string): boolean;
  /** Waits until the wrapper told this on standard error. */
  told(text: string): Promise<void>;
  get(path: string): Promise<string>;
  ended(): Promise<CommandEnd>;
  /** Ends both at once. */
  close(): Promise<void>;
}

const LIMIT_MS = 20_000;
const CHILD = fileURLToPath(new URL('./register-child.ts', import.meta.url));

/** Starts the wrapper of a service `web` on a free port of 127.0.0.1. */
export async function startRegistered({
  lookup,
  options,
  as,
  isClosed = false,
}: RegisteredOptions): Promise<RegisteredProcess> {
  const [port = 0] = await findFreePorts(1);
  const own = ['--name', 'web', '--port', String(as?.port ?? port), '--address', as?.address ?? '127.0.0.1'];
  const child = [process.execPath, CHILD, String(port), lookup, isClosed ? 'closed' : 'open'];
  const command = startCommand(['register', ...own, ...options, '--', ...child], tmpdir());
  const lineOf = (word: string) => command.lines.find((line) => line.startsWith(`${word} `));
  const explain = (error: Error): never => {
    throw new Error(`${error.message}; it said ${command.lines.join(', ')}; the wrapper told:\n${command.stderr}`);
  };
  return {
    port,
    command,
    said: (word) =>
      waitFor(() => lineOf(word)?.slice(word.length + 1), { limitMs: LIMIT_MS, what: word }).catch(explain),
    hasSaid: (word) => lineOf(word) !== undefined,
    told: async (text) => {
      await waitFor(() => command.stderr.includes(text), { limitMs: LIMIT_MS, what: `"${text}"` }).catch(explain);
    },
    get: async (path) => (await send(`http://127.0.0.1:${port}${path}`)).body,
    ended: () => command.ended(LIMIT_MS).catch(explain),
    async close() {
      // The command ends when its parent is gone, and `close` waits for that: they share standard output.
      if (command.end === null) await command.kill();
    },
  };
}
