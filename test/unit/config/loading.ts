// Files as a reload loads them, made from texts.
import type { LoadedRoute } from '../../../gateway/config/cross-checks.ts';
import { readDocument } from '../../../gateway/config/document.ts';
import type { LoadedFiles } from '../../../gateway/config/load.ts';
import { formatProblem, type Problem } from '../../../gateway/config/problem.ts';
import type { InForce, ReloadPlan } from '../../../gateway/config/reload.ts';
import { checkGateway, checkRoute, valid } from './checking.ts';

const FOLDER = 'routes';

/** Texts of route files by file name, and what is said of the rest. */
export interface Texts {
  readonly routes: Readonly<Record<string, string>>;
  readonly gateway?: string;
  /** Why the folder of the routes cannot be listed. */
  readonly unlistable?: string;
}

export function loadedFrom({ routes, gateway = '', unlistable }: Texts): LoadedFiles {
  const names = unlistable === undefined ? Object.keys(routes).toSorted() : [];
  return {
    gateway: checkGateway(gateway),
    gatewayFile: 'g.yaml',
    folder: FOLDER,
    folderProblem: unlistable === undefined ? null : problemOf(unlistable),
    routes: names.map((name) => loadedRoute(name, routes[name] ?? '')),
  };
}

/** What is in force after a start with these files; all of them must be valid. */
export function inForceFrom(texts: Texts): InForce {
  const { gateway, routes } = loadedFrom(texts);
  for (const { result } of routes) valid(result);
  return {
    gateway: valid(gateway),
    folder: FOLDER,
    routes: new Map(routes.map((route) => [route.document.file, route])),
  };
}

/** The texts in force, by file name: as `service` and the paths of the first rule. */
export function summaryOf({ routes }: InForce): Record<string, string> {
  return Object.fromEntries(
    [...routes].map(([file, { result }]) => {
      const { service, match } = valid(result);
      return [file.slice(FOLDER.length + 1), `${service} ${match[0]?.paths.join(' ') ?? '-'}`];
    }),
  );
}

/** The quarantined files, each with its problems as lines, and whether an earlier version is in force. */
export function quarantineOf({ quarantined }: ReloadPlan): [string, string[], boolean][] {
  return quarantined.map(({ file, problems, hasLastGood }) => [file, problems.map(formatProblem), hasLastGood]);
}

function loadedRoute(name: string, text: string): LoadedRoute {
  const file = `${FOLDER}/${name}`;
  const document = readDocument(file, text, {});
  const route = name.replace(/\.ya?ml$/, '');
  const result = checkRoute(text);
  if (!result.ok) return { name: route, document, result };
  return {
    name: route,
    document,
    result: { ok: true, value: { name: route, file, ...result.value, source: result.value.source ?? 'consul' } },
  };
}

function problemOf(message: string): Problem {
  return { file: FOLDER, line: 1, column: 1, key: '', message };
}
