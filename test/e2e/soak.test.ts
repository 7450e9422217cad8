// A short soak: good, bad and aborted traffic at once against the real process.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findFreePorts } from '../support/free-ports.ts';

const SCRIPT = resolve(import.meta.dirname, '../../bench/soak.ts');

describe('twenty seconds of mixed traffic', () => {
  it('cost no good client anything, end no worker and leave nothing open (case 142)', async () => {
    const [port = 0, adminPort = 0] = await findFreePorts(2);
    const args = [SCRIPT, '--seconds', '20', '--port', String(port), '--admin-port', String(adminPort)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    console.info(stdout);
    expect(stdout).toContain('soak passed');
  }, 60_000);
});
