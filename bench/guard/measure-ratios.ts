// Measures what a request costs Weir and the calibration loop, at the same time, on the same core under the same load.
import { resolve } from 'node:path';
import { weir } from '../peers/weir.ts';
import type { Scenario } from '../stages/scenario.ts';
import { Scene } from '../stages/scene.ts';
import { GATEWAY_CORE } from '../support/cores.ts';
import { freeRange } from '../support/free-range.ts';
import { loadByAutocannon } from '../support/load.ts';
import { type Running, runMicroseconds, startPinned } from '../support/process.ts';

export type GuardScenario = Pick<
  Scenario,
  'name' | 'connections' | 'downloadBytes' | 'uploadBytes' | 'isFresh' | 'features'
>;

/** What is guarded. autocannon makes the load everywhere, so that CI and a machine with wrk measure alike. */
export const GUARDED: readonly GuardScenario[] = [
  { name: 'small JSON', connections: 16 },
  { name: '64 KiB down', connections: 16, downloadBytes: 65_536 },
  { name: '4 KiB up', connections: 16, uploadBytes: 4096 },
  {
    name: 'small JSON with access log and rate limit',
    connections: 16,
    features: { hasAccessLog: true, hasRateLimit: true },
  },
];

const SCRIPT = resolve(import.meta.dirname, '../support/calibration-server.ts');
/** Compilers need this long: what is not compiled yet is no loss. */
const WARM_UP_SECONDS = 4;

interface Server {
  readonly pid: number;
  readonly port: number;
}

export interface Effort {
  readonly rounds: number;
  /** Once aborted, no further round begins, and the measurement ends with its reason. */
  readonly signal: AbortSignal;
  readonly seconds: number;
}

/** The ratio of Weir's CPU a request to the calibration loop's, of each round. */
export async function measureRatios(
  scenario: GuardScenario,
  { rounds, seconds, signal }: Effort,
): Promise<readonly number[]> {
  const scene = new Scene();
  let calibration: Running | undefined;
  try {
    const upstreamPorts = await scene.upstream(scenario.downloadBytes ?? 100);
    const [port = 0] = await freeRange(1);
    const args = [SCRIPT, String(port), String(upstreamPorts[0])];
    calibration = await startPinned({ core: GATEWAY_CORE, command: process.execPath, args, port });
    const gateway = await scene.gateway(weir, { ...scenario.features, upstreamPorts });
    const yardstick = { pid: calibration.pid, port };
    const subject = { pid: gateway.process.pid, port: gateway.port };
    await costsOf([yardstick, subject], scenario, WARM_UP_SECONDS);
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      signal.throwIfAborted();
      const [unit, cost] = await costsOf([yardstick, subject], scenario, seconds);
      ratios.push((cost ?? Number.NaN) / (unit ?? Number.NaN));
    }
    return ratios;
  } finally {
    await calibration?.stop();
    await scene.close();
  }
}

/** CPU µs a request of each, under load at the same time: what a noisy machine does meanwhile, it does to both. */
function costsOf(servers: readonly Server[], scenario: GuardScenario, seconds: number): Promise<readonly number[]> {
  return Promise.all(servers.map((server) => costOf(server, scenario, seconds)));
}

async function costOf({ pid, port }: Server, scenario: GuardScenario, seconds: number): Promise<number> {
  const { connections, uploadBytes = 0, isFresh = false } = scenario;
  const before = runMicroseconds(pid);
  const url = `http://127.0.0.1:${port}/orders/4711?full=1`;
  const { requests, errors } = await loadByAutocannon({ url, connections, seconds, uploadBytes, isFresh });
  if (requests === 0 || errors > requests / 100) {
    throw new Error(`${scenario.name}: ${requests} answers, ${errors} errors on port ${port}`);
  }
  return (runMicroseconds(pid) - before) / requests;
}
