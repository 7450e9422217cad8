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

export interface SignOptions {
  /** What the certificate is for, as OpenSSL writes it: `DNS:a.example` or `IP:192.0.2.1`; none for no such extension. */
  readonly names?: readonly string[];
  /** As OpenSSL writes it; by default the common name is `name`. */
  readonly subject?: string;
  readonly keyType?: 'ec' | 'rsa';
  /** Days from now until it expires; a negative number for one that has. */
  readonly days?: number;
  /** The folder to write to, instead of the authority's own. */
  readonly folder?: string;
}

export interface Authority {
  readonly folder: string;
  readonly caFile: string;
  readonly ca: string;
  /** Makes a pair in the files `<name>.pem` and `<name>.key`, by default valid for two days, 127.0.0.1 and localhost. */
  sign(name: string, options?: SignOptions): SignedPair;
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
    sign(name, options = {}) {
      const { names = ['IP:127.0.0.1', 'DNS:localhost'], subject = `/CN=${name}`, keyType = 'ec', days = 2 } = options;
      const [certFile, keyFile] = [
        join(options.folder ?? folder, `${name}.pem`),
        join(options.folder ?? folder, `${name}.key`),
      ];
      const key = keyType === 'ec' ? newKey : ['-newkey', 'rsa:2048', '-nodes'];
      openssl('req', '-utf8', ...key, '-keyout', keyFile, '-out', 'request.pem', '-subj', subject);
      writeFileSync(file('names.txt'), names.length === 0 ? '' : `subjectAltName=${names.join(',')}\n`);
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names.txt'];
      openssl('x509', '-req', '-in', 'request.pem', ...by, '-days', String(days), '-out', certFile);
      return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
