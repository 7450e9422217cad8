// The short form of the operations drill: reloads, worker restarts, hand-overs and an unread log, under steady load.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const SCRIPT = resolve(import.meta.dirname, '../../bench/chaos/operate.ts');

describe.skipIf(process.platform !== 'linux')('a gateway that is operated', () => {
  it('costs no client anything', async () => {
    // The switch of the kernel belongs to the whole machine: the long drill may set it, this test leaves it as it is.
    const { stdout } = await promisify(execFile)(process.execPath, [
      SCRIPT,
      '--short',
      '--migration',
      'as-found',
    ]).catch((error: Error & { readonly stdout?: string }) => ({ stdout: `${error.stdout ?? ''}${error.message}` }));
    console.info(stdout);
    expect(stdout).toMatch(/^drill passed: /m);
  }, 180_000);
});
