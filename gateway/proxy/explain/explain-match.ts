// Which route takes a request and why, and why others that came close do not.
import { accessOutline } from '../../access/access-outline.ts';
import type { RouteConfig } from '../../config/route-schema.ts';
import { quote } from '../../core/quote.ts';
import { normaliseHost } from '../../routing/host.ts';
import { lenientReading } from '../../routing/path.ts';
import type { RouteQuery } from '../../routing/route-table.ts';
import { asWritten } from './asked-request.ts';
import type { ExplainedRoute, Rival } from './explanation.ts';
import { findPlaced, misfits, type Part, type PlacedRule, placesOf } from './placed-rules.ts';

export interface Match {
  /** The place that takes the request; undefined when none does. */
  readonly won: PlacedRule | undefined;
  readonly rivals: readonly Rival[];
  readonly moreRivals: number;
}

/** How many rivals are told. */
const MOST_RIVALS = 5;

/** What comes closer when it is all that is amiss. */
const CLOSEST_FIRST: readonly Part[] = ['method', 'headers', 'path', 'host'];

/** Finds the route by the table that decides for real; `path` is as `normalisePath` returns it. */
export function matchRoutes(routes: readonly RouteConfig[], query: RouteQuery, path: string): Match {
  const won = findPlaced(routes.flatMap(placesOf), query, path);
  const close = routes.flatMap((route) => (route === won?.route ? [] : (closest(route, query, path) ?? [])));
  close.sort((one, other) => one.distance - other.distance || other.commonLength - one.commonLength);
  const rivals = close.slice(0, MOST_RIVALS).map(({ place, missing }) => {
    const { route, rule } = place;
    const why = missing === null ? behind(place, won) : amiss(place, missing, { query, path });
    return { route: route.name, file: route.file, rule, matches: missing === null, why };
  });
  return { won, rivals, moreRivals: close.length - rivals.length };
}

/**
 * A route that guards what lenient services would read the target as, where the request is another's: `//admin` is
 * `/admin` to some. Null when there is none.
 */
export function evadedRoute(
  routes: readonly RouteConfig[],
  query: RouteQuery & { readonly target: string },
  won: PlacedRule | undefined,
): RouteConfig | null {
  const lenient = lenientReading(query.target);
  const meant = lenient === null ? undefined : findPlaced(routes.flatMap(placesOf), query, lenient);
  const isAnothers = meant !== undefined && meant.route !== won?.route;
  return isAnothers && accessOutline(meant.route).length > 0 ? meant.route : null;
}

/** The place that won, in the words of the document. */
export function explainRoute({ route, rule, host, path, methods, headers }: PlacedRule): ExplainedRoute {
  const hostKind = host === null ? 'any' : host.startsWith('*') ? 'wildcard' : 'exact';
  return {
    name: route.name,
    file: route.file,
    rule,
    host: { kind: hostKind, pattern: host },
    path: { kind: path.endsWith('*') ? 'prefix' : 'exact', pattern: path },
    methods,
    headers,
  };
}

interface Near {
  readonly place: PlacedRule;
  /** The one part that does not fit; null when all do. */
  readonly missing: Part | null;
  readonly distance: number;
  /** How much of the path is as the rule wants it. */
  readonly commonLength: number;
}

/** The place of a route that comes closest; undefined when all of them fail by more than one part. */
function closest(route: RouteConfig, query: RouteQuery, path: string): Near | undefined {
  const places = placesOf(route);
  let best: Near | undefined;
  for (const place of places) {
    const [missing, ...more] = misfits(place, query, path);
    if (missing === undefined) {
      const matching = findPlaced(places, query, path) ?? place;
      return { place: matching, missing: null, distance: -1, commonLength: 0 };
    }
    if (more.length > 0) continue;
    const near = {
      place,
      missing,
      distance: CLOSEST_FIRST.indexOf(missing),
      commonLength: commonStart(place.path, path),
    };
    if (isNear(near) && (best === undefined || isCloser(near, best))) best = near;
  }
  return best;
}

