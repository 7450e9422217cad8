// Who this instance is: an ID that no other has, and the address under which others reach it.
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { isLoopback } from '../core/address.ts';
import { canonicalHost } from '../core/canonical-host.ts';
import type { RegistryAddress } from './register-options.ts';

/** Documentation addresses (RFC 5737, RFC 3849): nothing is ever sent there, they only have the default route. */
const ANYWHERE = ['192.0.2.1', '2001:db8::1'];

/** `NAME-HOST-PORT-<8 hex digits>`: a restart on the same address is another instance, and no two ever collide. */
export function uniqueInstanceId(name: string, port: number): string {
  return `${name.slice(0, 150)}-${hostname().slice(0, 63)}-${port}-${randomBytes(4).toString('hex')}`;
}

/**
 * The local address from which this machine reaches the registry. Consul's agent on this machine speaks to others for
 * it, so there it is the address of the default route, else the first external one. Rejects while the registry's name
 * does not resolve or no route leads to it: then nothing can be registered either.
 */
export async function detectAddress({ kind, url }: RegistryAddress): Promise<string> {
  const { address } = await lookup(url.hostname.replace(/^\[|\]$/g, ''));
  const registry = canonicalHost(address);
  if (registry === undefined) throw new Error(`${address} is no address of a registry`);
  if (kind === 'table' || !isLoopback(registry)) return sourceTowards(registry);
  for (const target of ANYWHERE) {
    const source = await sourceTowards(target).catch(() => undefined);
    if (source !== undefined && !isLoopback(source)) return source;
  }
  return firstExternal(networkInterfaces()) ?? '127.0.0.1';
}

/** The first address that other machines may reach: IPv4 before IPv6, none of one link only. */
export function firstExternal(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): string | undefined {
  const external = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !isLinkLocal(address));
  return (external.find(({ family }) => family === 'IPv4') ?? external[0])?.address;
}

/** Asks the routing table: a UDP socket that is connected has its source address, and nothing was sent. */
async function sourceTowards(target: string): Promise<string> {
  const socket = createSocket(isIPv6(target) ? 'udp6' : 'udp4');
  try {
    const connected = once(socket, 'connect');
    socket.connect(9, target);
    await connected;
    const source = canonicalHost(socket.address().address);
    if (source === undefined) throw new Error(`${socket.address().address} is no address for others`);
    return source;
  } finally {
    socket.close();
  }
}

function isLinkLocal(address: string): boolean {
  return address.startsWith('169.254.') || /^fe[89ab]/i.test(address);
}
