// Loads gateway.yaml and all route files: one effective configuration, or every problem at once.
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { type CheckRoutes, crossProblems, type LoadedRoute } from './cross-checks.ts';
import type { ConfigDocument } from './document.ts';
import type { Environment } from './environment.ts';
import { type GatewayConfig, gatewaySchema } from './gateway-schema.ts';
import { gatewayJsonSchema, routeJsonSchema } from './json-schema.ts';
import type { Problem } from './problem.ts';
import { listRouteFiles, readConfigFile } from './read-file.ts';
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
}

/** Everything valid; or the problems of all files, in the order of files and lines, at least one. */
export type LoadResult =
  | { readonly ok: true; readonly gateway: GatewayConfig; readonly routes: RouteConfig[] }
  | { readonly ok: false; readonly problems: Problem[] };

interface RoutesFolder {
  readonly path: string;
  /** Makes the problem for a folder that cannot be listed; null where that follows from another problem. */
  readonly problem: ((message: string) => Problem) | null;
}

const GATEWAY: FileKind<GatewayConfig> = { schema: gatewaySchema, jsonSchema: gatewayJsonSchema };
const ROUTE = { schema: routeSchema, jsonSchema: routeJsonSchema };
const DEFAULT_ROUTES = '../routes';

/** Loads and checks all files. Problems are values; it throws for bugs only. */
export async function loadConfig(options: LoadOptions): Promise<LoadResult> {
  const { gatewayFile, environment, checkRoutes = () => [] } = options;
  const document = await readConfigFile(gatewayFile, environment);
  const gateway = validate(document, GATEWAY);
  const folder = routesFolder(options, document);
  const listing = await listRouteFiles(folder.path);
  const files = listing.ok ? listing.names.map((name) => join(folder.path, name)) : [];
  const defaultSource = gateway.ok ? gateway.value.discovery.source : 'consul';
  const routes = await Promise.all(files.map((file) => loadRoute(file, environment, defaultSource)));

  const problems = [
    ...problemsIn(gateway),
    ...(gateway.ok ? await tlsFileProblems(gateway.value, document) : []),
    ...(listing.ok || folder.problem === null ? [] : [folder.problem(listing.message)]),
    ...routes.flatMap(({ result }) => problemsIn(result)),
    ...crossProblems(routes, checkRoutes),
  ];
  if (!gateway.ok || problems.length > 0) return { ok: false, problems: inOrder(problems, [gatewayFile, ...files]) };
  return {
    ok: true,
    gateway: { ...gateway.value, routes: resolve(folder.path) },
    routes: routes.flatMap(({ result }) => (result.ok ? [result.value] : [])),
  };
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
  return { name, document, result: { ok: true, value } };
}

function routesFolder({ routesFolder, gatewayFile }: LoadOptions, document: ConfigDocument): RoutesFolder {
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
