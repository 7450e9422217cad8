// The gateways that are compared.
import { caddy } from './caddy.ts';
import { haproxy } from './haproxy.ts';
import { nginx } from './nginx.ts';
import { fastifyHttpProxy, fastProxy, httpProxy3 } from './node-peers.ts';
import type { Peer } from './peer.ts';
import { weir } from './weir.ts';

export const PEERS: readonly Peer[] = [weir, nginx, haproxy, caddy, httpProxy3, fastifyHttpProxy, fastProxy];

/** Those whose capacity sets the arrival rate of the open-loop stage: gateways, not libraries. */
export const SERIOUS: readonly string[] = ['weir', 'nginx', 'haproxy', 'caddy'];

/** The wanted peers (names, separated by commas; empty: all) that can run here; says a line for each that cannot. */
export function availablePeers(wanted: string, say: (line: string) => void): readonly Peer[] {
  const names = wanted === '' ? PEERS.map(({ name }) => name) : wanted.split(',');
  const unknown = names.filter((name) => !PEERS.some((peer) => peer.name === name));
  for (const name of unknown) say(`unknown peer: ${name}; known: ${PEERS.map((peer) => peer.name).join(', ')}`);
  return PEERS.filter((peer) => {
    if (!names.includes(peer.name)) return false;
    const missing = peer.missing();
    if (missing !== null) say(`skipped: ${peer.name}: ${missing}`);
    return missing === null;
  });
}
