// What a listener serves, read from its files: what is broken there does not replace what is in force.
import { type FileFault, listPairs, readAuthorities, readCertificate } from './certificate-files.ts';
import type { CertificateSource, ListenerMaterial, PairFiles, ServedCertificate } from './served-certificate.ts';

/** A file that cannot be used; its last good version serves where there was one. */
export interface BrokenFile {
  readonly file: string;
  readonly why: string;
  /** The certificate file of its pair, to which a key and an OCSP response belong; null for other files. */
  readonly certificate: string | null;
}

export interface MaterialReading {
  /** Null when nothing can be served. */
  readonly material: ListenerMaterial | null;
  readonly broken: readonly BrokenFile[];
}

/** Reads all files of a listener; `before` is what is in force. */
export async function readMaterial(
  from: { readonly certificates: CertificateSource; readonly clientCa: string },
  before: ListenerMaterial | null,
): Promise<MaterialReading> {
  const { certificates, broken } = await readCertificates(from.certificates, before?.certificates ?? []);
  const authorities = from.clientCa === '' ? { pem: '' } : await readAuthorities(from.clientCa);
  const isBroken = typeof authorities === 'string';
  if (isBroken) broken.push({ file: from.clientCa, why: authorities, certificate: null });
  const clientCa = isBroken ? before?.clientCa : authorities.pem;
  if (certificates.length === 0 || clientCa === undefined) return { material: before, broken };
  return { material: { certificates, clientCa }, broken };
}

/** Whether both are the same for clients. */
export function isSameMaterial(one: ListenerMaterial, other: ListenerMaterial): boolean {
  const marks = ({ certificates }: ListenerMaterial) => certificates.map(({ mark }) => mark).join();
  return one.clientCa === other.clientCa && marks(one) === marks(other);
}

/** The files and folders in which a change can mean another certificate. */
export async function pathsToWatch(from: {
  readonly certificates: CertificateSource;
  readonly clientCa: string;
}): Promise<string[]> {
  const pairs = await listPairs(from.certificates);
  const files = 'part' in pairs ? [] : pairs.flatMap(({ cert, key, ocsp }) => [cert, key, ocsp]);
  const folder = typeof from.certificates === 'string' ? [from.certificates] : [];
  return [...folder, ...files, from.clientCa].filter((path) => path !== '');
}

async function readCertificates(source: CertificateSource, before: readonly ServedCertificate[]) {
  const broken: BrokenFile[] = [];
  const pairs = await listPairs(source);
  if ('part' in pairs) {
    broken.push({ file: String(source), why: sentence(pairs), certificate: null });
    return { certificates: before, broken };
  }
  const certificates: ServedCertificate[] = [];
  for (const result of await Promise.all(pairs.map(readCertificate))) {
    const { files } = result;
    if ('certificate' in result) {
      certificates.push(result.certificate);
      continue;
    }
    const lastGood = before.find((each) => each.files.cert === files.cert);
    if (lastGood !== undefined) certificates.push(lastGood);
    for (const fault of result.faults) {
      broken.push({ file: fileOf(files, fault.part), why: sentence(fault), certificate: files.cert });
    }
  }
  return { certificates, broken };
}

function fileOf(files: PairFiles, part: FileFault['part']): string {
  return part === 'folder' ? files.cert : files[part];
}

function sentence({ message, expected }: FileFault): string {
  return expected === undefined ? message : `${message}, expected ${expected}`;
}
