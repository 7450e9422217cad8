// `weir register` as process 1 of a container, and in a terminal.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRegistry } from '../../gateway/registration/registry-server.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { tieToThisProcess } from '../support/lifeline.ts';
import { waitFor } from '../support/wait-for.ts';

const CLI = fileURLToPath(new URL('../../gateway/cli.ts', import.meta.url));
const CHILD = fileURLToPath(new URL('../support/register-child.ts', import.meta.url));
const NAMESPACE = ['-Urpf', '--mount-proc', '--kill-child'];
const LIMIT_MS = 20_000;

let owned: AsyncDisposableStack;
beforeEach(() => {
  owned = new AsyncDisposableStack();
});
afterEach(() => owned.disposeAsync());

/** A process whose output can be waited for; it is ended with the test. */
function run(program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...more } });
  owned.defer(tieToThisProcess(child.pid ?? 0));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let end: { readonly code: number | null } | undefined;
  // It may have ended before what is written arrives.
  child.stdin.on('error', () => undefined);
  child.once('close', (code) => {
    end = { code };
  });
  owned.defer(async () => {
    child.kill('SIGKILL');
    await waitFor(() => end, { limitMs: LIMIT_MS, what: `the end of ${program}` });
  });
  const explain = (error: Error): never => {
    throw new Error(`${error.message}; it printed:\n${output}`);
  };
  return {
    child,
    printed: (what: RegExp) =>
      waitFor(() => what.exec(output) ?? undefined, { limitMs: LIMIT_MS, what: String(what) }).catch(explain),
    ended: () => waitFor(() => end, { limitMs: LIMIT_MS, what: `the end of ${program}` }).catch(explain),
  };
}

describe.skipIf(!can('unshare', ...NAMESPACE, 'true'))('as process 1', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR1'] as const)(
    'reaps orphans, passes %s on and gives the code of the command',
    async (signal) => {
      // The orphan has ended when its number is gone from /proc: until it is reaped it stays as a zombie.
      const script = `orphan=$( (true >&2 & echo $!) ); echo "orphan $orphan"
        while [ -e /proc/$orphan ]; do sleep 0.02; done
        echo reaped $PPID; trap 'exit 9' ${signal.slice(3)}; echo ready; while :; do sleep 0.02; done`;
      const options = ['--name', 'web', '--port', '1', '--address', '127.0.0.1', '--registry', 'http://127.0.0.1:1'];
      const register = [process.execPath, CLI, 'register', ...options, '--', 'sh', '-c', script];
      const container = run('unshare', [...NAMESPACE, ...register]);
      await container.printed(/reaped \d+\nready/);
      process.kill(await firstProcess(container.child), signal);
      expect(await container.ended()).toEqual({ code: 9 });
    },
  );
});

describe.skipIf(!can('script', '-qefc', 'true', '/dev/null'))('in a terminal', () => {
  /** The wrapper as the only process in the foreground of a terminal; resolves when it is registered. */
  async function register(environment: NodeJS.ProcessEnv = {}) {
    const registry = await startRegistry({
      host: '127.0.0.1',
      port: 0,
      store: { kind: 'sqlite', path: ':memory:' },
    });
    owned.defer(() => registry.stop());
    const [port = 0] = await findFreePorts(1);
    const options = ['--name', 'web', '--port', port, '--registry', registry.url, '--drain', '300ms'];
    const command = [process.execPath, CHILD, port, `'${registry.url}/instances?service=web'`];
    // `script` starts the user's shell. Without `exec` some shells, dash for one, stay: they get the signal as well,
    // and whatever the wrapper's code is they end by that signal, which is 130.
    const line = ['exec', process.execPath, CLI, 'register', ...options, '--', ...command].join(' ');
    const terminal = run('script', ['-qefc', line, '/dev/null'], { ...environment, SHELL: '/bin/sh' });
    await terminal.printed(/registered web-/);
    return { ...terminal, pressCtrlC: () => terminal.child.stdin.write('\x03') };
  }

  it('leaves first on Ctrl-C, which a terminal sends to all processes in the foreground', async () => {
    const terminal = await register();
    terminal.pressCtrlC();
    const [, count] = await terminal.printed(/SIGINT (\S+)/);
    expect(count).toBe('0');
    expect(await terminal.ended()).toEqual({ code: 7 });
  });

  it('keeps the code of the command although Ctrl-C comes once more after its end', async () => {
    // Something that is left over holds the wrapper for a moment, in which the signal comes.
    const terminal = await register({ NODE_OPTIONS: '--import=data:text/javascript,setInterval(String,1e3)' });
    terminal.pressCtrlC();
    await terminal.printed(/exited with 7/);
    terminal.pressCtrlC();
    expect(await terminal.ended()).toEqual({ code: 7 });
  });
});

function can(program: string, ...args: string[]): boolean {
  const isThere = process.platform === 'linux' && spawnSync(program, args, { stdio: 'ignore' }).status === 0;
  if (!isThere) console.warn(`SKIPPED: ${program} ${args.join(' ')} does not work here`);
  return isThere;
}

/** The process that is number 1 in the namespace of its own, by its number out here. */
async function firstProcess({ pid }: ChildProcess): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
}
