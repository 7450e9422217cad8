// `weir check`: validates gateway.yaml and all route files, and prints every problem at once.
import type { LoadResult } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import { DEFAULT_CONFIG, loadChecked, parseConfigArgs } from './load-checked.ts';

const USAGE = `usage: weir check [--config FILE] [--routes DIR] [--json]

Loads and validates the whole configuration, and prints every problem: file:line:column key: what is wrong.

  --config FILE   the gateway's file (${DEFAULT_CONFIG})
  --routes DIR    the folder of the route files (what the gateway's file says)
  --json          prints the problems as a JSON array to stdout
  --help          prints this

Exit code: 0 when all is valid, 2 when something is not.
`;

/** Runs `weir check` with the arguments after the command's name; the exit code is 0, or 2 for problems or bad usage. */
export async function check(args: string[]): Promise<number> {
  const parsed = parseConfigArgs(args);
  if (typeof parsed === 'string') {
    process.stderr.write(`weir check: ${parsed}\n\n${USAGE}`);
    return 2;
  }
  if (parsed.help) {
    process.stderr.write(USAGE);
    return 0;
  }
  const result = await loadChecked(parsed);
  if (parsed.json) process.stdout.write(`${JSON.stringify(result.ok ? [] : result.problems, null, 2)}\n`);
  if (result.ok || !parsed.json) process.stderr.write(report(result, parsed.config));
  return result.ok ? 0 : 2;
}

function report(result: LoadResult, gatewayFile: string): string {
  if (!result.ok) return result.problems.map((problem) => `${formatProblem(problem)}\n`).join('');
  const { length } = result.routes;
  if (length === 0) return `warning: there is no route file in ${result.gateway.routes}\n${gatewayFile} is valid\n`;
  return `${gatewayFile} and ${length} ${length === 1 ? 'route' : 'routes'} are valid\n`;
}
