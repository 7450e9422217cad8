// Files that are a part of a route: their paths and their content.
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { RouteConfig } from './route-schema.ts';

/** Largest file: every worker keeps it in memory. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The path of a file that is written relative to its route file. */
export function sideFilePath(file: string, route: Pick<RouteConfig, 'file'>): string {
  return resolve(dirname(route.file), file);
}

/** The content, or why there is none. */
export async function readSideFile(path: string): Promise<Uint8Array<ArrayBuffer> | string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) return `the file is larger than ${MAX_FILE_BYTES} bytes`;
    return new Uint8Array(await readFile(path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return `the file cannot be read (${code})`;
  }
}
