// The `weir` command as a process of its own: what it prints, how it ends; always ended by its process ID.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { tieToThisProcess } from './lifeline.ts';
import { waitFor } from './wait-for.ts';

export interface WeirCommand {
  readonly pid: number;
  /** The whole lines of standard output so far. */
  readonly lines: readonly string[];
  readonly stderr: string;
  /** Null while it runs. */
  readonly end: CommandEnd | null;
  signal(name: NodeJS.Signals): void;
  /** Waits for the end; rejects when it takes longer. */
  ended(limitMs: number): Promise<CommandEnd>;
  /** Ends it politely and checks that it exits with 0; whatever happens, it is gone afterwards. */
  stop(): Promise<void>;
  /** Ends it at once. */
  kill(): Promise<void>;
}

export interface CommandEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const CLI = fileURLToPath(new URL('../../gateway/cli.ts', import.meta.url));
const STOP_LIMIT_MS = 15_000;

/** Starts `weir` with these arguments in the folder `cwd`. */
export function startCommand(args: readonly string[], cwd: string): WeirCommand {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const { pid } = child;
  if (pid === undefined) throw new Error('weir did not start');
  const cutLifeline = tieToThisProcess(pid);
  const lines: string[] = [];
  let rest = '';
  let stderr = '';
  let end: CommandEnd | null = null;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${rest}${text}`.split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // `close` comes when the process is gone and all it printed has been read.
  child.once('close', (code, signal) => {
    cutLifeline();
    end = { code, signal };
  });
  const ended = (limitMs: number) =>
    waitFor(() => end ?? false, { limitMs, what: `the end of weir ${args.join(' ')}` });
  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await ended(STOP_LIMIT_MS);
  }
  return {
    pid,
    lines,
    get stderr() {
      return stderr;
    },
    get end() {
      return end;
    },
    signal: (name) => void child.kill(name),
    ended,
    async stop() {
      child.kill('SIGTERM');
      const { code, signal } = await ended(STOP_LIMIT_MS).finally(kill);
      if (code !== 0) throw new Error(`weir ended with ${code ?? signal}: ${stderr}`);
    },
    kill,
  };
}
