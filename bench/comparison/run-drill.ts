// Runs one of Weir's own drills as the command that it is, and reads the table it prints.
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { ChaosStep } from './chaos-result.ts';
import { stepsIn } from './drill-table.ts';

const FOLDER = resolve(import.meta.dirname, '../chaos');

/** The drills that there are, by name. */
export function drillNames(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => basename(file, '.ts'));
}

/** Runs the drill, shows what it says, and gives its steps and how it ended. */
export async function runDrill(
  name: string,
  options: { isShort: boolean },
): Promise<{ steps: readonly ChaosStep[]; verdict: string }> {
  const script = join(FOLDER, `${name}.ts`);
  const help = spawnSync(process.execPath, [script, '--help'], { encoding: 'utf8', timeout: 10_000 });
  const isShort = options.isShort && help.status === 0 && help.stdout.includes('--short');
  const child = spawn(process.execPath, [script, ...(isShort ? ['--short'] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    process.stdout.write(chunk);
  });
  const code = await new Promise<number | null>((done, reject) => {
    child.once('error', reject).once('close', (exitCode) => done(exitCode));
  });
  const verdict = code === 0 ? 'passed' : `failed (${code ?? 'ended by a signal'})`;
  return { steps: stepsIn(said, `weir, ${name}`), verdict };
}
