// Caddy with one processor.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needs, startPinned, versionOf } from '../support/process.ts';
import { type Features, type Peer, type PeerOptions, RESPOND_BODY, routeNumbers } from './peer.ts';

const POLICIES = {
  weighted_round_robin: 'round_robin',
  random: 'random',
  least_request: 'least_conn',
  consistent_hash: 'uri_hash',
};

export const caddy: Peer = {
  name: 'caddy',
  missing: () => needs('caddy'),
  lacks: ({ balance, hasRateLimit, degraded }) => {
    if (balance === 'peak_ewma') return 'no such policy';
    if (hasRateLimit === true) return 'no rate limit without a plugin';
    return degraded === 'stale' ? 'serves no stale answers' : null;
  },
  version: () => versionOf('caddy', ['version']),
  start,
};

function start({ core, port, folder, features }: PeerOptions) {
  const config = join(folder, 'Caddyfile');
  const log = features.hasAccessLog === true ? `log {\n    output file ${folder}/access.log\n  }` : '';
  writeFileSync(
    config,
    `{
  admin off
  auto_https off
  storage file_system ${folder}
  log default {
    level ERROR
    exclude http.log.access
  }
}
${features.isTls === true ? 'https' : 'http'}://:${port} {
  bind 127.0.0.1
  ${tlsOf(features)}
  ${log}
  ${routeNumbers(features).map(routeOf(features)).join('\n  ')}
  ${degradedOf(features)}
}
`,
  );
  const environment = { GOMAXPROCS: '1', HOME: folder };
  return startPinned({
    core,
    command: 'caddy',
    args: ['run', '--adapter', 'caddyfile', '--config', config],
    port,
    environment,
  });
}

/** It takes TLS_AES_128_GCM_SHA256 by itself, wherever the client has it. */
function tlsOf({ certificate }: Features): string {
  if (certificate === undefined) return '';
  return `tls ${certificate.certFile} ${certificate.keyFile} {\n    protocols tls1.3\n    curves x25519\n  }`;
}

function routeOf({ balance, upstreamPorts, routes = 1, degraded }: Features) {
  const servers = upstreamPorts.map((port) => `127.0.0.1:${port}`).join(' ');
  const policy = balance === undefined || balance === 'peak_ewma' ? '' : `lb_policy ${POLICIES[balance]}`;
  const failing = degraded === undefined ? '' : 'fail_duration 300s\n    max_fails 1\n    lb_try_duration 0';
  return (number: number): string => {
    const path = routes === 1 ? '' : `/r${number}/* `;
    const transport = 'transport http {\n      keepalive_idle_conns_per_host 256\n      compression off\n    }';
    const proxy = `reverse_proxy ${servers} {\n    ${policy}\n    ${failing}\n    header_up X-Request-Id {http.request.uuid}\n    ${transport}\n  }`;
    return `handle ${path}{\n  ${proxy}\n  }`;
  };
}

function degradedOf({ degraded, fallbackPort }: Features): string {
  if (degraded === 'upstream') return `handle_errors {\n    reverse_proxy 127.0.0.1:${fallbackPort}\n  }`;
  // 200, so that the load generators do not take it for an error.
  return degraded === 'respond' ? `handle_errors {\n    respond \`${RESPOND_BODY}\` 200\n  }` : '';
}
