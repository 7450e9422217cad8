// The target that goes upstream: what the client sent, byte for byte, unless the route says otherwise.

export interface PathRewrite {
  readonly stripPrefix: string;
  readonly addPrefix: string;
}

/** The rewritten target; undefined when the raw path does not start with the prefix that is to be removed. */
export function rewriteTarget(target: string, rewrite: PathRewrite): string | undefined {
  const { stripPrefix, addPrefix } = rewrite;
  let rest = target;
  if (stripPrefix !== '') {
    if (!target.startsWith(stripPrefix)) return undefined;
    rest = target.slice(stripPrefix.length);
  }
  if (addPrefix !== '') rest = addPrefix + rest;
  // `/api` without `/api` leaves nothing, or only a query: the root of the service.
  return rest.startsWith('/') ? rest : `/${rest}`;
}
