// What a reload puts in force: every valid file as it is now, and of the others the last good version.
import { type CheckRoutes, type CrossProblem, crossProblems, type LoadedRoute } from './cross-checks.ts';
import type { LastGood, LoadedFiles } from './load.ts';
import type { Problem } from './problem.ts';
import type { RouteConfig } from './route-schema.ts';

/** A file that is not in force as it is now, and why. */
export interface Quarantined {
  readonly file: string;
  readonly problems: readonly Problem[];
  /** Whether an earlier version of it is in force. */
  readonly hasLastGood: boolean;
}

/** What is in force. */
export interface InForce extends LastGood {
  /** The valid version of each route file that is in force, by the file's path. */
  readonly routes: ReadonlyMap<string, LoadedRoute>;
}

export interface ReloadPlan extends InForce {
  readonly quarantined: readonly Quarantined[];
}

/** The routes that are in force, in the order of their files. */
export function routesOf({ routes }: InForce): RouteConfig[] {
  return [...routes.values()].flatMap(({ result }) => (result.ok ? [result.value] : []));
}

/**
 * Merges what was loaded with what is in force. A file that is not valid, by itself or beside the others, is
 * quarantined: its last good version stays. Files that are gone take their routes along, unless the folder could not be
 * listed at all.
 */
export function planReload(before: InForce, loaded: LoadedFiles, checkRoutes: CheckRoutes): ReloadPlan {
  const { gateway, gatewayFile, folderProblem, folder } = loaded;
  const quarantined: Quarantined[] = [];
  if (!gateway.ok) quarantined.push({ file: gatewayFile, problems: gateway.problems, hasLastGood: true });
  if (folderProblem !== null) {
    quarantined.push({ file: folder, problems: [folderProblem], hasLastGood: true });
    return { gateway: gateway.ok ? gateway.value : before.gateway, folder, routes: before.routes, quarantined };
  }
  const routes = new Map<string, LoadedRoute>();
  for (const route of loaded.routes) {
    const { file } = route.document;
    const lastGood = before.routes.get(file);
    if (route.result.ok) {
      routes.set(file, route);
      continue;
    }
    quarantined.push({ file, problems: route.result.problems, hasLastGood: lastGood !== undefined });
    if (lastGood !== undefined) routes.set(file, lastGood);
  }
  quarantined.push(...settle(routes, before.routes, checkRoutes));
  return { gateway: gateway.ok ? gateway.value : before.gateway, folder, routes, quarantined };
}

/** Takes files that do not go together with the others out of `routes`, changed ones first, until all agree. */
function settle(
  routes: Map<string, LoadedRoute>,
  before: ReadonlyMap<string, LoadedRoute>,
  checkRoutes: CheckRoutes,
): Quarantined[] {
  const quarantined: Quarantined[] = [];
  for (;;) {
    const found = crossProblems([...routes.values()], checkRoutes);
    if (found.length === 0) return quarantined;
    for (const file of blame(found, (each) => !isSame(routes.get(each), before.get(each)))) {
      const lastGood = before.get(file);
      const own = found.filter(({ problem, other }) => problem.file === file || other === file);
      quarantined.push({ file, problems: own.map(({ problem }) => problem), hasLastGood: lastGood !== undefined });
      if (lastGood !== undefined && lastGood !== routes.get(file)) routes.set(file, lastGood);
      else routes.delete(file);
    }
  }
}

/**
 * The files to take out: those that have changed where the others have not. Where both of a pair have, one of them, and
 * then it is looked again: what does not go together with that one may go together with its last good version.
 */
function blame(found: readonly CrossProblem[], hasChanged: (file: string) => boolean): Set<string> {
  const certain = found.flatMap(({ problem, other }) => {
    if (hasChanged(problem.file) === hasChanged(other)) return [];
    return hasChanged(other) ? [other] : [problem.file];
  });
  return new Set(certain.length > 0 ? certain : found.slice(0, 1).map(({ problem }) => problem.file));
}

/** Whether two versions of a file say the same. */
export function isSame(one: LoadedRoute | undefined, other: LoadedRoute | undefined): boolean {
  return one === other || contentOf(one) === contentOf(other);
}

function contentOf(route: LoadedRoute | undefined): string {
  if (route === undefined || !route.result.ok) return '';
  return JSON.stringify(route.result.value, (_key, value: unknown) => {
    if (value === Number.POSITIVE_INFINITY) return 'off';
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
  });
}
