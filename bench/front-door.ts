// The listeners of a real gateway under the tools of others: testssl.sh, slowhttptest, h2load. Installs nothing.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createAuthority, hasOpenssl, type SignedPair } from '../test/support/certificates.ts';
import { findFreePorts } from '../test/support/free-ports.ts';
import { type FrontService, startFrontService } from '../test/support/http2-service.ts';
import { Bystander } from './support/bystander.ts';
import { type DrillGateway, startGateway } from './support/gateway.ts';
import { cpuMicroseconds, isInstalled, residentMiB } from './support/process.ts';
import { findTestssl, inspectTls } from './support/testssl.ts';
import { runTool } from './support/tool.ts';

const USAGE = `usage: node bench/front-door.ts [--only testssl|slow|load] [--seconds 20] [--connections 800]

testssl.sh, slowhttptest and h2load against a gateway with two workers; on Debian they are in the packages testssl.sh,
slowhttptest and nghttp2-client. What is missing is said and left out.
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '20' },
    connections: { type: 'string', default: '800' },
    help: { type: 'boolean', default: false },
  },
});

interface Scene {
  readonly gateway: DrillGateway;
  readonly caFile: string;
  readonly plainUrl: string;
  readonly rsaUrl: string;
  readonly ecdsaUrl: string;
}

/** Slow in a way each, as slowhttptest has them; the path is one where the way matters. */
const SLOW = [
  { what: 'slow heads (-H)', path: '/', args: ['-H', '-i', '3', '-x', '24'] },
  { what: 'slow content (-B)', path: '/digest', args: ['-B', '-i', '3', '-s', '8192', '-x', '10'] },
  { what: 'ranges (-R)', path: '/', args: ['-R', '-a', '10', '-b', '3000'] },
  {
    what: 'slow reading (-X)',
    path: '/octets?1000000',
    args: ['-X', '-w', '512', '-y', '1024', '-n', '3', '-z', '64'],
  },
] as const;

const LOAD_REQUESTS = 30_000;
let isGood = true;

if (values.help) process.stdout.write(USAGE);
else if (hasOpenssl()) await main();

async function main(): Promise<void> {
  const authority = createAuthority();
  const service = await startFrontService();
  const rsa = authority.sign('rsa', { keyType: 'rsa' });
  const scene = await startScene(service, { rsa, ecdsa: authority.sign('ecdsa'), caFile: authority.caFile });
  try {
    if (isWanted('testssl')) await inspect(scene);
    if (isWanted('slow')) await attackSlowly(scene);
    if (isWanted('load')) await load(scene);
  } finally {
    await scene.gateway.stop();
    await service.stop();
    authority.remove();
  }
  print(isGood ? 'all is well' : 'FAILED: see above');
  process.exitCode = isGood ? 0 : 1;
}

async function startScene(
  service: FrontService,
  { rsa, ecdsa, caFile }: { rsa: SignedPair; ecdsa: SignedPair; caFile: string },
): Promise<Scene> {
  const [port = 0, rsaPort = 0, ecdsaPort = 0, adminPort = 0] = await findFreePorts(4);
  const secure = (at: number, { certFile, keyFile }: SignedPair) => {
    const tls = { certificates: [{ cert: certFile, key: keyFile }] };
    return { address: `127.0.0.1:${at}`, tls, hsts: '8760h' };
  };
  const listen = [{ address: `127.0.0.1:${port}` }, secure(rsaPort, rsa), secure(ecdsaPort, ecdsa)];
  const endpoints = [`127.0.0.1:${service.port}`];
  const routes = { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }] } };
  return {
    gateway: await startGateway({ port, adminPort, workers: 2, routes, gateway: { listen } }),
    caFile,
    plainUrl: `http://127.0.0.1:${port}`,
    rsaUrl: `https://127.0.0.1:${rsaPort}`,
    ecdsaUrl: `https://127.0.0.1:${ecdsaPort}`,
  };
}