/** Every path has its first slash in common with every other: that alone brings nobody close. */
function isNear({ place, missing, commonLength }: Near): boolean {
  return missing !== 'path' || commonLength > 1 || place.host !== null;
}

function isCloser(one: Near, other: Near): boolean {
  return one.distance < other.distance || (one.distance === other.distance && one.commonLength > other.commonLength);
}

function commonStart(pattern: string, path: string): number {
  const wanted = pattern.replace(/\*$/, '').toLowerCase();
  const given = path.toLowerCase();
  let length = 0;
  while (length < wanted.length && wanted[length] === given[length]) length++;
  return length;
}

/** Why a place that matches gives way to the one that won. */
function behind(place: PlacedRule, won: PlacedRule | undefined): string {
  if (won === undefined) return 'matches too';
  if (place.host !== won.host && hostRank(place) !== hostRank(won)) {
    return `matches too, but ${hostWords(won)} is more exact than ${hostWords(place)}`;
  }
  const isPrefix = place.path.endsWith('*');
  if (isPrefix && !won.path.endsWith('*')) return `matches too, but ${won.path} is exact and ${place.path} a prefix`;
  if (isPrefix && place.path.length < won.path.length) {
    return `matches too, but its prefix ${place.path} is shorter than ${won.path}`;
  }
  return `matches too, but has ${conditions(place)} conditions on method and headers where ${won.route.name} has ${conditions(won)}`;
}

function hostRank({ host }: PlacedRule): number {
  if (host === null) return 0;
  return host.startsWith('*') ? host.length : Number.POSITIVE_INFINITY;
}

function hostWords({ host }: PlacedRule): string {
  return host === null ? 'any host' : `the host ${host}`;
}

function conditions({ methods, headers }: PlacedRule): number {
  return Object.keys(headers).length + (methods === null ? 0 : 1);
}

interface Asked {
  readonly query: RouteQuery;
  readonly path: string;
}

/** What is amiss with a place that fails by one part alone. */
function amiss(place: PlacedRule, missing: Part, { query, path }: Asked): string {
  switch (missing) {
    case 'host':
      return `wants another host: ${hostsOf(place)}${hostHint(place, query)}`;
    case 'path':
      return `wants another path: ${pathWords(place.path)}${pathHint(place.path, path)}`;
    case 'method':
      return `wants another method: ${(place.methods ?? []).join(', ')}${methodHint(place, query)}`;
    case 'headers':
      return headersAmiss(place, query).join(', and ');
  }
}

function hostsOf({ route, rule }: PlacedRule): string {
  return (route.match[rule]?.hosts ?? []).join(', ');
}

function hostHint({ route, rule }: PlacedRule, { host }: RouteQuery): string {
  const given = normaliseHost(host);
  const isParent = (route.match[rule]?.hosts ?? []).includes(`*.${given}`);
  return isParent ? ` (which does not include ${given} itself)` : '';
}

function pathWords(pattern: string): string {
  return pattern.endsWith('*') ? `what begins with ${pattern.slice(0, -1)}` : `${pattern} exactly`;
}

function pathHint(pattern: string, path: string): string {
  if (pattern === `${path}/*`) return ` (${pattern} does not include ${path} itself)`;
  if (`${pattern}/` === path || pattern === `${path}/`) return ' (a final / makes another path)';
  const start = pattern.replace(/\*$/, '');
  const isSame = path.slice(0, start.length).toLowerCase() === start.toLowerCase();
  return isSame && !path.startsWith(start) ? ' (paths are compared with their case)' : '';
}

function methodHint({ methods }: PlacedRule, { method }: RouteQuery): string {
  return methods?.includes(method.toUpperCase()) === true ? ' (methods are compared with their case)' : '';
}

function headersAmiss({ headers }: PlacedRule, query: RouteQuery): string[] {
  return Object.entries(headers).flatMap(([name, wanted]) => {
    const value = query.header(name);
    if (value === undefined) return [`wants the header ${name}${wanted === '*' ? '' : `: ${wanted}`}`];
    const isGood = wanted === '*' || value === wanted;
    return isGood ? [] : [`wants ${name} to be ${quote(wanted)}, not ${quote(asWritten(value))}`];
  });
}
