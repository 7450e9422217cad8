// Load on one address: wrk on a core of its own where it is installed, else autocannon in this process.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { isInstalled } from './process.ts';

export interface LoadOptions {
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
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
}

export function generatorName(): string {
  return isInstalled('wrk') ? 'wrk' : 'autocannon';
}

export function load(options: LoadOptions): Promise<LoadResult> {
  return isInstalled('wrk') ? loadByWrk(options) : loadByAutocannon(options);
}

async function loadByWrk(options: LoadOptions): Promise<LoadResult> {
  const { url, connections, seconds, core, folder, uploadBytes = 0, isFresh = false } = options;
  const script = join(folder, 'load.lua');
  writeFileSync(
    script,
    `${uploadBytes > 0 ? `wrk.method = "POST"\nwrk.body = string.rep("x", ${uploadBytes})\n` : ''}
${isFresh ? 'wrk.headers["Connection"] = "close"\n' : ''}
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %f %f %d\\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
`,
  );
  const args = [
    '-c',
    String(core),
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '10s',
    '-s',
    script,
    url,
  ];
  const output = await run('taskset', args);
  const [requests = 0, microseconds = 1, p50 = 0, p99 = 0, errors = 0] =
    /RESULT (.*)/.exec(output)?.[1]?.split(' ').map(Number) ?? [];
  return {
    requests,
    perSecond: requests / (microseconds / 1e6),
    p50Ms: p50 / 1000,
    p99Ms: p99 / 1000,
    errors,
  };
}

async function loadByAutocannon(options: LoadOptions): Promise<LoadResult> {
  const { url, connections, seconds, uploadBytes = 0, isFresh = false } = options;
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    ...(uploadBytes > 0 && { method: 'POST' as const, body: 'x'.repeat(uploadBytes) }),
    ...(isFresh && { headers: { connection: 'close' } }),
  });
  return {
    requests: result.requests.total,
    perSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
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
