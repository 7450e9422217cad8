// The route table: compiled when routes change, asked with every request; its cost does not grow with the routes.
import { normaliseHost } from './host.ts';

/** One match rule of a route; an absent list or `null` means any. */
export interface MatchRule {
  readonly hosts: readonly string[] | null;
  readonly paths: readonly string[];
  readonly methods: readonly string[] | null;
  /** Field values by lower-case name; `*` means present. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What matching needs of a request. */
export interface RouteQuery {
  readonly method: string;
  /** As in the Host field. */
  readonly host: string;
  /** The value of a request field by its lower-case name; undefined when absent. */
  header(name: string): string | undefined;
}

interface Candidate<R> {
  readonly route: R;
  readonly conditions: number;
  readonly methods: ReadonlySet<string> | null;
  readonly headers: readonly (readonly [string, string])[];
}

/** The rules for one host pattern, by path. */
interface PathTable<R> {
  readonly exact: Map<string, Candidate<R>[]>;
  readonly prefixes: Map<string, Candidate<R>[]>;
  /** The lengths that prefixes have, longest first. */
  lengths: number[];
}

/** Finds the route of a request by SPEC section 2.2: host, then path, then the number of conditions. */
export class RouteTable<R> {
  readonly #exactHosts = new Map<string, PathTable<R>>();
  /** Keyed by what follows the star, from the dot on. */
  readonly #wildcardHosts = new Map<string, PathTable<R>>();
  readonly #anyHost: PathTable<R> = emptyTable();

  constructor(routes: readonly { readonly route: R; readonly match: readonly MatchRule[] }[]) {
    for (const { route, match } of routes) {
      for (const rule of match) this.#addRule(route, rule);
    }
    for (const table of [...this.#exactHosts.values(), ...this.#wildcardHosts.values(), this.#anyHost]) finish(table);
  }

  /** The route that wins; undefined when none matches. `path` is as `normalisePath` returns it. */
  find(query: RouteQuery, path: string): R | undefined {
    const host = normaliseHost(query.host);
    // A look into an empty map has to hash the text all the same.
    const exact = this.#exactHosts.size === 0 ? undefined : this.#exactHosts.get(host);
    const found = exact === undefined ? undefined : findIn(exact, query, path);
    if (found !== undefined) return found;
    if (this.#wildcardHosts.size > 0) {
      for (let dot = host.indexOf('.'); dot > 0; dot = host.indexOf('.', dot + 1)) {
        const table = this.#wildcardHosts.get(host.slice(dot));
        const wild = table === undefined ? undefined : findIn(table, query, path);
        if (wild !== undefined) return wild;
      }
    }
    return findIn(this.#anyHost, query, path);
  }

  #addRule(route: R, rule: MatchRule): void {
    const headers = Object.entries(rule.headers);
    const candidate: Candidate<R> = {
      route,
      conditions: headers.length + (rule.methods === null ? 0 : 1),
      methods: rule.methods === null ? null : new Set(rule.methods),
      headers,
    };
    const tables = rule.hosts === null ? [this.#anyHost] : rule.hosts.map((host) => this.#tableOf(host));
    for (const table of tables) {
      for (const path of rule.paths) {
        const isPrefix = path.endsWith('*');
        const key = isPrefix ? path.slice(0, -1) : path;
        const candidates = isPrefix ? table.prefixes : table.exact;
        candidates.set(key, [...(candidates.get(key) ?? []), candidate]);
      }
    }
  }

  #tableOf(hostPattern: string): PathTable<R> {
    const isWildcard = hostPattern.startsWith('*');
    const key = normaliseHost(isWildcard ? hostPattern.slice(1) : hostPattern);
    const tables = isWildcard ? this.#wildcardHosts : this.#exactHosts;
    const table = tables.get(key) ?? emptyTable();
    tables.set(key, table);
    return table;
  }
}

function emptyTable<R>(): PathTable<R> {
  return { exact: new Map(), prefixes: new Map(), lengths: [] };
}

function finish<R>(table: PathTable<R>): void {
  const lengths = new Set([...table.prefixes.keys()].map((prefix) => prefix.length));
  table.lengths = [...lengths].sort((a, b) => b - a);
  for (const candidates of [...table.exact.values(), ...table.prefixes.values()]) {
    candidates.sort((a, b) => b.conditions - a.conditions);
  }
}

function findIn<R>(table: PathTable<R>, query: RouteQuery, path: string): R | undefined {
  const exact = table.exact.size === 0 ? undefined : table.exact.get(path);
  const found = exact === undefined ? undefined : firstThatHolds(exact, query);
  if (found !== undefined) return found;
  for (const length of table.lengths) {
    if (length > path.length) continue;
    const candidates = table.prefixes.get(path.slice(0, length));
    const prefixed = candidates === undefined ? undefined : firstThatHolds(candidates, query);
    if (prefixed !== undefined) return prefixed;
  }
  return undefined;
}

function firstThatHolds<R>(candidates: readonly Candidate<R>[], query: RouteQuery): R | undefined {
  for (const candidate of candidates) {
    if (candidate.methods !== null && !candidate.methods.has(query.method)) continue;
    if (headersHold(candidate, query)) return candidate.route;
  }
  return undefined;
}

function headersHold<R>(candidate: Candidate<R>, query: RouteQuery): boolean {
  for (const [name, wanted] of candidate.headers) {
    const value = query.header(name);
    if (value === undefined || (wanted !== '*' && value !== wanted)) return false;
  }
  return true;
}
