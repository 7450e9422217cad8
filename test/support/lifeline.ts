// Ends a process together with this one, however this one ends: vitest ends its own by a signal, so no hook would run.
import { spawn } from 'node:child_process';

/** Kills process `pid` when this process is gone; gives the function that cuts the line once `pid` has ended. */
export function tieToThisProcess(pid: number): () => void {
  // The pipe closes with this process, whatever ended it.
  const guard = spawn('sh', ['-c', 'read -r line; kill -9 "$1"', 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  return () => void guard.kill('SIGKILL');
}
