// nginx with one process.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needs, startPinned, versionOf } from '../support/process.ts';
import { type Features, type Peer, type PeerOptions, RESPOND_BODY, routeNumbers, UNREACHED_RATE } from './peer.ts';

const POLICIES = {
  weighted_round_robin: '',
  random: 'random;',
  least_request: 'least_conn;',
  consistent_hash: 'hash $uri consistent;',
};

export const nginx: Peer = {
  name: 'nginx',
  missing: () => needs('nginx'),
  lacks: ({ balance }) => (balance === 'peak_ewma' ? 'no such policy' : null),
  version: () => versionOf('nginx', ['-v']),
  start,
};

function start({ core, port, folder, features }: PeerOptions) {
  const config = join(folder, 'nginx.conf');
  const log = features.hasAccessLog === true ? `${folder}/access.log combined` : 'off';
  writeFileSync(
    config,
    `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log crit;
events { worker_connections 16384; }
http {
  access_log ${log}; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  client_max_body_size 0; keepalive_requests 100000000; client_header_timeout 75s;
  ${features.hasRateLimit === true ? `limit_req_zone $binary_remote_addr zone=clients:10m rate=${UNREACHED_RATE}r/s;` : ''}
  ${features.degraded === 'stale' ? `proxy_cache_path ${folder}/cache keys_zone=answers:10m inactive=24h;` : ''}
  ${routeNumbers(features).map(upstreamOf(features)).join('\n  ')}
  ${features.degraded === 'upstream' ? `upstream other { server 127.0.0.1:${features.fallbackPort}; keepalive 256; keepalive_requests 100000000; }` : ''}
  server {
    listen 127.0.0.1:${port} backlog=4096${features.isTls === true ? ' ssl http2' : ''};
    ${tlsOf(features)}
    proxy_request_buffering off;
    proxy_http_version 1.1;
    proxy_set_header Connection "${features.isWebSocket === true ? 'upgrade' : ''}";
    ${features.isWebSocket === true ? 'proxy_set_header Upgrade $http_upgrade;' : ''}
    proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Request-Id $request_id;
    ${features.hasRateLimit === true ? 'limit_req zone=clients burst=100000 nodelay;' : ''}
    ${degradedOf(features)}
    ${routeNumbers(features).map(locationOf(features)).join('\n    ')}
  }
}
`,
  );
  return startPinned({ core, command: 'nginx', args: ['-c', config, '-e', join(folder, 'error.log')], port });
}

function tlsOf({ certificate }: Features): string {
  if (certificate === undefined) return '';
  const same = 'ssl_ecdh_curve X25519; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;';
  return `ssl_certificate ${certificate.certFile}; ssl_certificate_key ${certificate.keyFile}; ssl_protocols TLSv1.3; ${same}`;
}

function upstreamOf({ balance = 'weighted_round_robin', upstreamPorts, routes = 1, degraded }: Features) {
  const policy = balance === 'peak_ewma' ? '' : POLICIES[balance];
  // As Weir does: an endpoint that failed is out for 300 s, also where it is the only one (the second one is as dead).
  const failing = degraded === undefined ? '' : ' max_fails=1 fail_timeout=300s';
  const ports = degraded === undefined ? upstreamPorts : upstreamPorts.flatMap((port) => [port, port]);
  const servers = ports.map((port) => `server 127.0.0.1:${port}${failing};`).join(' ');
  return (number: number): string =>
    `upstream bench${number} { ${policy} ${servers} keepalive ${routes === 1 ? 256 : 64}; keepalive_requests 100000000; }`;
}

function locationOf({ routes = 1 }: Features) {
  return (number: number): string =>
    `location ${routes === 1 ? '/' : `/r${number}/`} { proxy_pass http://bench${number}; }`;
}

function degradedOf({ degraded }: Features): string {
  if (degraded === undefined) return '';
  switch (degraded) {
    case 'stale':
      return 'proxy_cache answers; proxy_cache_valid 200 1s; proxy_cache_use_stale error timeout http_502;';
    case 'upstream':
      return 'error_page 502 504 = @other; location @other { proxy_pass http://other; }';
    case 'respond':
      return `error_page 502 504 =200 @word; location @word { default_type application/json; return 200 '${RESPOND_BODY}'; }`;
  }
}
