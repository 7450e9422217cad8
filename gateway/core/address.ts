// The `host:port` pair: how one is read and how one is written.
import { isIP, isIPv6 } from 'node:net';

/** A host (name or IP literal, never in brackets) and a port 1..65535. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads `host:port` or `[ipv6]:port`; undefined when it is neither (an IPv6 literal needs its brackets). */
export function parseAddress(text: string): Address | undefined {
  const colon = text.lastIndexOf(':');
  if (colon <= 0) return undefined;
  const digits = text.slice(colon + 1);
  if (!/^\d{1,5}$/.test(digits)) return undefined;
  const port = Number(digits);
  let host = text.slice(0, colon);
  if (host.startsWith('[')) {
    if (!host.endsWith(']')) return undefined;
    host = host.slice(1, -1);
    if (!isIPv6(host)) return undefined;
  } else if (host.includes(':')) {
    return undefined;
  }
  return isHost(host) && port >= 1 && port <= 65535 ? { host, port } : undefined;
}

/** Writes an address as RFC 3986 wants an authority: an IPv6 literal in brackets. */
export function formatAddress(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether `host` is an IP literal without zone, or a DNS name (letters, digits, `-`, `_`, dots; RFC 1123 and usage). */
export function isHost(host: string): boolean {
  if (isIP(host) !== 0) return !host.includes('%');
  return (
    host.length <= 253 &&
    /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62}))*\.?$/.test(host)
  );
}

/** Whether the host is this machine's loopback: 127.0.0.0/8, ::1 or `localhost`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
