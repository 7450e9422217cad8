// Which files of a folder belong together as certificate and key.
import type { PairFiles } from './served-certificate.ts';

/** Something in a folder, by its path below it. */
export interface FolderEntry {
  readonly name: string;
  /** What is in it, for a folder; null for a file. */
  readonly entries: readonly string[] | null;
}

const CERTIFICATE = /^(.+)\.(pem|crt)$/;

/**
 * The pairs of a folder in alphabetical order of their names: `NAME.pem` or `NAME.crt` with `NAME.key` and maybe
 * `NAME.ocsp`, and as certbot keeps them `NAME/fullchain.pem` with `NAME/privkey.pem` and maybe `NAME/ocsp.der`. A
 * certificate without key is given with the key that it lacks; other files, and names that begin with a dot, are left.
 */
export function pairsOfFolder(entries: readonly FolderEntry[]): PairFiles[] {
  const visible = entries.filter(({ name }) => !name.startsWith('.'));
  const files = new Set(visible.filter((entry) => entry.entries === null).map(({ name }) => name));
  const pairs = visible.flatMap(({ name, entries: inside }) => {
    return inside === null ? flatPair(name, files) : nestedPair(name, inside);
  });
  return pairs.toSorted((one, other) => (one.cert < other.cert ? -1 : 1));
}

function flatPair(file: string, files: ReadonlySet<string>): PairFiles[] {
  const [, name = '', ending = ''] = CERTIFICATE.exec(file) ?? [];
  if (name === '' || (ending === 'crt' && files.has(`${name}.pem`))) return [];
  const ocsp = `${name}.ocsp`;
  return [{ cert: file, key: `${name}.key`, ocsp: files.has(ocsp) ? ocsp : '' }];
}

function nestedPair(folder: string, inside: readonly string[]): PairFiles[] {
  if (!inside.includes('fullchain.pem')) return [];
  const ocsp = inside.includes('ocsp.der') ? `${folder}/ocsp.der` : '';
  return [{ cert: `${folder}/fullchain.pem`, key: `${folder}/privkey.pem`, ocsp }];
}
