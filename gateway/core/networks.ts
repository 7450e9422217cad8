// Networks of IP addresses, compiled once: whether one of them holds an address.
import { BlockList, isIP, isIPv4 } from 'node:net';

/** Whether an IP address lies in one of the networks; false for text that is no IP address. */
export type NetworkCheck = (address: string) => boolean;

const MAPPED_PREFIX = '::ffff:';
const MAPPED_BITS = 96;

/**
 * Compiles CIDRs or addresses (checked by the configuration). An IPv4-mapped IPv6 address or network counts as the IPv4
 * one that it stands for; no other network of IPv6 holds an address of IPv4.
 */
export function compileNetworks(cidrs: readonly string[]): NetworkCheck {
  if (cidrs.length === 0) return () => false;
  // One list would take ::/0 for a network that holds every IPv4 address, as a mapped one.
  const [ipv4, ipv6] = [new BlockList(), new BlockList()];
  for (const cidr of cidrs) {
    const [written = '', digits] = cidr.split('/');
    const address = unmapped(written);
    const isMapped = address !== written;
    const most = isIPv4(written) ? 32 : 128;
    const bits = digits === undefined ? most : Number(digits);
    if (isMapped && bits >= MAPPED_BITS) ipv4.addSubnet(address, bits - MAPPED_BITS, 'ipv4');
    else if (isIPv4(written)) ipv4.addSubnet(written, bits, 'ipv4');
    else ipv6.addSubnet(written, bits, 'ipv6');
  }
  return (text) => {
    const address = unmapped(text);
    if (isIPv4(address)) return ipv4.check(address, 'ipv4');
    return isIP(address) !== 0 && ipv6.check(address, 'ipv6');
  };
}

/** An IPv4-mapped IPv6 address in dotted form as IPv4: `::ffff:192.0.2.1` is `192.0.2.1`; others as they are. */
export function unmapped(address: string): string {
  if (address.length < MAPPED_PREFIX.length || address.charCodeAt(0) !== 0x3a) return address;
  const mapped = address.toLowerCase().startsWith(MAPPED_PREFIX) ? address.slice(MAPPED_PREFIX.length) : '';
  return isIPv4(mapped) ? mapped : address;
}
