// The target that goes upstream: what the client sent, byte for byte, unless the route says otherwise.
import { withoutQuery } from './path.ts';

export interface PathRewrite {
  readonly stripPrefix: string;
  readonly addPrefix: string;
}

/**
 * The rewritten target; undefined when the raw path does not start with the prefix that is to be removed, or would leave
 * the one that is added.
 */
export function rewriteTarget(target: string, rewrite: PathRewrite): string | undefined {
  const { stripPrefix, addPrefix } = rewrite;
  let rest = target;
  if (stripPrefix !== '') {
    if (!target.startsWith(stripPrefix)) return undefined;
    rest = target.slice(stripPrefix.length);
  }
  if (addPrefix !== '') {
    if (climbs(rest)) return undefined;
    rest = addPrefix + rest;
  }
  // `/api` without `/api` leaves nothing, or only a query: the root of the service.
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Whether the dot segments of a target lead above where its path begins, as a service would resolve them. */
function climbs(target: string): boolean {
  const path = withoutQuery(target);
  if (!path.includes('.') && !path.includes('%')) return false;
  let depth = 0;
  for (const segment of path.split(/[/\\]|%2f|%5c/i)) {
    const plain = segment.replaceAll(/%2e/gi, '.').replace(/(?:;|%3b).*$/i, '');
    if (plain === '..') depth--;
    else if (plain !== '.' && plain !== '') depth++;
    if (depth < 0) return true;
  }
  return false;
}
