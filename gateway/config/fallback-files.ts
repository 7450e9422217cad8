// The files that fallbacks answer with, read when their route is loaded.
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ConfigDocument } from './document.ts';
import type { Problem } from './problem.ts';
import type { RouteConfig } from './route-schema.ts';

/** Largest file: every worker keeps it in memory. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The route with the content of its files, and a problem for each that cannot be read. */
export async function readFallbackFiles(
  route: RouteConfig,
  document: ConfigDocument,
): Promise<{ readonly route: RouteConfig; readonly problems: readonly Problem[] }> {
  const { fallback } = route;
  if (fallback === null) return { route, problems: [] };
  const problems: Problem[] = [];
  const chain = await Promise.all(
    fallback.chain.map(async (link, at) => {
      if (link.kind !== 'respond' || link.file === null) return link;
      const content = await read(pathOf(link.file, route));
      if (typeof content !== 'string') return { ...link, content };
      problems.push(document.problemAt(['fallback', 'chain', at, 'respond', 'file'], 'value', { message: content }));
      return link;
    }),
  );
  return { route: { ...route, fallback: { ...fallback, chain } }, problems };
}

/** The paths of the files that a route's fallback answers with. */
export function fallbackFilesOf(route: RouteConfig): string[] {
  return (route.fallback?.chain ?? []).flatMap((link) => {
    return link.kind === 'respond' && link.file !== null ? [pathOf(link.file, route)] : [];
  });
}

function pathOf(file: string, route: RouteConfig): string {
  return resolve(dirname(route.file), file);
}

/** The content, or why there is none. */
async function read(path: string): Promise<Uint8Array<ArrayBuffer> | string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) return `the file is larger than ${MAX_FILE_BYTES} bytes`;
    return new Uint8Array(await readFile(path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return `the file cannot be read (${code})`;
  }
}
