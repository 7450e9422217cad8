// The certificate of a benchmark, made by openssl: ECDSA P-256, signed by itself.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Makes one for localhost and 127.0.0.1 in the folder. */
export function createCertificate(folder: string): Certificate {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const args = ['req', '-x509', ...key, ...names, '-days', '365', '-out', certFile];
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl makes no certificate: ${stderr}`);
  return { certFile, keyFile };
}
