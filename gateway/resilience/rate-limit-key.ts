// Whose requests are counted together when a limit is by address: an IPv4 address, the /64 of an IPv6 address.
import { isIPv6 } from 'node:net';

/**
 * The key of an IP address in any of its textual forms (RFC 4291 section 2.2), with or without a zone: an IPv4 address
 * is its own key, an IPv4-mapped IPv6 address has the key of the IPv4 address, any other IPv6 address that of its /64,
 * which is what one site gets at least (RFC 6177). Text that is no IP address is its own key.
 */
export function limitKeyOfIp(ip: string): string {
  if (!ip.includes(':') || !isIPv6(ip)) return ip;
  const [g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0] = groupsOf(ip);
  if ((g0 | g1 | g2 | g3 | g4) === 0 && g5 === 0xffff) return `${g6 >>> 8}.${g6 & 0xff}.${g7 >>> 8}.${g7 & 0xff}`;
  return `${g0.toString(16)}:${g1.toString(16)}:${g2.toString(16)}:${g3.toString(16)}::/64`;
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(ip: string): number[] {
  const zone = ip.indexOf('%');
  const address = zone === -1 ? ip : ip.slice(0, zone);
  const gap = address.indexOf('::');
  if (gap === -1) return numbersOf(address);
  const before = numbersOf(address.slice(0, gap));
  const after = numbersOf(address.slice(gap + 2));
  while (before.length + after.length < 8) before.push(0);
  return before.concat(after);
}

function numbersOf(part: string): number[] {
  const numbers: number[] = [];
  if (part === '') return numbers;
  for (const group of part.split(':')) {
    if (!group.includes('.')) numbers.push(Number.parseInt(group, 16));
    else {
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
      numbers.push((a << 8) | b, (c << 8) | d);
    }
  }
  return numbers;
}
