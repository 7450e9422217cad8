// Whether the certificate and key files that a configuration names can be used, found out before anything starts.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ConfigDocument } from './document.ts';
import type { GatewayConfig } from './gateway-schema.ts';
import type { Path, Problem } from './problem.ts';

/** Every certificate or key file of a valid gateway.yaml that cannot be read or is no such thing. */
export async function tlsFileProblems(gateway: GatewayConfig, document: ConfigDocument): Promise<Problem[]> {
  const { consul, etcd } = gateway.discovery;
  const problems = [
    filesProblems(consul.tls, ['discovery', 'consul', 'tls'], document),
    filesProblems(etcd.tls, ['discovery', 'etcd', 'tls'], document),
  ];
  return (await Promise.all(problems)).flat();
}

type TlsFiles = GatewayConfig['discovery']['consul']['tls'];

async function filesProblems({ ca, cert, key }: TlsFiles, path: Path, document: ConfigDocument): Promise<Problem[]> {
  const at = (name: string): Path => [...path, name];
  const checks = [
    fault(ca, { what: 'a certificate in PEM', read: readCertificate }),
    fault(cert, { what: 'a certificate in PEM', read: readCertificate }),
    fault(key, { what: 'a private key in PEM without passphrase', read: createPrivateKey }),
  ];
  const [ofCa, ofCert, ofKey] = await Promise.all(checks);
  const faults = [
    [at('ca'), ofCa],
    [at('cert'), ofCert],
    [at('key'), ofKey ?? (ofCert === undefined ? await mismatch(cert, key) : undefined)],
  ] as const;
  return faults.flatMap(([path, found]) => (found === undefined ? [] : [document.problemAt(path, 'value', found)]));
}

type FileFault = Pick<Problem, 'message' | 'expected'>;

interface Expectation {
  readonly what: string;
  /** Throws when the text is none. */
  readonly read: (text: string) => unknown;
}

async function fault(path: string, { what, read }: Expectation): Promise<FileFault | undefined> {
  if (path === '') return undefined;
  try {
    const text = await readFile(path, 'utf8');
    try {
      read(text);
      return undefined;
    } catch {
      return { message: 'not valid', expected: `a file with ${what}` };
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return { message: `the file cannot be read (${code})`, expected: `a file with ${what}` };
  }
}

/** Both can be read on their own: whether the key is that of the certificate. */
async function mismatch(cert: string, key: string): Promise<FileFault | undefined> {
  if (cert === '' || key === '') return undefined;
  const [certificate, privateKey] = await Promise.all([readFile(cert), readFile(key)]);
  const isOwn = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey));
  return isOwn ? undefined : { message: 'not the key of the certificate' };
}

function readCertificate(text: string): X509Certificate {
  return new X509Certificate(text);
}
