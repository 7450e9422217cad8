// The throughput stage: each scenario against each gateway, in interleaved rounds.
import { fileURLToPath } from 'node:url';
import type { Features, Peer } from '../peers/peer.ts';
import { inAnyOrder } from '../stats/statistics.ts';
import { runClient, valueAt } from '../support/client-task.ts';
import { LOAD_CORE } from '../support/cores.ts';
import { loadByH2load } from '../support/h2load.ts';
import { type LoadResult, load } from '../support/load.ts';
import { cpuMicroseconds, residentMiB } from '../support/process.ts';
import type { RunSession } from '../support/run-session.ts';
import type { Figures, Measured } from './figures.ts';
import type { Scenario } from './scenario.ts';
import { featuresFor, type Gateway, Scene } from './scene.ts';

export interface ScenarioResult {
  readonly name: string;
  readonly peers: readonly Measured[];
}

export interface ThroughputOptions {
  readonly scenarios: readonly Scenario[];
  readonly peers: readonly Peer[];
  readonly rounds: number;
  readonly seconds: number;
}

const PATH = '/orders/4711?full=1';
const WEBSOCKET_CLIENT = fileURLToPath(import.meta.resolve('../support/websocket-client.ts'));

/** How many pieces the stage has, for the session. */
export function throughputPieces({ scenarios, peers, rounds }: ThroughputOptions): number {
  return scenarios.length * peers.length * (rounds + 1);
}

/** Measures; gives each scenario as soon as it is done, also a part of one when the session is stopped. */
export async function* measureThroughput(
  options: ThroughputOptions,
  session: RunSession,
): AsyncGenerator<ScenarioResult> {
  for (const scenario of options.scenarios) {
    if (session.isStopped) return;
    const result = await measureScenario(scenario, options, session);
    if (!session.isStopped || result.peers.some(({ samples }) => samples.length > 0)) yield result;
  }
}

async function measureScenario(
  scenario: Scenario,
  options: ThroughputOptions,
  session: RunSession,
): Promise<ScenarioResult> {
  const { peers, rounds, seconds } = options;
  const absent = new Map<string, string>();
  const samples = new Map<string, Figures[]>(peers.map(({ name }) => [name, []]));
  const scene = new Scene();
  try {
    const gateways = await startGateways({ scenario, peers, scene, absent });
    session.end((peers.length - gateways.length) * (rounds + 1));
    // One round is not counted: it warms up compilers and connections.
    for (let round = 0; round <= rounds; round++) {
      for (const gateway of inAnyOrder(gateways)) {
        if (session.isStopped) break;
        const state = round === 0 ? 'warm-up' : `round ${round} of ${rounds}`;
        session.begin(`${scenario.name}, ${state}, ${gateway.name}`);
        const figures = await sample({ gateway, scenario, seconds, folder: scene.folder });
        // A signal from the terminal also reaches the load generator.
        if (figures === null) session.say(`${scenario.name}: ${gateway.name} answered no request, ${state}`);
        else if (round > 0 && !session.isStopped) samples.get(gateway.name)?.push(figures);
        session.end();
      }
    }
  } catch (error) {
    if (!session.isStopped) session.say(`${scenario.name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await scene.close();
  }
  const measured = peers.map(({ name }): Measured => {
    const why = absent.get(name);
    return { peer: name, samples: samples.get(name) ?? [], ...(why !== undefined && { absent: why }) };
  });
  return { name: scenario.name, peers: measured };
}

async function startGateways(start: {
  scenario: Scenario;
  peers: readonly Peer[];
  scene: Scene;
  absent: Map<string, string>;
}): Promise<readonly Gateway[]> {
  const { scenario, peers, scene, absent } = start;
  const gateways: Gateway[] = [];
  for (const peer of peers) {
    const lack = peer.lacks({ upstreamPorts: Array(scenario.endpoints ?? 1).fill(0), ...scenario.features });
    if (lack !== null) {
      absent.set(peer.name, lack);
      continue;
    }
    try {
      // Each has an upstream of its own: one alone could not hold the connections of all.
      gateways.push(await startGateway(peer, await featuresFor(scenario, scene), scene));
    } catch (error) {
      absent.set(peer.name, `did not start: ${(error instanceof Error ? error.message : String(error)).slice(-160)}`);
    }
  }
  return gateways;
}

async function startGateway(peer: Peer, features: Features, scene: Scene): Promise<Gateway> {
  const gateway = await scene.gateway(peer, features);
  if (features.degraded === undefined) return gateway;
  // What a stale answer is made of: the very request of the load.
  await (await fetch(`http://127.0.0.1:${gateway.port}${PATH}`)).arrayBuffer();
  await scene.stopUpstream(features.upstreamPorts[0] ?? 0);
  return gateway;
}

/** Null where no request was answered: no figure would mean a thing. */
async function sample(run: {
  gateway: Gateway;
  scenario: Scenario;
  seconds: number;
  folder: string;
}): Promise<Figures | null> {
  const { gateway, scenario, folder } = run;
  const seconds = Math.max(run.seconds, scenario.minSeconds ?? 0);
  const { pid } = gateway.process;
  const { connections, uploadBytes = 0, isFresh = false, streams, features = {} } = scenario;
  const url = `${features.isTls === true ? 'https' : 'http'}://127.0.0.1:${gateway.port}${PATH}`;
  const before = cpuMicroseconds(pid);
  const paths = scenario.paths ?? features.routes ?? 1;
  const result =
    features.isWebSocket === true
      ? await webSocketLoad(url, connections, seconds)
      : streams === undefined
        ? await load({ url, connections, seconds, core: LOAD_CORE, folder, uploadBytes, isFresh, paths })
        : await loadByH2load({ url, connections, seconds, core: LOAD_CORE, folder, streams });
  if (result.requests === 0) return null;
  const cpu = (cpuMicroseconds(pid) - before) / result.requests;
  const { perSecond, p50Ms, p99Ms, p999Ms, errors } = result;
  return { perSecond, cpuMicroseconds: cpu, p50Ms, p99Ms, p999Ms, rssMiB: residentMiB(pid), errors };
}

async function webSocketLoad(url: string, connections: number, seconds: number): Promise<LoadResult> {
  const { requests, errors, curve } = await runClient(WEBSOCKET_CLIENT, { url, connections, seconds, core: LOAD_CORE });
  const [p50Ms, p99Ms, p999Ms] = [valueAt(curve, 50), valueAt(curve, 99), valueAt(curve, 99.9)];
  return { requests, perSecond: requests / seconds, p50Ms, p99Ms, p999Ms, errors };
}
