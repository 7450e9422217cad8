// Child processes of a benchmark: pinned to a core, watched, ended by their pid.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Clock ticks a second in /proc: fixed at 100 for programs on Linux. */
const TICKS_PER_SECOND = 100;

export interface Running {
  readonly pid: number;
  stop(): Promise<void>;
}

export function isInstalled(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
}

/** What to install to run a command, the package of its name by default; null where it is installed. */
export function needs(command: string, aptPackage = command): string | null {
  return isInstalled(command) ? null : `${command} is not installed (apt-get install ${aptPackage})`;
}

/** The first number with points in what a command says of its version. */
export function versionOf(command: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'unknown';
}

/** Puts this process and its threads on one core. */
export function pinSelf(core: number): void {
  spawnSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]);
}

export interface PinnedOptions {
  /** `any` leaves it to the system. */
  readonly core: number | 'any';
  readonly command: string;
  readonly args: readonly string[];
  readonly port: number;
  /** Where its standard output goes; nowhere by default. */
  readonly stdoutFile?: string;
  /** Variables besides this process's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a command on one core and waits until its port answers; its errors' output goes to the error's message only. */
export async function startPinned(options: PinnedOptions): Promise<Running> {
  const { core, command, args, port, stdoutFile, environment } = options;
  const stdout = stdoutFile === undefined ? 'ignore' : openSync(stdoutFile, 'a');
  const [first = '', ...rest] = [...(core === 'any' ? [] : ['taskset', '-c', String(core)]), command, ...args];
  const child = spawn(first, rest, {
    stdio: ['ignore', stdout, 'pipe'],
    env: { ...process.env, ...environment },
  });
  if (stdout !== 'ignore') closeSync(stdout);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000);
  });
  await untilAnswers(child, port, () => said);
  return { pid: child.pid ?? 0, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), 3000);
  await gone;
  clearTimeout(killer);
}

async function untilAnswers(child: ChildProcess, port: number, said: () => string): Promise<void> {
  // A gateway with thousands of routes takes a while to start.
  for (let attempt = 0; attempt < 1200; attempt++) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${child.spawnargs.join(' ')} ended: ${said()}`);
    }
    const socket = connect({ port, host: '127.0.0.1' });
    const answers = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (answers) return;
    await delay(50);
  }
  await stop(child);
  throw new Error(`port ${port} does not answer: ${said()}`);
}

/** The process and its descendants: a master that forks serves in its children. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const direct = children === '' ? [] : children.split(' ').map(Number);
  return [pid, ...direct.flatMap(familyOf)];
}

/** User and system time that the process and its descendants have used, in microseconds. */
export function cpuMicroseconds(pid: number): number {
  return familyOf(pid).reduce((sum, each) => {
    const fields = readFileSync(`/proc/${each}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
  }, 0);
}

/** The same, in finer steps, where the system says it; of the threads that live. */
export function runMicroseconds(pid: number): number {
  try {
    return familyOf(pid).reduce((sum, each) => {
      const threads = readdirSync(`/proc/${each}/task`);
      const of = (thread: string): number =>
        Number(readFileSync(`/proc/${each}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000;
      return sum + threads.reduce((total, thread) => total + of(thread), 0);
    }, 0);
  } catch {
    return cpuMicroseconds(pid);
  }
}

/** Resident memory of the process and its descendants, in MiB. */
export function residentMiB(pid: number): number {
  return familyOf(pid).reduce((sum, each) => {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${each}/status`, 'utf8'));
    return sum + Number(line?.[1] ?? 0) / 1024;
  }, 0);
}
