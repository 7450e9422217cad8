// HAProxy with one thread.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needs, startPinned, versionOf } from '../support/process.ts';
import { type Features, type Peer, type PeerOptions, RESPOND_BODY, routeNumbers, UNREACHED_RATE } from './peer.ts';

const POLICIES = {
  weighted_round_robin: 'balance roundrobin',
  random: 'balance random(1)',
  least_request: 'balance leastconn',
  consistent_hash: 'balance uri\n  hash-type consistent',
};

export const haproxy: Peer = {
  name: 'haproxy',
  missing: () => needs('haproxy'),
  lacks: ({ balance, degraded }) => {
    if (balance === 'peak_ewma') return 'no such policy';
    return degraded === 'stale' ? 'serves no stale answers' : null;
  },
  version: () => versionOf('haproxy', ['-v']),
  start,
};

function start({ core, port, folder, features }: PeerOptions) {
  const config = join(folder, 'haproxy.cfg');
  const { hasAccessLog = false, hasRateLimit = false } = features;
  writeFileSync(
    config,
    `global
  nbthread 1
  maxconn 8000
  ${hasAccessLog ? 'log stdout format raw local0' : ''}
defaults
  mode http
  timeout connect 2s
  timeout client 75s
  timeout server 30s
  timeout tunnel 75s
  http-reuse always
  option forwardfor
  ${hasAccessLog ? 'log global\n  option httplog' : ''}
frontend front
  bind 127.0.0.1:${port} backlog 4096${tlsOf(features, folder)}
  ${hasRateLimit ? `stick-table type ip size 1m expire 10s store http_req_rate(1s)\n  http-request track-sc0 src\n  http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${UNREACHED_RATE} }` : ''}
  http-request set-header X-Request-Id %[uuid()]
  http-request set-header X-Forwarded-Proto ${features.isTls === true ? 'https' : 'http'}
  ${(features.routes ?? 1) === 1 ? 'default_backend back0' : 'use_backend back%[path,field(2,/),regsub(^r,)]'}
${routeNumbers(features).map(backendOf(features)).join('\n')}
`,
  );
  const stdoutFile = join(folder, 'access.log');
  return startPinned({ core, command: 'haproxy', args: ['-f', config, '-db'], port, stdoutFile });
}

/** Wants certificate and key in one file. */
function tlsOf({ certificate }: Features, folder: string): string {
  if (certificate === undefined) return '';
  const both = join(folder, 'both.pem');
  const pieces = [certificate.certFile, certificate.keyFile].map((file) => readFileSync(file, 'utf8'));
  writeFileSync(both, pieces.join(''), { mode: 0o600 });
  const same = 'curves X25519 ciphersuites TLS_AES_128_GCM_SHA256';
  return ` ssl crt ${both} alpn h2,http/1.1 ssl-min-ver TLSv1.3 ${same}`;
}

function backendOf({ balance = 'weighted_round_robin', upstreamPorts, degraded, fallbackPort }: Features) {
  const policy = balance === 'peak_ewma' ? '' : POLICIES[balance];
  const check = degraded === undefined ? '' : ' check inter 1s fall 1';
  const servers = upstreamPorts.map((port, at) => `  server s${at} 127.0.0.1:${port}${check}`).join('\n');
  const other = degraded === 'upstream' ? `  server other 127.0.0.1:${fallbackPort} backup\n` : '';
  const words = `http-request return status 200 content-type application/json string '${RESPOND_BODY}'`;
  return (number: number): string =>
    `backend back${number}\n  ${policy}\n${degraded === 'respond' ? `  ${words} if { nbsrv(back${number}) eq 0 }\n` : ''}${servers}\n${other}`;
}
