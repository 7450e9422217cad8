// Load on one address: wrk on a core of its own where it is installed, else autocannon in this process.
// Either has less to do than a gateway, except for handshakes: there the CPU of the gateway a request is what counts.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { isInstalled } from './process.ts';

export interface LoadOptions {
  /** Where to; its path is asked for, after `/rN` where there are several paths. */
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly core: number;
  /** A folder for the script of the load generator. */
  readonly folder: string;
  /** Octets of content in each request; 0 makes GETs. */
  readonly uploadBytes?: number;
  /** Whether every request has a connection of its own. */
  readonly isFresh?: boolean;
  /** How many paths are asked for in turn: `/r0/…`, `/r1/…`; 1, the default, is the path of the URL alone. */
  readonly paths?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly errors: number;
}

export function generatorName(): string {
  return isInstalled('wrk') ? 'wrk (HTTP/2: h2load; handshakes: autocannon)' : 'autocannon (HTTP/2: h2load)';
}

export function load(options: LoadOptions): Promise<LoadResult> {
  const { url, isFresh = false } = options;
  // wrk and h2load resume the session of the connection before (a half of them and nearly all): no whole handshakes.
  const isHandshakes = isFresh && url.startsWith('https:');
  return isInstalled('wrk') && !isHandshakes ? loadByWrk(options) : loadByAutocannon(options);
}

async function loadByWrk(options: LoadOptions): Promise<LoadResult> {
  const { url, connections, seconds, core, folder } = options;
  const script = join(folder, 'load.lua');
  writeFileSync(script, scriptOf(options));
  const limits = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s'];
  const output = await run('taskset', ['-c', String(core), 'wrk', ...limits, '-s', script, url]);
  const [requests = 0, microseconds = 1, p50 = 0, p99 = 0, p999 = 0, errors = 0] =
    /RESULT (.*)/.exec(output)?.[1]?.split(' ').map(Number) ?? [];
  return {
    requests,
    perSecond: requests / (microseconds / 1e6),
    p50Ms: p50 / 1000,
    p99Ms: p99 / 1000,
    p999Ms: p999 / 1000,
    errors,
  };
}

function scriptOf({ url, uploadBytes = 0, isFresh = false, paths = 1 }: LoadOptions): string {
  const { pathname, search } = new URL(url);
  const lines = [
    uploadBytes > 0 ? `wrk.method = "POST"\nwrk.body = string.rep("x", ${uploadBytes})` : '',
    isFresh ? 'wrk.headers["Connection"] = "close"' : '',
    paths > 1
      ? `local made, at = {}, 0
init = function() for n = 0, ${paths - 1} do made[n] = wrk.format(nil, "/r" .. n .. "${pathname}${search}") end end
request = function() at = (at + 1) % ${paths}; return made[at] end`
      : '',
    `done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %f %f %f %d\\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), latency:percentile(99.9), e.connect + e.read + e.write + e.status + e.timeout))
end`,
  ];
  return lines.join('\n');
}

/** The same curve and cipher with every gateway, whatever each likes best. */
const TLS = { ecdhCurve: 'X25519', ciphers: 'TLS_AES_128_GCM_SHA256', minVersion: 'TLSv1.3' } as const;

/** The same by autocannon, whatever is installed. */
export async function loadByAutocannon(options: Omit<LoadOptions, 'core' | 'folder'>): Promise<LoadResult> {
  const { url, connections, seconds, uploadBytes = 0, isFresh = false, paths = 1 } = options;
  const { pathname, search } = new URL(url);
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    ...(uploadBytes > 0 && { method: 'POST' as const, body: 'x'.repeat(uploadBytes) }),
    ...(isFresh && { headers: { connection: 'close' } }),
    ...(url.startsWith('https:') && { tlsOptions: TLS }),
    ...(paths > 1 && {
      requests: Array.from({ length: paths }, (_, at) => ({ path: `/r${at}${pathname}${search}` })),
    }),
  });
  return {
    requests: result.requests.total,
    perSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    p999Ms: result.latency.p99_9,
    errors: result.errors + result.non2xx,
  };
}

function run(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code}`))));
  });
}
