// `weir start`: runs the gateway until a signal ends it.
import { type LastGood, loadFiles } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import { findConflicts } from '../routing/conflicts.ts';
import type { RunningGateway } from '../supervisor.ts';
import { startGateway } from '../supervisor.ts';
import { DEFAULT_CONFIG, loadChecked, loadOptions, parseConfigArgs } from './load-checked.ts';
import { untilSignal } from './until-signal.ts';

const USAGE = `usage: weir start [--config FILE] [--routes DIR]

Runs the gateway. SIGTERM or SIGINT lets what is under way end; a second signal ends at once. Files that change are
loaded anew; SIGHUP does so at once. SIGUSR2 opens the file of the log anew.

  --config FILE   the gateway's file (${DEFAULT_CONFIG})
  --routes DIR    the folder of the route files (what the gateway's file says)
  --help          prints this

Exit code: 0 after a signal, 1 when it failed while running, 2 when the configuration is not valid.
`;

/** Runs `weir start` with the arguments after the command's name; resolves with the exit code when the gateway ends. */
export async function start(args: string[]): Promise<number> {
  const parsed = parseConfigArgs(args);
  if (typeof parsed === 'string') {
    process.stderr.write(`weir start: ${parsed}\n\n${USAGE}`);
    return 2;
  }
  if (parsed.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  // These would end a gateway that is still starting.
  process.on('SIGHUP', () => undefined).on('SIGUSR2', () => undefined);
  const loaded = await loadChecked(parsed);
  if (!loaded.ok) {
    process.stderr.write(loaded.problems.map((problem) => `${formatProblem(problem)}\n`).join(''));
    return 2;
  }
  const { gateway, routes, folder, loaded: files } = loaded;
  const inForce = { gateway, folder, routes: new Map(files.map((route) => [route.document.file, route])) };
  const load = (lastGood: LastGood) => loadFiles({ ...loadOptions(parsed), lastGood });
  return runUntilSignal(
    await startGateway({
      gateway,
      routes,
      files: { inForce, load, checkRoutes: findConflicts, gatewayFile: parsed.config },
    }),
  );
}

/** Waits for SIGTERM or SIGINT and stops the gateway; resolves with the exit code. */
export async function runUntilSignal(gateway: RunningGateway): Promise<number> {
  const signalled = untilSignal();
  process.on('SIGHUP', () => void gateway.reload()).on('SIGUSR2', () => gateway.reopenLog());
  try {
    // A listener that cannot be had ends the gateway; otherwise only a signal does.
    await Promise.race([signalled, gateway.ready.then(() => signalled)]);
    return 0;
  } catch (error) {
    process.stderr.write(`weir: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await gateway.stop();
  }
}
