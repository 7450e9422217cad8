// What only shows when all route files are looked at together.
import type { ConfigDocument } from './document.ts';
import type { Problem } from './problem.ts';
import type { RouteConfig } from './route-schema.ts';
import type { Validated } from './validate.ts';

/** Checks valid routes against one another: a rule (an index into `match`) of a route, and the route it is at odds with. */
export type CheckRoutes = (routes: RouteConfig[]) => { route: string; rule: number; rival: string; message: string }[];

/** A route file, read and checked. */
export interface LoadedRoute {
  /** The file's name without folder and extension. */
  readonly name: string;
  readonly document: ConfigDocument;
  readonly result: Validated<RouteConfig>;
}

/** A problem of a file, and the file that it does not go together with. */
export interface CrossProblem {
  readonly problem: Problem;
  readonly other: string;
}

interface ValidRoute {
  readonly document: ConfigDocument;
  readonly config: RouteConfig;
}

/** Routes of one name, services with several sources, and what `checkRoutes` finds. */
export function crossProblems(routes: readonly LoadedRoute[], checkRoutes: CheckRoutes): CrossProblem[] {
  const valid = routes.flatMap(({ document, result }) => (result.ok ? [{ document, config: result.value }] : []));
  return [
    ...nameProblems(routes),
    ...sourceProblems(valid),
    ...policyProblems(valid),
    ...ruleProblems(valid, checkRoutes),
  ];
}

function nameProblems(routes: readonly LoadedRoute[]): CrossProblem[] {
  return routes.flatMap(({ name, document }) => {
    const twin = routes.find((other) => other.name === name && other.document !== document);
    if (twin === undefined) return [];
    const other = twin.document.file;
    return [{ problem: document.problemAt([], 'value', { message: `the same route name as ${other}` }), other }];
  });
}

function sourceProblems(routes: readonly ValidRoute[]): CrossProblem[] {
  return routes.flatMap(({ document, config }) => {
    const other = routes.find((each) => each.config.service === config.service && origin(each) !== origin({ config }));
    if (other === undefined) return [];
    const message = `the same service has another source or other endpoints in ${other.document.file}`;
    return [{ problem: document.problemAt(['service'], 'value', { message }), other: other.document.file }];
  });
}

/** What one service's routes share in memory must be the same for all of them. */
function policyProblems(routes: readonly ValidRoute[]): CrossProblem[] {
  return routes.flatMap(({ document, config }) =>
    (['ejection', 'slowStart', 'breaker'] as const).flatMap((section) => {
      const other = routes.find((each) => {
        return (
          each.config.service === config.service && sharedPart(each.config, section) !== sharedPart(config, section)
        );
      });
      if (other === undefined) return [];
      const message = `the same service has another ${section} in ${other.document.file}`;
      const expected = 'all routes of a service to agree';
      return [{ problem: document.problemAt([section], 'key', { message, expected }), other: other.document.file }];
    }),
  );
}

/** Which statuses are failures is judged for each request, so each route may have its own. */
function sharedPart(config: RouteConfig, section: 'ejection' | 'slowStart' | 'breaker'): string {
  return JSON.stringify(config[section], (key, value: unknown) => {
    if (key === 'statuses') return undefined;
    return value === Number.POSITIVE_INFINITY ? 'off' : value;
  });
}

function origin({ config }: Pick<ValidRoute, 'config'>): string {
  return JSON.stringify([config.source, config.endpoints]);
}

function ruleProblems(routes: readonly ValidRoute[], checkRoutes: CheckRoutes): CrossProblem[] {
  const documentOf = (route: string): ConfigDocument => {
    const document = routes.find(({ config }) => config.name === route)?.document;
    if (document === undefined) throw new Error(`a problem of an unknown route: ${route}`);
    return document;
  };
  return checkRoutes(routes.map(({ config }) => config)).map(({ route, rule, rival, message }) => {
    const problem = documentOf(route).problemAt(['match', rule], 'value', { message });
    return { problem, other: documentOf(rival).file };
  });
}
