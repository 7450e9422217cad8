// Child processes of a benchmark: pinned to a core, watched, ended by their pid.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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

/** Starts a command on one core and waits until its port answers; what it prints goes to the errors' message only. */
export async function startPinned(options: {
  core: number;
  command: string;
  args: readonly string[];
  port: number;
}): Promise<Running> {
  const { core, command, args, port } = options;
  const child = spawn('taskset', ['-c', String(core), command, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
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
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended: ${said()}`);
    const socket = connect({ port, host: '127.0.0.1' });
    const answers = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (answers) return;
    await delay(50);
  }
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

/** Resident memory of the process and its descendants, in MiB. */
export function residentMiB(pid: number): number {
  return familyOf(pid).reduce((sum, each) => {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${each}/status`, 'utf8'));
    return sum + Number(line?.[1] ?? 0) / 1024;
  }, 0);
}
