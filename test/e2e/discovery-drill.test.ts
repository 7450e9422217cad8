// The short form of the discovery drill: what may happen to a Consul happens to it, under steady load.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasConsul } from '../support/real-consul.ts';

const SCRIPT = resolve(import.meta.dirname, '../../bench/chaos/discovery.ts');

describe.skipIf(!hasConsul())('a Consul that is restarted, stopped, wiped, and takes its token back', () => {
  it('costs no client anything as long as one instance lives', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '--short']);
    console.info(stdout);
    expect(stdout).toContain('drill passed: 0 failed requests');
  }, 180_000);
});
