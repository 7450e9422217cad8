// The gateways that are compared, each told to do the same: relay to one upstream with kept connections.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { isInstalled, type Running, startPinned } from './process.ts';

export interface PeerOptions {
  readonly core: number;
  readonly port: number;
  readonly upstreamPort: number;
  /** A folder of this peer's own. */
  readonly folder: string;
}

export interface Peer {
  readonly name: string;
  /** What is missing to run it; null when nothing is. */
  readonly missing: () => string | null;
  readonly start: (options: PeerOptions) => Promise<Running>;
}

const ROOT = resolve(import.meta.dirname, '../..');

export const PEERS: readonly Peer[] = [
  { name: 'weir', missing: () => null, start: startWeir },
  { name: 'nginx', missing: () => needs('nginx'), start: startNginx },
  { name: 'haproxy', missing: () => needs('haproxy'), start: startHaproxy },
  { name: 'http-proxy-3', missing: () => null, start: startHttpProxy3 },
];

function needs(command: string): string | null {
  return isInstalled(command) ? null : `${command} is not installed (apt-get install ${command})`;
}

async function startWeir({ core, port, upstreamPort, folder }: PeerOptions): Promise<Running> {
  const routes = join(folder, 'routes');
  mkdirSync(routes, { recursive: true });
  const gateway = {
    listen: [{ address: `127.0.0.1:${port}` }],
    admin: { address: `127.0.0.1:${port + 1}` },
    workers: 1,
    routes: 'routes',
    discovery: { snapshot: { path: join(folder, 'snapshot.json') } },
    log: { level: 'warn', access: false },
  };
  const route = { service: 'bench', endpoints: [`127.0.0.1:${upstreamPort}`], match: [{ paths: ['/*'] }] };
  writeFileSync(join(folder, 'gateway.yaml'), stringify(gateway));
  writeFileSync(join(routes, 'bench.yaml'), stringify(route));
  const args = [join(ROOT, 'gateway/cli.ts'), 'start', '--config', join(folder, 'gateway.yaml')];
  return startPinned({ core, command: process.execPath, args, port });
}

function startNginx({ core, port, upstreamPort, folder }: PeerOptions): Promise<Running> {
  mkdirSync(folder, { recursive: true });
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 16384; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  client_max_body_size 0; keepalive_requests 100000000;
  upstream bench { server 127.0.0.1:${upstreamPort}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_request_buffering off;
      proxy_pass http://bench; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Request-Id $request_id;
    }
  }
}
`,
  );
  return startPinned({ core, command: 'nginx', args: ['-c', config, '-e', join(folder, 'error.log')], port });
}

function startHaproxy({ core, port, upstreamPort, folder }: PeerOptions): Promise<Running> {
  mkdirSync(folder, { recursive: true });
  const config = join(folder, 'haproxy.cfg');
  writeFileSync(
    config,
    `global
  nbthread 1
  maxconn 8000
defaults
  mode http
  timeout connect 2s
  timeout client 75s
  timeout server 30s
  http-reuse always
  option forwardfor
frontend front
  bind 127.0.0.1:${port} backlog 4096
  http-request set-header X-Request-Id %[uuid()]
  http-request set-header X-Forwarded-Proto http
  default_backend back
backend back
  server one 127.0.0.1:${upstreamPort}
`,
  );
  return startPinned({ core, command: 'haproxy', args: ['-f', config, '-db'], port });
}

function startHttpProxy3({ core, port, upstreamPort }: PeerOptions): Promise<Running> {
  const args = [join(import.meta.dirname, 'http-proxy-3-server.ts'), String(port), String(upstreamPort)];
  return startPinned({ core, command: process.execPath, args, port });
}
