// The relay benchmark: requests a second and CPU a request of Weir and its peers, on one core each, in the same run.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generatorName, type LoadOptions, load } from './support/load.ts';
import { PEERS, type Peer } from './support/peers.ts';
import { cpuMicroseconds, type Running, residentMiB, startPinned } from './support/process.ts';

const GATEWAY_CORE = 0;
const LOAD_CORE = 1;
const FIRST_PORT = 18_080;
const UPSTREAM_PORT = 18_070;

interface Scenario {
  readonly name: string;
  readonly downloadBytes: number;
  readonly load: Pick<LoadOptions, 'connections' | 'uploadBytes' | 'isFresh'>;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'small JSON, 64 kept connections', downloadBytes: 100, load: { connections: 64 } },
  { name: '64 KiB down', downloadBytes: 65_536, load: { connections: 64 } },
  { name: '1 MiB down', downloadBytes: 1_048_576, load: { connections: 16 } },
  { name: '64 KiB up', downloadBytes: 100, load: { connections: 64, uploadBytes: 65_536 } },
  { name: '1 MiB up', downloadBytes: 100, load: { connections: 16, uploadBytes: 1_048_576 } },
  { name: '1,000 kept connections', downloadBytes: 100, load: { connections: 1000 } },
  { name: 'a new connection for each request', downloadBytes: 100, load: { connections: 64, isFresh: true } },
];

interface Sample {
  readonly perSecond: number;
  readonly cpuPerRequest: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rssMiB: number;
  readonly errors: number;
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    scenario: { type: 'string', default: '' },
    peers: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(`usage: npm run bench:relay -- [--rounds 5] [--seconds 4] [--scenario TEXT] [--peers weir,nginx]

Each scenario is measured in interleaved rounds; the medians are printed, with the ratio of CPU to Weir's.
`);
} else {
  await main(Number(values.rounds), Number(values.seconds));
}

async function main(rounds: number, seconds: number): Promise<void> {
  const wanted = values.peers === '' ? PEERS : PEERS.filter(({ name }) => values.peers.split(',').includes(name));
  const peers = wanted.filter((peer) => {
    const missing = peer.missing();
    if (missing !== null) process.stdout.write(`skipped: ${peer.name}: ${missing}\n`);
    return missing === null;
  });
  process.stdout.write(`${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}, load by ${generatorName()}\n`);
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(values.scenario))) {
    print(scenario, await measure({ scenario, peers, rounds, seconds }));
  }
}

async function measure(run: { scenario: Scenario; peers: readonly Peer[]; rounds: number; seconds: number }) {
  const { scenario, peers, rounds, seconds } = run;
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const samples = new Map<string, Sample[]>(peers.map(({ name }) => [name, []]));
  const running: Running[] = [];
  try {
    const script = join(import.meta.dirname, 'support/upstream-server.ts');
    const upstreamArgs = [script, String(UPSTREAM_PORT), String(scenario.downloadBytes)];
    running.push(
      await startPinned({ core: LOAD_CORE, command: process.execPath, args: upstreamArgs, port: UPSTREAM_PORT }),
    );
    const started: { name: string; port: number; process: Running }[] = [];
    for (const [at, peer] of peers.entries()) {
      const port = FIRST_PORT + 10 * at;
      const options = { core: GATEWAY_CORE, port, upstreamPort: UPSTREAM_PORT, folder: join(folder, peer.name) };
      const process = await peer.start(options);
      running.push(process);
      started.push({ name: peer.name, port, process });
    }
    // One round is not counted: it warms up compilers and connections.
    for (let round = 0; round <= rounds; round++) {
      for (const { name, port, process } of started) {
        const before = cpuMicroseconds(process.pid);
        const url = `http://127.0.0.1:${port}/orders/4711?full=1`;
        const result = await load({ ...scenario.load, url, seconds, core: LOAD_CORE, folder });
        const cpuPerRequest = (cpuMicroseconds(process.pid) - before) / Math.max(1, result.requests);
        if (round > 0) samples.get(name)?.push({ ...result, cpuPerRequest, rssMiB: residentMiB(process.pid) });
      }
    }
  } finally {
    for (const each of running.reverse()) await each.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return samples;
}

function print(scenario: Scenario, samples: ReadonlyMap<string, readonly Sample[]>): void {
  process.stdout.write(`\n${scenario.name}\n`);
  process.stdout.write('| | requests/s | CPU µs a request | CPU : Weir | p50 ms | p99 ms | RSS MiB | errors |\n');
  process.stdout.write('|---|---:|---:|---:|---:|---:|---:|---:|\n');
  const weir = median((samples.get('weir') ?? []).map(({ cpuPerRequest }) => cpuPerRequest));
  for (const [name, all] of samples) {
    const of = (field: keyof Sample): number => median(all.map((sample) => sample[field]));
    const cpu = of('cpuPerRequest');
    const cells = [
      name,
      of('perSecond').toFixed(0),
      cpu.toFixed(1),
      (cpu / weir).toFixed(2),
      of('p50Ms').toFixed(2),
      of('p99Ms').toFixed(2),
      of('rssMiB').toFixed(0),
      all.reduce((sum, { errors }) => sum + errors, 0),
    ];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
