// The match rules of routes taken apart: one place for each host and path, so that the route table tells which one won.
import type { RouteConfig } from '../../config/route-schema.ts';
import { type MatchRule, type RouteQuery, RouteTable } from '../../routing/route-table.ts';

/** One host and one path of one rule of a route. */
export interface PlacedRule {
  readonly route: RouteConfig;
  /** The position of the rule in `match`. */
  readonly rule: number;
  /** null for any. */
  readonly host: string | null;
  readonly path: string;
  readonly methods: readonly string[] | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a rule can fail by. */
export type Part = 'host' | 'path' | 'method' | 'headers';

export function placesOf(route: RouteConfig): PlacedRule[] {
  return route.match.flatMap(({ hosts, paths, methods, headers }, rule) => {
    return (hosts ?? [null]).flatMap((host) => paths.map((path) => ({ route, rule, host, path, methods, headers })));
  });
}

/** The place that takes the request, by the table that decides for real; `path` is as `normalisePath` returns it. */
export function findPlaced(places: readonly PlacedRule[], query: RouteQuery, path: string): PlacedRule | undefined {
  const rules = places.map((place) => ({ route: place, match: [ruleOf(place)] }));
  return new RouteTable(rules).find(query, path);
}

/** The parts of a place that do not fit the request, two at most; each is asked of a table that knows nothing else. */
export function misfits(
  { host, path: pattern, methods, headers }: PlacedRule,
  query: RouteQuery,
  path: string,
): Part[] {
  const rules: [Part, Partial<MatchRule>][] = [];
  if (host !== null) rules.push(['host', { hosts: [host] }]);
  rules.push(['path', { paths: [pattern] }]);
  if (methods !== null) rules.push(['method', { methods }]);
  if (Object.keys(headers).length > 0) rules.push(['headers', { headers }]);
  const found: Part[] = [];
  for (const [part, rule] of rules) {
    if (found.length < 2 && !fits({ ...ANYTHING, ...rule }, query, path)) found.push(part);
  }
  return found;
}

const ANYTHING: MatchRule = { hosts: null, paths: ['/*'], methods: null, headers: {} };

function fits(rule: MatchRule, query: RouteQuery, path: string): boolean {
  return new RouteTable([{ route: true, match: [rule] }]).find(query, path) === true;
}

function ruleOf({ host, path, methods, headers }: PlacedRule): MatchRule {
  return { hosts: host === null ? null : [host], paths: [path], methods, headers };
}
