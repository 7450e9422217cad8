// Match rules of different routes that could tie on the same request: an error of the files.
import { normaliseHost } from './host.ts';
import type { MatchRule } from './route-table.ts';

export interface RouteRules {
  readonly name: string;
  readonly match: readonly MatchRule[];
}

/** A rule (by its position in `match`) of `route` that ties with one of the route `rival`. */
export interface RouteConflict {
  readonly route: string;
  readonly rule: number;
  readonly rival: string;
  readonly message: string;
}

interface PlacedRule {
  readonly route: string;
  readonly position: number;
  readonly rule: MatchRule;
}

/** Every rule that could tie with a rule of an earlier route, once for each such pair of rules. */
export function findConflicts(routes: readonly RouteRules[]): RouteConflict[] {
  const placed = new Map<string, PlacedRule[]>();
  const conflicts: RouteConflict[] = [];
  const seen = new Set<string>();
  for (const { name, match } of routes) {
    for (const [position, rule] of match.entries()) {
      for (const key of placesOf(rule)) {
        const rivals = placed.get(key) ?? [];
        for (const rival of rivals) {
          const pair = `${name}\n${position}\n${rival.route}\n${rival.position}`;
          if (rival.route === name || seen.has(pair) || !mayTie(rule, rival.rule)) continue;
          seen.add(pair);
          const message = `ties with match[${rival.position}] of route "${rival.route}" on ${key}`;
          conflicts.push({ route: name, rule: position, rival: rival.route, message });
        }
        rivals.push({ route: name, position, rule });
        placed.set(key, rivals);
      }
    }
  }
  return conflicts;
}

/** Only rules with the same host pattern and the same path pattern can tie: otherwise one is more exact. */
function placesOf(rule: MatchRule): string[] {
  const hosts = rule.hosts === null ? ['any host'] : rule.hosts.map(normaliseHost);
  return hosts.flatMap((host) => rule.paths.map((path) => `${host} ${path}`));
}

function mayTie(a: MatchRule, b: MatchRule): boolean {
  if (conditions(a) !== conditions(b)) return false;
  if (a.methods !== null && b.methods !== null && !a.methods.some((method) => b.methods?.includes(method)))
    return false;
  return Object.entries(a.headers).every(([name, value]) => {
    const other = b.headers[name];
    return other === undefined || value === '*' || other === '*' || value === other;
  });
}

function conditions(rule: MatchRule): number {
  return Object.keys(rule.headers).length + (rule.methods === null ? 0 : 1);
}
