// Who the client is: the peer of the connection, and behind trusted proxies the right-most untrusted address.
import { isIP, isIPv4 } from 'node:net';
import { compileNetworks, type NetworkCheck, unmapped } from '../core/networks.ts';

/** The other end of a client connection. */
export interface ClientPeer {
  /** An IPv4 address or an IPv6 address that is not a mapped IPv4 one. */
  readonly address: string;
  /** Whether its forwarding fields are believed. */
  readonly isTrusted: boolean;
  /**
   * Field lines that tell who its certificate says it is, '' without a trusted one; absent where the listener asks for
   * none. Prepared once for the connection.
   */
  readonly identityLines?: string;
}

/** Says whether an address belongs to a trusted proxy. */
export type TrustCheck = NetworkCheck;

/** Compiles `trustedProxies` (CIDRs or addresses, checked by the configuration). */
export function compileTrust(cidrs: readonly string[]): TrustCheck {
  return compileNetworks(cidrs);
}

/** The peer at the end of a connection; `remoteAddress` is as the socket gives it. */
export function describePeer(remoteAddress: string | undefined, isTrusted: TrustCheck): ClientPeer {
  const address = unmapped(remoteAddress ?? '');
  return { address, isTrusted: isTrusted(address) };
}

/**
 * The client's address: the peer's, unless that is a trusted proxy; then the right-most entry of `forwardedFor` (the
 * values of all X-Forwarded-For fields in order) that is not one. An entry that is no address ends the search.
 */
export function clientAddress(peer: ClientPeer, forwardedFor: readonly string[], isTrusted: TrustCheck): string {
  let client = peer.address;
  if (!peer.isTrusted) return client;
  const hops = forwardedFor.join(',').split(',');
  for (let at = hops.length - 1; at >= 0; at--) {
    const hop = addressOfHop(hops[at] ?? '');
    if (hop === undefined) return client;
    client = hop;
    if (!isTrusted(hop)) return client;
  }
  return client;
}

/** An entry may carry quotes, brackets and a port: `"[::1]:80"`, `192.0.2.1:4711`. */
function addressOfHop(entry: string): string | undefined {
  let text = entry.trim();
  if (text.startsWith('"') && text.endsWith('"')) text = text.slice(1, -1);
  const bracket = text.indexOf(']');
  if (text.startsWith('[') && bracket !== -1) text = text.slice(1, bracket);
  else if (text.includes('.') && text.includes(':') && isIPv4(text.slice(0, text.indexOf(':')))) {
    text = text.slice(0, text.indexOf(':'));
  }
  return isIP(text) === 0 ? undefined : unmapped(text);
}
