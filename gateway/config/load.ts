// Loads gateway.yaml and all route files: one effective configuration, or every problem at once.
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { type CheckRoutes, crossProblems, type LoadedRoute } from './cross-checks.ts';
import type { ConfigDocument } from './document.ts';
import type { Environment } from './environment.ts';
import { type GatewayConfig, gatewaySchema } from './gateway-schema.ts';
import { gatewayJsonSchema, routeJsonSchema } from './json-schema.ts';
import { listenerFileProblems } from './listener-files.ts';
import type { Problem } from './problem.ts';
import { listRouteFiles, readConfigFile } from './read-file.ts';
import { readRouteFiles } from './route-files.ts';
import { type RouteConfig, routeSchema } from './route-schema.ts';
import { tlsFileProblems } from './tls-files.ts';
import { type FileKind, type Validated, validate } from './validate.ts';
import { valueAt } from './value-at.ts';

/** What to load, and with what. */
export interface LoadOptions {
  /** Path of gateway.yaml; file names in problems start from it as it is given. */
  readonly gatewayFile: string;
  /** Folder of the route files, in place of the one that gateway.yaml names. */
  readonly routesFolder?: string;
  /** The variables that files may use. */
  readonly environment: Environment;
  /** Checks the valid routes against one another. */
  readonly checkRoutes?: CheckRoutes;
  /** At a reload: counts for the routes while gateway.yaml is not valid. */
  readonly lastGood?: LastGood;
}

/** What a valid gateway.yaml said. */
export interface LastGood {
  readonly gateway: GatewayConfig;
  /** The folder of the route files as problems and `document.file` write it. */
  readonly folder: string;
}

/** Everything valid; or the problems of all files, in the order of files and lines, at least one. */
export type LoadResult =
  | {
      readonly ok: true;
      readonly gateway: GatewayConfig;
      readonly routes: RouteConfig[];
      /** The same routes with their files. */
      readonly loaded: readonly LoadedRoute[];
      /** The folder of these files, as their paths begin. */
      readonly folder: string;
    }
  | { readonly ok: false; readonly problems: Problem[] };

interface RoutesFolder {
  readonly path: string;
  /** Makes the problem for a folder that cannot be listed; null where that follows from another problem. */
  readonly problem: ((message: string) => Problem) | null;
}

const GATEWAY: FileKind<GatewayConfig> = { schema: gatewaySchema, jsonSchema: gatewayJsonSchema };
const ROUTE = { schema: routeSchema, jsonSchema: routeJsonSchema };
const DEFAULT_ROUTES = '../routes';

/** All files as they were read, each with its own result. */
export interface LoadedFiles {
  readonly gateway: Validated<GatewayConfig>;
  readonly gatewayFile: string;
  /** The folder of the route files. */
  readonly folder: string;
  /** Why the folder could not be listed, and then no route was loaded; null when it could. */
  readonly folderProblem: Problem | null;
  readonly routes: readonly LoadedRoute[];
}

/** Loads and checks all files. Problems are values; it throws for bugs only. */
export async function loadConfig(options: LoadOptions): Promise<LoadResult> {
  const { checkRoutes = () => [] } = options;
  const files = await loadFiles(options);
  const { gateway, gatewayFile, folderProblem, routes } = files;
  const problems = [
    ...problemsIn(gateway),
    ...(folderProblem === null ? [] : [folderProblem]),
    ...routes.flatMap(({ result }) => problemsIn(result)),
    ...crossProblems(routes, checkRoutes).map(({ problem }) => problem),
  ];
  const order = [gatewayFile, ...routes.map(({ document }) => document.file)];
  if (!gateway.ok || problems.length > 0) return { ok: false, problems: inOrder(problems, order) };
  return {
    ok: true,
    gateway: gateway.value,
    routes: routes.flatMap(({ result }) => (result.ok ? [result.value] : [])),
    loaded: routes,
    folder: files.folder,
  };
}

/** Loads all files, each checked by itself. */
export async function loadFiles(options: Omit<LoadOptions, 'checkRoutes'>): Promise<LoadedFiles> {
  const { gatewayFile, environment } = options;
  const document = await readConfigFile(gatewayFile, environment);
  const checked = validate(document, GATEWAY);
  const ofFiles = checked.ok ? await fileProblems(checked.value, document, options.lastGood) : [];
  const isValid = checked.ok && ofFiles.length === 0;
  const lastGood = isValid ? undefined : options.lastGood;
  const folder = routesFolder(
    lastGood === undefined ? options : { ...options, routesFolder: lastGood.folder },
    document,
  );
  const gateway: Validated<GatewayConfig> = isValid
    ? { ok: true, value: { ...checked.value, routes: resolve(folder.path) } }
    : { ok: false, problems: checked.ok ? ofFiles : checked.problems };
  const listing = await listRouteFiles(folder.path);
  const files = listing.ok ? listing.names.map((name) => join(folder.path, name)) : [];
  const effective = checked.ok ? checked.value : undefined;
  const defaultSource = (lastGood?.gateway ?? effective)?.discovery.source ?? 'consul';
  const routes = await Promise.all(files.map((file) => loadRoute(file, environment, defaultSource)));
  const folderProblem = listing.ok ? null : (folder.problem?.(listing.message) ?? null);
  return { gateway, gatewayFile, folder: folder.path, folderProblem, routes };
}

async function fileProblems(gateway: GatewayConfig, document: ConfigDocument, lastGood?: LastGood): Promise<Problem[]> {
  const problems = [
    tlsFileProblems(gateway, document),
    listenerFileProblems(gateway.listen, document, lastGood?.gateway.listen),
  ];
  return (await Promise.all(problems)).flat();
}

async function loadRoute(
  file: string,
  environment: Environment,
  defaultSource: RouteConfig['source'],
): Promise<LoadedRoute> {
  const document = await readConfigFile(file, environment);
  const name = basename(file).replace(/\.ya?ml$/, '');
  const result = validate(document, ROUTE);
  if (!result.ok) return { name, document, result };
  const value: RouteConfig = { name, file, ...result.value, source: result.value.source ?? defaultSource };
  const { route, problems } = await readRouteFiles(value, document);
  if (problems.length > 0) return { name, document, result: { ok: false, problems } };
  return { name, document, result: { ok: true, value: route } };
}

function routesFolder(
  { routesFolder, gatewayFile }: Pick<LoadOptions, 'routesFolder' | 'gatewayFile'>,
  document: ConfigDocument,
): RoutesFolder {
  if (routesFolder !== undefined) {
    const problem = (message: string): Problem => ({ file: routesFolder, line: 1, column: 1, key: '', message });
    return { path: routesFolder, problem };
  }
  const written = valueAt(document.value, ['routes']);
  const routes = typeof written === 'string' && written !== '' ? written : DEFAULT_ROUTES;
  const problem = (message: string): Problem => document.problemAt(['routes'], 'value', { message });
  const path = isAbsolute(routes) ? routes : join(dirname(gatewayFile), routes);
  return { path, problem: document.isReadable ? problem : null };
}

function problemsIn(result: Validated<unknown>): readonly Problem[] {
  return result.ok ? [] : result.problems;
}

function inOrder(problems: readonly Problem[], files: readonly string[]): Problem[] {
  const rank = new Map(files.map((file, index) => [file, index]));
  const rankOf = ({ file }: Problem): number => rank.get(file) ?? files.length;
  return problems.toSorted((a, b) => rankOf(a) - rankOf(b) || a.line - b.line || a.column - b.column);
}
