// Weir under test: the real command with one worker.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { VERSION } from '../../gateway/version.ts';
import { startPinned } from '../support/process.ts';
import { type Features, type Peer, type PeerOptions, RESPOND_BODY, routeNumbers, UNREACHED_RATE } from './peer.ts';

const CLI = resolve(import.meta.dirname, '../../gateway/cli.ts');

export const weir: Peer = { name: 'weir', missing: () => null, lacks: () => null, version: () => VERSION, start };

function start({ core, port, folder, features }: PeerOptions) {
  mkdirSync(join(folder, 'routes'));
  const gateway = {
    listen: [{ address: `127.0.0.1:${port}`, ...tlsOf(features) }],
    admin: { address: `127.0.0.1:${port + 1}` },
    workers: 1,
    routes: 'routes',
    discovery: { snapshot: { path: join(folder, 'snapshot.json') } },
    log: {
      level: 'warn',
      access: features.hasAccessLog ?? false,
      accessFormat: 'combined',
      file: join(folder, 'weir.log'),
    },
  };
  writeFileSync(join(folder, 'gateway.yaml'), stringify(gateway));
  for (const number of routeNumbers(features)) {
    writeFileSync(join(folder, 'routes', `${number}.yaml`), stringify(routeOf(number, features)));
  }
  const args = [CLI, 'start', '--config', join(folder, 'gateway.yaml')];
  return startPinned({ core, command: process.execPath, args, port });
}

/** It takes TLS_AES_128_GCM_SHA256 by itself, and X25519 where the client has no hybrid curve. */
function tlsOf({ certificate }: Features): object {
  if (certificate === undefined) return {};
  const { certFile: cert, keyFile: key } = certificate;
  return { tls: { certificates: [{ cert, key }], minVersion: '1.3' } };
}

function routeOf(number: number, features: Features): object {
  const { routes = 1, balance, hasRateLimit = false, degraded, upstreamPorts, isOneService = false } = features;
  const name = isOneService ? 'bench' : `bench-${number}`;
  return {
    service: name,
    endpoints: upstreamPorts.map((port) => `127.0.0.1:${port}`),
    match: [{ paths: [routes === 1 ? '/*' : `/r${number}/*`] }],
    ...(balance !== undefined && {
      balance: { policy: balance, ...(balance === 'consistent_hash' && { hash: { on: 'path' } }) },
    }),
    ...(hasRateLimit && {
      rateLimit: [{ algorithm: 'token_bucket', key: 'client_ip', rate: `${UNREACHED_RATE}/s`, burst: UNREACHED_RATE }],
    }),
    ...(degraded !== undefined && {
      // Without it each request would try the dead endpoint first: where all are ejected, all are tried.
      breaker: { failurePercent: 50, minRequests: 5, window: '10s', open: '300s', probes: 1 },
      fallback: { chain: [linkOf(degraded, features)] },
    }),
  };
}

function linkOf(degraded: NonNullable<Features['degraded']>, { fallbackPort = 0 }: Features): object {
  switch (degraded) {
    case 'stale':
      return { stale: { maxAge: '24h' } };
    case 'upstream':
      return { upstream: [`http://127.0.0.1:${fallbackPort}`] };
    case 'respond':
      // 200, so that the load generators do not take it for an error.
      return { respond: { status: 200, contentType: 'application/json', body: RESPOND_BODY } };
  }
}
