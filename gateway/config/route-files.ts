// All files besides its own that a route is made of: what its fallback answers with, its users, its keys.
import { accessFilesOf, readAccessFiles } from './access-files.ts';
import type { ConfigDocument } from './document.ts';
import { fallbackFilesOf, readFallbackFiles } from './fallback-files.ts';
import type { Problem } from './problem.ts';
import type { RouteConfig } from './route-schema.ts';

/** The route with the content of its files, and what is wrong with them. */
export async function readRouteFiles(
  route: RouteConfig,
  document: ConfigDocument,
): Promise<{ readonly route: RouteConfig; readonly problems: readonly Problem[] }> {
  const ofFallback = await readFallbackFiles(route, document);
  const ofAccess = await readAccessFiles(ofFallback.route, document);
  return { route: ofAccess.route, problems: [...ofFallback.problems, ...ofAccess.problems] };
}

/** The paths of these files. */
export function routeFilesOf(route: RouteConfig): string[] {
  return [...fallbackFilesOf(route), ...accessFilesOf(route)];
}
