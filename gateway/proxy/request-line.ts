// What node:http leaves unchecked in a request: the form of its target and its Host field (RFC 9112 section 3).
import { isHost } from '../core/address.ts';

/** The request's address: its target in origin form (or `*`) and its authority. */
export interface RequestAddress {
  readonly target: string;
  readonly host: string;
}

/**
 * Reads target and Host; undefined when either is malformed, Host is missing in HTTP/1.1 or repeated. The authority of
 * a target in absolute form replaces the Host field.
 */
export function requestAddress(
  target: string,
  rawFields: readonly string[],
  isHttp10: boolean,
): RequestAddress | undefined {
  const hosts = hostFields(rawFields);
  const [host] = hosts;
  if (hosts.length > 1 || (host === undefined ? !isHttp10 : !isAuthority(host))) return undefined;
  if (target.startsWith('/') || target === '*') return { target, host: host ?? '' };
  return absoluteForm(target);
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

function hostFields(rawFields: readonly string[]): string[] {
  const hosts: string[] = [];
  for (let at = 0; at < rawFields.length; at += 2) {
    const name = rawFields[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts.push(rawFields[at + 1] ?? '');
  }
  return hosts;
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
