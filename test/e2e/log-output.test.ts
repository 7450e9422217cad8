// A log that cannot be written costs lines, never the gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findFreePorts } from '../support/free-ports.ts';
import { tieToThisProcess } from '../support/lifeline.ts';
import { waitFor } from '../support/wait-for.ts';
import { createWeirFolder } from '../support/weir-folder.ts';

const CLI = resolve(import.meta.dirname, '../../gateway/cli.ts');

describe.skipIf(!existsSync('/dev/full'))('a gateway whose standard output is a full disk', () => {
  it('serves, and ends when it is told to', async () => {
    const [port = 0, adminPort = 0] = await findFreePorts(2);
    const folder = await createWeirFolder({ routes: {} }, { port, adminPort });
    const args = [CLI, 'start', '--config', join(folder, 'config/gateway.yaml')];
    const child = spawn(process.execPath, args, {
      cwd: folder,
      stdio: ['ignore', openSync('/dev/full', 'w'), 'ignore'],
    });
    const cut = tieToThisProcess(child.pid ?? 0);
    const ended = once(child, 'exit');
    const status = (url: string) =>
      fetch(url).then(
        (answer) => answer.status,
        () => 0,
      );
    const isReady = async () => (await status(`http://127.0.0.1:${adminPort}/readyz`)) === 200;
    await waitFor(isReady, { limitMs: 15_000, what: 'the gateway to be ready' });
    for (let at = 0; at < 50; at++) expect(await status(`http://127.0.0.1:${port}/`)).toBe(404);
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    expect(metrics).toMatch(/^weir_log_lines_dropped_total [1-9]/m);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    cut();
    await rm(folder, { recursive: true });
  });
});
