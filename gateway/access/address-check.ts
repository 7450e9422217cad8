// Which client addresses may come in: `allow` and `deny` of a route.
import { isIP } from 'node:net';
import { compileNetworks, type NetworkCheck } from '../core/networks.ts';
import type { AccessRules } from './access-rules.ts';

/**
 * Compiles the lists of a route; null where everybody may come in. `deny` wins over `allow`; an address that is not known
 * may not come in.
 */
export function compileAddressCheck({ allow, deny }: Pick<AccessRules, 'allow' | 'deny'>): NetworkCheck | null {
  if (allow.length === 0 && deny.length === 0) return null;
  const isDenied = compileNetworks(deny);
  if (allow.length === 0) return (client) => isIP(client) !== 0 && !isDenied(client);
  const isAllowed = compileNetworks(allow);
  return (client) => isAllowed(client) && !isDenied(client);
}