async function inspect({ rsaUrl, ecdsaUrl, caFile }: Scene): Promise<void> {
  const command = findTestssl();
  if (command === undefined) return skip('testssl.sh', 'testssl.sh');
  for (const [what, url] of Object.entries({ 'RSA 2048': rsaUrl, 'ECDSA P-256': ecdsaUrl })) {
    const { grade, findings, ofTheTest } = await inspectTls(command, url, caFile);
    print(`testssl.sh, ${what}: ${grade === null ? 'this version gives no grade' : `grade ${grade}`}`);
    for (const { severity, id, finding } of findings) print(`  ${severity} ${id}: ${finding}`);
    if (findings.length === 0) print('  nothing to object to at the listener');
    print(`  of the test chain or the tool: ${ofTheTest.map(({ id }) => id).join(', ')}`);
    if (findings.length > 0) isGood = false;
  }
}

async function attackSlowly({ gateway, plainUrl, rsaUrl }: Scene): Promise<void> {
  if (!isInstalled('slowhttptest')) return skip('slowhttptest', 'slowhttptest');
  for (const url of [plainUrl, rsaUrl]) {
    for (const { what, path, args } of SLOW) {
      const bystander = new Bystander(`${url}/`);
      const memory = residentMiB(gateway.pid);
      const cpu = cpuMicroseconds(gateway.pid);
      const size = ['-c', values.connections, '-r', '400', '-l', values.seconds, '-p', '3'];
      const { text } = await runTool(
        'slowhttptest',
        [...args, ...size, '-u', url + path],
        (Number(values.seconds) + 30) * 1000,
      );
      await bystander.stop();
      const most = Math.max(...[...text.matchAll(/connected:\s+(\d+)/g)].map(([, count]) => Number(count)));
      const isAvailable = !/service available:\s+NO/.test(text) && /service available:\s+YES/.test(text);
      const cost = `${Math.round(residentMiB(gateway.pid) - memory)} MiB more, ${((cpuMicroseconds(gateway.pid) - cpu) / 1e6).toFixed(1)} s of CPU`;
      print(
        `${what}, ${url.split(':')[0]}: at most ${most} connections at a time, ${cost}, ${isAvailable ? 'available' : 'NOT AVAILABLE'}`,
      );
      print(`  another client: ${bystander}`);
      if (!isAvailable || !bystander.isContent) isGood = false;
    }
  }
}

async function load({ gateway, rsaUrl, ecdsaUrl }: Scene): Promise<void> {
  if (!isInstalled('h2load')) return skip('h2load', 'nghttp2-client');
  for (const [what, url] of Object.entries({ 'RSA 2048': rsaUrl, 'ECDSA P-256': ecdsaUrl })) {
    const cpu = cpuMicroseconds(gateway.pid);
    const { text } = await runTool(
      'h2load',
      ['-c', '10', '-m', '100', '-n', String(LOAD_REQUESTS), `${url}/`],
      120_000,
    );
    const perRequest = ((cpuMicroseconds(gateway.pid) - cpu) / LOAD_REQUESTS).toFixed(0);
    const [, rate = '?'] = /([\d.]+) req\/s/.exec(text) ?? [];
    const [, succeeded = '0'] = /(\d+) succeeded/.exec(text) ?? [];
    const isWhole = Number(succeeded) === LOAD_REQUESTS && text.includes(`${LOAD_REQUESTS} 2xx`);
    print(
      `h2load -c10 -m100, ${what}: ${rate} requests/s, ${perRequest} µs of CPU each, ${isWhole ? 'no error' : 'ERRORS'}`,
    );
    if (!isWhole) print(text.slice(-1000));
    if (!isWhole) isGood = false;
  }
  print(`  resident at the end: ${Math.round(residentMiB(gateway.pid))} MiB of ${Math.round(totalMiB())}`);
}

function isWanted(what: string): boolean {
  return values.only === '' || values.only === what;
}

function skip(command: string, pack: string): void {
  print(`SKIPPED: ${command} is not installed (apt-get install ${pack})`);
}

function totalMiB(): number {
  return Number(/MemTotal:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0) / 1024;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
