// The part of a request that stands for who asks or what is asked for: the key of a hash or of a limit.
import { withoutQuery } from '../../routing/path.ts';
import type { RequestDescription } from '../exchange.ts';

/** Which part it is; `name` is that of the header (in lower case), the cookie or the parameter of the query. */
export interface KeyPart {
  readonly on: 'header' | 'cookie' | 'client_ip' | 'path' | 'query' | 'route';
  readonly name: string | null;
}

type Request = Pick<RequestDescription, 'target' | 'header'>;

/** The key as text; undefined when the request has none, or an empty one. `client` is the client's address. */
export function requestKey({ on, name }: KeyPart, request: Request, client: string): string | undefined {
  const key = partOf({ on, name }, request, client);
  return key === '' ? undefined : key;
}

function partOf({ on, name }: KeyPart, request: Request, client: string): string | undefined {
  switch (on) {
    case 'client_ip':
      return client;
    case 'header':
      return request.header(name ?? '');
    case 'cookie':
      return cookieOf(request.header('cookie') ?? '', name ?? '');
    case 'path':
      return withoutQuery(request.target);
    case 'query':
      return queryOf(request.target, name);
    case 'route':
      return on;
  }
}

/** The value of the first cookie of that name (RFC 6265 section 4.2.1); undefined when there is none. */
export function cookieOf(field: string, name: string): string | undefined {
  let at = 0;
  while (at < field.length) {
    while (field[at] === ' ' || field[at] === ',') at++;
    const semicolon = field.indexOf(';', at);
    const end = semicolon === -1 ? field.length : semicolon;
    if (field.startsWith(name, at) && field[at + name.length] === '=') {
      return field.slice(at + name.length + 1, end).trim();
    }
    at = end + 1;
  }
  return undefined;
}

/** The whole query, or the first parameter of that name as it stands there, percent-encoding and all. */
function queryOf(target: string, name: string | null): string | undefined {
  const mark = target.indexOf('?');
  if (mark === -1) return undefined;
  if (name === null) return target.slice(mark + 1);
  let at = mark + 1;
  while (at < target.length) {
    const ampersand = target.indexOf('&', at);
    const end = ampersand === -1 ? target.length : ampersand;
    if (target.startsWith(name, at) && target[at + name.length] === '=') return target.slice(at + name.length + 1, end);
    at = end + 1;
  }
  return undefined;
}
