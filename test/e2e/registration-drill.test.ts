// The short form of the registration drill: wrapped services and their registry are restarted and killed, under load.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasConsul } from '../support/real-consul.ts';
import { hasMariadb } from '../support/real-mariadb.ts';

const SCRIPT = resolve(import.meta.dirname, '../../bench/chaos/registration.ts');

async function drill(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '--short', ...args]).catch(
    (error: Error & { readonly stdout?: string }) => ({ stdout: `${error.stdout ?? ''}${error.message}` }),
  );
  console.info(stdout);
  return stdout;
}

describe('wrapped services that are restarted and killed, and a registry that is', () => {
  it.skipIf(!hasConsul())(
    'cost no client anything with Consul',
    async () => {
      expect(await drill(['--registry', 'consul'])).toMatch(/^drill passed: 0 failed requests$/m);
    },
    180_000,
  );

  it.skipIf(!hasMariadb())(
    'cost no client anything when the database of the registry is killed',
    async () => {
      const stdout = await drill(['--registry', 'mariadb', '--step', 'its database is killed']);
      expect(stdout).toMatch(/^drill passed: 0 failed requests$/m);
    },
    180_000,
  );
});
