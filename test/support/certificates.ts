// Certificates for tests, made by openssl in a folder of their own: an authority, and what it signs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SignedPair {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly folder: string;
  readonly caFile: string;
  readonly ca: string;
  /** Makes a pair that is valid for 127.0.0.1 and localhost, in the files `<name>.pem` and `<name>.key`. */
  sign(name: string): SignedPair;
  remove(): void;
}

/** Whether the machine has openssl; without it the tests that need it are skipped with a line that says so. */
export function hasOpenssl(): boolean {
  if (spawnSync('openssl', ['version']).status === 0) return true;
  console.warn('SKIPPED: openssl is missing');
  return false;
}

export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'weir-certificates-'));
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => {
    const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr}`);
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Weir test CA');
  return {
    folder,
    caFile: file('ca.pem'),
    ca: readFileSync(file('ca.pem'), 'utf8'),
    sign(name) {
      const [certFile, keyFile] = [`${name}.pem`, `${name}.key`];
      openssl('req', ...newKey, '-keyout', keyFile, '-out', 'request.pem', '-subj', `/CN=${name}`);
      writeFileSync(file('names.txt'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names.txt'];
      openssl('x509', '-req', '-in', 'request.pem', ...by, '-out', certFile);
      return {
        certFile: file(certFile),
        keyFile: file(keyFile),
        cert: readFileSync(file(certFile), 'utf8'),
        key: readFileSync(file(keyFile), 'utf8'),
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
