// The wrapped command as a process: started in a session of its own, sent signals, and how it ended as an exit code.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { reasonOf } from './register-exchange.ts';

export interface CommandEnd {
  /** Its exit code, 128 + n when signal n ended it, 127 when there is no such command, 126 when it cannot run. */
  readonly code: number;
  readonly text: string;
}

export interface RunningCommand {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  readonly ended: Promise<CommandEnd>;
  /** Sends the signal; gives why that is impossible, else null. Harmless when the command is gone. */
  signal(name: NodeJS.Signals): string | null;
}

/** What a terminal sends to all processes in its foreground, not to one. */
const KEYBOARD_SIGNALS: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGWINCH']);

/**
 * Starts the command with the standard streams and the environment of this process. Its session is its own, so that
 * Ctrl-C, which goes to a whole group of processes, comes to the wrapper alone and the instance leaves first.
 */
export function startWrapped([program, ...args]: readonly [string, ...string[]]): RunningCommand {
  let child: ChildProcess;
  try {
    child = spawn(program, args, { stdio: 'inherit', detached: true });
  } catch (error) {
    return { pid: undefined, ended: Promise.resolve(neverStarted(program, error)), signal: () => null };
  }
  const ended = new Promise<CommandEnd>((resolve) => {
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(neverStarted(program, error));
    });
    child.once('exit', (code, signal) => resolve(endOf(program, code, signal)));
  });
  return { pid: child.pid, ended, signal: (name) => send(child, name) };
}

function send({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): string | null {
  const isGone = pid === undefined || exitCode !== null || signalCode !== null;
  if (isGone) return null;
  const toGroup = process.stdin.isTTY && KEYBOARD_SIGNALS.has(name);
  try {
    process.kill(toGroup ? -pid : pid, name);
    return null;
  } catch (error) {
    return hasCode(error, 'ESRCH') ? null : reasonOf(error);
  }
}

function endOf(program: string, code: number | null, signal: NodeJS.Signals | null): CommandEnd {
  if (signal === null) return { code: code ?? 1, text: `${program} exited with ${code}` };
  return { code: 128 + constants.signals[signal], text: `${program} was ended by ${signal}` };
}

function neverStarted(program: string, error: unknown): CommandEnd {
  if (hasCode(error, 'ENOENT')) return { code: 127, text: `${program}: command not found` };
  return { code: 126, text: `${program} cannot be run: ${reasonOf(error)}` };
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
