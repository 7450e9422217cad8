// A request whose sender is known, as the policies of its route see it: what clients say of themselves does not count.
import type { RequestDescription } from '../exchange.ts';

type Request = Pick<RequestDescription, 'target' | 'header'>;

/** What the checks of a route have found out. */
export interface Verified {
  /** Lower-case names of the fields that only Weir may give to the service. */
  readonly ownFields: ReadonlySet<string>;
  /** Those of them that the service is told, each with its CRLF. */
  readonly lines: string;
}

/**
 * The request with the fields of who it is as they were verified: a limit, a branch or a key that counts by one of them
 * cannot be chosen by sending it. Credentials stay as they came.
 */
export function verifiedRequest(request: Request, { ownFields, lines }: Verified): Request {
  if (ownFields.size === 0) return request;
  return {
    target: request.target,
    header: (name) => {
      if (!ownFields.has(name)) return request.header(name);
      return valueIn(lines, name) ?? (name === 'authorization' ? request.header(name) : undefined);
    },
  };
}

function valueIn(lines: string, name: string): string | undefined {
  const start = lines.startsWith(`${name}: `) ? 0 : lines.indexOf(`\r\n${name}: `) + 2;
  if (start === 1) return undefined;
  return lines.slice(start + name.length + 2, lines.indexOf('\r\n', start));
}
