// Hosts that others wrote, in one spelling, so that equal hosts are equal strings.
import { isIPv4, isIPv6 } from 'node:net';
import { isHost } from './address.ts';

const MAPPED_IPV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * The host as an endpoint carries it: a name in lower case, IPv6 as RFC 5952 writes it and without brackets, an
 * IPv4-mapped address as IPv4. Undefined for what cannot be connected to: no host at all, a zone, the unspecified
 * addresses, and names that end in a number (RFC 3696: a mistyped IPv4 address).
 */
export function canonicalHost(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (bare !== text && !isIPv6(bare)) return undefined;
  if (!isHost(bare)) return undefined;
  if (isIPv6(bare)) return canonicalIPv6(bare);
  if (isIPv4(bare)) return bare === '0.0.0.0' ? undefined : bare;
  const name = bare.toLowerCase();
  return endsInNumber(name) ? undefined : name;
}

function canonicalIPv6(address: string): string | undefined {
  const compressed = new URL(`http://[${address}]`).hostname.slice(1, -1);
  if (compressed === '::') return undefined;
  const [, high, low] = MAPPED_IPV4.exec(compressed) ?? [];
  if (high === undefined || low === undefined) return compressed;
  const bits = Number.parseInt(high, 16) * 65536 + Number.parseInt(low, 16);
  return bits === 0 ? undefined : [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}

function endsInNumber(name: string): boolean {
  const labels = name.split('.');
  const last = labels.at(-1) === '' ? labels.at(-2) : labels.at(-1);
  return last === undefined || /^(?:\d+|0x[0-9a-f]*)$/.test(last);
}
