// Tools that attack or inspect a listener: run to their end, with all they print.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';

export interface ToolRun {
  readonly code: number | null;
  /** Both outputs in the order of their coming, without colours. */
  readonly text: string;
}

/** Runs it; after the limit it is ended. */
export async function runTool(command: string, args: readonly string[], limitMs: number): Promise<ToolRun> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const take = (piece: Buffer): void => {
    text += piece.toString('latin1');
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const limit = setTimeout(() => child.kill('SIGTERM'), limitMs);
  const [code] = await once(child, 'close');
  clearTimeout(limit);
  return { code, text: stripVTControlCharacters(text) };
}
