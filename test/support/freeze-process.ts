// Freezes a process, and waits until it stands still: after SIGSTOP its threads run on until each has taken notice.
import { readdir, readFile } from 'node:fs/promises';
import { waitFor } from './wait-for.ts';

const LIMIT_MS = 10_000;

/** Sends SIGSTOP and resolves when no thread of the process runs any more; SIGCONT ends it. Rejects without a process. */
export async function freezeProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  // Elsewhere nothing tells of the threads.
  if (process.platform !== 'linux') return;
  await waitFor(() => isStopped(pid), { limitMs: LIMIT_MS, what: `process ${pid} to stand still` });
}

async function isStopped(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`);
  const states = await Promise.all(threads.map((thread) => stateOf(`/proc/${pid}/task/${thread}/stat`)));
  return states.every((state) => state === 'T');
}

/** The letter after the name in parentheses (proc_pid_stat(5)); '' for a thread that has ended meanwhile. */
async function stateOf(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.charAt(text.lastIndexOf(')') + 2);
}
