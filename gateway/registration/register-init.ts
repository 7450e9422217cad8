// Being process 1 of a container: a shell takes that place, for Node cannot reap the orphans that process 1 inherits.
import { existsSync } from 'node:fs';

const SHELL = '/bin/sh';

/** Starts its arguments, passes signals to them, reaps whatever ends meanwhile, and exits with their code. */
const SCRIPT = `
exec 3<&0
"$@" <&3 3<&- &
pid=$!
exec 3<&-
for name in TERM INT QUIT HUP USR1 USR2 WINCH; do trap "kill -$name $pid 2>/dev/null" $name; done
code=0
while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done
wait $pid 2>/dev/null
last=$?
[ $last -eq 127 ] || code=$last
exit $code
`;

/**
 * As process 1 replaces itself by a shell that runs this very command line as its child, and does not return. Else, or
 * where there is no shell (then `say` tells so), does nothing.
 */
export function leaveProcessOneToShell(say: (message: string) => void): void {
  if (process.pid !== 1) return;
  if (!existsSync(SHELL) || process.execve === undefined) {
    say(`this is process 1 and there is no ${SHELL}: orphans stay as zombies, unless the container runs with --init`);
    return;
  }
  const words = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(SHELL, ['sh', '-c', SCRIPT, 'weir-init', ...words], process.env);
}
