// Reads the files of certificates, and says of each that cannot be used what is wrong with it.
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type FolderEntry, pairsOfFolder } from './certificate-folder.ts';
import { namesOf } from './certificate-names.ts';
import { ocspFault } from './ocsp-response.ts';
import type { CertificateSource, PairFiles, ServedCertificate } from './served-certificate.ts';

/** One thing that is wrong with a file. */
export interface FileFault {
  readonly part: 'cert' | 'key' | 'ocsp' | 'folder';
  /** A sentence without the file's name. */
  readonly message: string;
  readonly expected?: string;
}

/** A certificate that can be served, or why it cannot. */
export type ReadCertificate =
  | { readonly files: PairFiles; readonly certificate: ServedCertificate }
  | { readonly files: PairFiles; readonly faults: readonly [FileFault, ...FileFault[]] };

const CERTIFICATE = 'a file with a certificate in PEM';
const KEY = 'a file with a private key in PEM without passphrase';
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The pairs of a source; a fault where a folder cannot be listed, or has none. */
export async function listPairs(source: CertificateSource): Promise<readonly PairFiles[] | FileFault> {
  if (typeof source !== 'string') return source;
  try {
    const names = await readdir(source);
    const pairs = pairsOfFolder(await Promise.all(names.map((name) => entryOf(source, name))));
    if (pairs.length === 0) return { part: 'folder', message: 'the folder has no certificate', expected: FOLDER };
    return pairs.map(({ cert, key, ocsp }) => {
      return { cert: join(source, cert), key: join(source, key), ocsp: ocsp === '' ? '' : join(source, ocsp) };
    });
  } catch (error) {
    return { part: 'folder', message: `the folder cannot be read (${codeOf(error)})`, expected: FOLDER };
  }
}

const FOLDER = 'a folder with NAME.pem and NAME.key';

/** Reads one pair; all that is wrong with it is found at once. */
export async function readCertificate(files: PairFiles): Promise<ReadCertificate> {
  const [cert, key, ocsp] = await Promise.all([
    readWith(files.cert, (octets) => certificateIn(octets.toString('latin1'))),
    readWith(files.key, (octets) => keyIn(octets.toString('latin1'))),
    files.ocsp === '' ? null : readWith(files.ocsp, responseIn),
  ]);
  const faults: FileFault[] = [];
  if (typeof cert === 'string') faults.push({ part: 'cert', message: cert, expected: CERTIFICATE });
  if (typeof key === 'string') faults.push({ part: 'key', message: key, expected: KEY });
  if (typeof ocsp === 'string') faults.push({ part: 'ocsp', message: ocsp, expected: 'an OCSP response in DER' });
  if (typeof cert === 'object' && typeof key === 'object' && !cert.certificate.checkPrivateKey(key.object)) {
    faults.push({ part: 'key', message: 'not the key of the certificate' });
  }
  if (faults.length === 0 && typeof cert === 'object' && typeof key === 'object' && !isTaken(cert.pem, key.pem)) {
    faults.push({
      part: 'cert',
      message: 'OpenSSL does not take it',
      expected: 'a longer key, and a better signature',
    });
  }
  const [first, ...others] = faults;
  if (first !== undefined) return { files, faults: [first, ...others] };
  if (typeof cert === 'string' || typeof key === 'string' || typeof ocsp === 'string') throw new Error('no fault');
  return { files, certificate: served(files, { cert, key, ocsp }) };
}

/** The authorities in a file, in PEM, or what is wrong with it. */
export function readAuthorities(file: string): Promise<{ readonly pem: string } | string> {
  return readWith(file, (octets) => {
    const { pem } = certificateIn(octets.toString('latin1'));
    return { pem };
  });
}

interface PemCertificate {
  readonly pem: string;
  readonly certificate: X509Certificate;
}

interface PemKey {
  readonly pem: string;
  readonly object: KeyObject;
}

function served(
  files: PairFiles,
  { cert, key, ocsp }: { cert: PemCertificate; key: PemKey; ocsp: Uint8Array | null },
): ServedCertificate {
  const { certificate } = cert;
  const mark = createHash('sha256')
    .update(cert.pem)
    .update('\n')
    .update(ocsp ?? '');
  return {
    files,
    cert: cert.pem,
    key: key.pem,
    ocsp,
    names: namesOf(certificate),
    keyType: certificate.publicKey.asymmetricKeyType ?? '',
    notAfterMs: Date.parse(certificate.validTo),
    mark: mark.digest('hex'),
  };
}

/** What `read` makes of a file, or a sentence: that it cannot be read, or what `read` threw. */
async function readWith<Value extends object>(file: string, read: (octets: Buffer) => Value): Promise<Value | string> {
  let octets: Buffer;
  try {
    octets = await readFile(file);
  } catch (error) {
    return `the file cannot be read (${codeOf(error)})`;
  }
  try {
    return read(octets);
  } catch (error) {
    return error instanceof Fault ? error.message : 'not valid';
  }
}

/** What is thrown for files that are read well and hold something else. */
class Fault extends Error {}

/** The first is the one that is served; all that follow must be certificates too. */
function certificateIn(text: string): PemCertificate {
  const [first, ...chain] = text.match(PEM_CERTIFICATE) ?? [];
  if (first === undefined) throw new Fault('not valid');
  for (const pem of chain) new X509Certificate(pem);
  return { pem: [first, ...chain].join('\n'), certificate: new X509Certificate(first) };
}

/** Short keys and old signatures are read well, and still not served. */
function isTaken(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}

function keyIn(text: string): PemKey {
  if (/-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(text)) throw new Fault('a key with a passphrase');
  return { pem: text, object: createPrivateKey(text) };
}

function responseIn(octets: Buffer): Uint8Array {
  const fault = ocspFault(octets);
  if (fault !== null) throw new Fault(fault);
  return new Uint8Array(octets);
}

async function entryOf(folder: string, name: string): Promise<FolderEntry> {
  const path = join(folder, name);
  // Not what the folder says: links to folders and files are followed.
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return { name, entries: isFolder ? await readdir(path).catch(() => []) : null };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
