// Where a request wants to go: the forms of its target (RFC 9112 section 3.2) and its authority.
import { isHost } from '../../core/address.ts';
import type { ErrorSituation } from '../../core/errors.ts';
import type { RequestHead } from '../../http1/request-head.ts';

/** The request's address: its target in origin form (or `*`) and its authority. */
export interface RequestAddress {
  readonly target: string;
  readonly host: string;
}

/**
 * Reads target and Host ('' when there is none, which only HTTP/1.0 may); undefined when either is malformed. The
 * authority of a target in absolute form replaces the Host field.
 */
export function requestAddress(target: string, host: string, isHttp10: boolean): RequestAddress | undefined {
  if (host === '' ? !isHttp10 : !isAuthority(host)) return undefined;
  if (target.startsWith('/') || target === '*') return { target, host };
  return absoluteForm(target);
}

/** The address of a request, or what it is refused for. `goodHost` is a Host that was found good; '' for none. */
export function addressOf(head: RequestHead, goodHost: string): RequestAddress | ErrorSituation {
  const { method, target, host, minor } = head;
  if (method === 'CONNECT') return 'method_not_allowed';
  if (host === goodHost && host !== '' && target.charCodeAt(0) === 0x2f) return { target, host };
  return requestAddress(target, host, minor === 0) ?? 'bad_request';
}

function absoluteForm(target: string): RequestAddress | undefined {
  const scheme = target.slice(0, 8).toLowerCase();
  const from = scheme.startsWith('http://') ? 7 : scheme.startsWith('https://') ? 8 : 0;
  if (from === 0) return undefined;
  let end = from;
  while (end < target.length && target[end] !== '/' && target[end] !== '?') end++;
  const host = target.slice(from, end);
  if (host === '' || !isAuthority(host)) return undefined;
  const rest = target.slice(end);
  return { target: rest.startsWith('/') ? rest : `/${rest}`, host };
}

/** `host`, `host:port`, `[ipv6]` or `[ipv6]:port`; never empty. */
function isAuthority(text: string): boolean {
  const bracket = text.lastIndexOf(']');
  const colon = text.indexOf(':', bracket + 1);
  const host = colon === -1 ? text : text.slice(0, colon);
  const port = colon === -1 ? '' : text.slice(colon + 1);
  if (port !== '' && !(/^\d{1,5}$/.test(port) && Number(port) <= 65535)) return false;
  if (host.startsWith('[')) return bracket === host.length - 1 && host.includes(':') && isHost(host.slice(1, -1));
  return !host.includes(':') && isHost(host);
}
