// The short form of the instance drill: what may happen to instances happens to them, under steady load.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const SCRIPT = resolve(import.meta.dirname, '../../bench/chaos/instances.ts');

describe('instances that are killed, fail, hang, break off, are restarted and are all down', () => {
  it('cost clients no more than what cannot be repeated, and every answer without the pool says so', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '--short']).catch(
      (error: Error & { readonly stdout?: string }) => ({ stdout: `${error.stdout ?? ''}${error.message}` }),
    );
    console.info(stdout);
    expect(stdout).toMatch(/^drill passed$/m);
  }, 180_000);
});
