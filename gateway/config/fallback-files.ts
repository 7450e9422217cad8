// The files that fallbacks answer with, read when their route is loaded.
import type { ConfigDocument } from './document.ts';
import type { Problem } from './problem.ts';
import type { RouteConfig } from './route-schema.ts';
import { readSideFile, sideFilePath } from './side-file.ts';

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
      const content = await readSideFile(sideFilePath(link.file, route));
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
    return link.kind === 'respond' && link.file !== null ? [sideFilePath(link.file, route)] : [];
  });
}
