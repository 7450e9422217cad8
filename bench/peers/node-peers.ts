// The libraries for Node that are compared, each in a small server of its own.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startPinned } from '../support/process.ts';
import type { Features, Peer } from './peer.ts';

const BENCH = resolve(import.meta.dirname, '..');

/** The folder of an installed package: of the benchmarks, or of Weir; undefined where there is none. */
function folderOf(library: string): string | undefined {
  return [BENCH, join(BENCH, '..')].map((at) => join(at, 'node_modules', library)).find(existsSync);
}

/** A peer that `script` starts, given its port and its upstream's. */
function nodePeer(library: string, options: { script: string; hasWebSocket: boolean }): Peer {
  return {
    name: library,
    missing: () => (folderOf(library) === undefined ? `${library} is not installed (npm run bench:install)` : null),
    lacks: (features) => lack(features, options.hasWebSocket),
    version: () => {
      const manifest: unknown = JSON.parse(readFileSync(join(folderOf(library) ?? '', 'package.json'), 'utf8'));
      return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
    },
    start({ core, port, features }) {
      const args = [join(BENCH, 'support', options.script), String(port), String(features.upstreamPorts[0])];
      return startPinned({ core, command: process.execPath, args, port });
    },
  };
}

function lack(features: Features, hasWebSocket: boolean): string | null {
  const { upstreamPorts, routes = 1, balance, degraded, hasRateLimit, hasAccessLog, isWebSocket, isTls } = features;
  if (balance !== undefined || upstreamPorts.length > 1) return 'does not balance';
  if (routes > 1) return 'has no routes';
  if (degraded !== undefined) return 'has no degraded answers';
  if (hasRateLimit === true) return 'has no rate limit';
  if (hasAccessLog === true) return 'has no access log';
  if (isTls === true) return 'its server here has no TLS';
  return isWebSocket === true && !hasWebSocket ? 'relays no WebSocket' : null;
}

export const httpProxy3 = nodePeer('http-proxy-3', { script: 'http-proxy-3-server.ts', hasWebSocket: true });
export const fastifyHttpProxy = nodePeer('@fastify/http-proxy', {
  script: 'fastify-http-proxy-server.ts',
  hasWebSocket: true,
});
export const fastProxy = nodePeer('fast-proxy', { script: 'fast-proxy-server.ts', hasWebSocket: false });
