// Names of fields that tell a service who a request comes from: nobody but Weir may send them.
import type { AuthRules } from './access-rules.ts';

/** The most hyphens and underscores that such a name may have: each doubles the number of its spellings. */
export const MOST_HYPHENS = 5;

/**
 * The lower-case names and their spellings with `_` for `-` and the other way: services behind CGI, WSGI or FastCGI read both as one name,
 * so both are taken out of what clients send.
 */
export function ownFields(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => spellings(name.toLowerCase())));
}

/** The lower-case names of the fields that tell the service who it is. */
export function toldFields(auth: AuthRules): readonly string[] {
  switch (auth.kind) {
    case 'basic':
      return [auth.userHeader];
    case 'jwt':
      return Object.values(auth.claims);
    case 'forward':
      return auth.responseHeaders;
  }
}

/** How names of fields end that hold a name and nothing that lets its reader in: only such values may get into a log. */
const NAMES_OF_USERS = /(?:^|-)(?:user|user-?id|user-?name|login|e?mail|sub|subject|principal)$/;

/**
 * The field of the answer of a service for authentication that names the user: the only one that is told, where its name
 * says so; else null.
 */
export function userFieldOf(told: readonly string[]): string | null {
  const [only, ...others] = told;
  if (only === undefined || others.length > 0) return null;
  return NAMES_OF_USERS.test(only.replaceAll('_', '-')) ? only : null;
}

function spellings(name: string): string[] {
  return name.split(/[-_]/).reduce<string[]>((begun, part, at) => {
    return at === 0 ? [part] : begun.flatMap((start) => [`${start}-${part}`, `${start}_${part}`]);
  }, []);
}
