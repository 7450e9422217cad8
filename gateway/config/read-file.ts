// Configuration files on disk: which there are, and their text.
import { readdir, readFile } from 'node:fs/promises';
import { type ConfigDocument, readDocument, unreadable } from './document.ts';
import type { Environment } from './environment.ts';

/** The file names of routes in a folder, sorted; or why it cannot be listed. */
export type Listing =
  | { readonly ok: true; readonly names: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Reads a file as UTF-8 YAML; one that cannot be read is a document with that problem. */
export async function readConfigFile(file: string, environment: Environment): Promise<ConfigDocument> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    return unreadable(file, reason(error, 'file'));
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return unreadable(file, 'not UTF-8 text');
  }
  return readDocument(file, text, environment);
}

/** Lists the `*.yaml` and `*.yml` directly in a folder, hidden ones aside. */
export async function listRouteFiles(folder: string): Promise<Listing> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
    return { ok: true, names: names.filter(isRouteFile).sort() };
  } catch (error) {
    return { ok: false, message: reason(error, 'folder') };
  }
}

/** Whether a file of this name is a route file. */
export function isRouteFile(name: string): boolean {
  return /^[^.].*\.ya?ml$/.test(name);
}

function reason(error: unknown, what: 'file' | 'folder'): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return `no such ${what}`;
  if (code === 'EISDIR' || code === 'ENOTDIR') return `not a ${what}`;
  if (code === 'EACCES' || code === 'EPERM') return `no permission to read this ${what}`;
  return `this ${what} cannot be read`;
}
