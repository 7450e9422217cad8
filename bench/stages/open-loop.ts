// The open-loop stage: latency at a fixed arrival rate, half of what the slowest serious gateway can serve.
import { fileURLToPath } from 'node:url';
import type { Peer } from '../peers/peer.ts';
import { SERIOUS } from '../peers/peers.ts';
import { inAnyOrder, median } from '../stats/statistics.ts';
import { type ClientReport, runClient } from '../support/client-task.ts';
import { LOAD_CORE } from '../support/cores.ts';
import type { RunSession } from '../support/run-session.ts';
import { type Gateway, Scene } from './scene.ts';

export interface OpenLoopResult {
  readonly perSecond: number;
  /** Requests a second of the capacity runs, by gateway. */
  readonly capacities: Readonly<Record<string, number>>;
  readonly peers: readonly { readonly peer: string; readonly rounds: readonly ClientReport[] }[];
}

export interface OpenLoopOptions {
  readonly peers: readonly Peer[];
  readonly rounds: number;
  readonly seconds: number;
}

const CLIENT = fileURLToPath(import.meta.resolve('../support/open-loop-client.ts'));
const CONNECTIONS = 256;
const SHARE = 0.5;
const GRACE_MS = 2000;
/** More than any gateway serves on one core: how many it serves then is its capacity with this client. */
const FLOOD_PER_SECOND = 200_000;
const FLOOD_CONNECTIONS = 64;
const FLOOD_SECONDS = 2;

export function openLoopPieces({ peers, rounds }: OpenLoopOptions): number {
  return peers.length * (rounds + 1);
}

/** Measures; null when the session was stopped before there was a round. */
export async function measureOpenLoop(options: OpenLoopOptions, session: RunSession): Promise<OpenLoopResult | null> {
  const { peers, rounds, seconds } = options;
  const scene = new Scene();
  try {
    const upstreamPorts = await scene.upstream(100);
    const gateways: Gateway[] = [];
    for (const peer of peers) gateways.push(await scene.gateway(peer, { upstreamPorts }));
    const capacities = await capacitiesOf(gateways, session);
    const serious = Object.entries(capacities).filter(([name]) => SERIOUS.includes(name));
    const perSecond = Math.floor(Math.min(...serious.map(([, capacity]) => capacity)) * SHARE);
    const reports = new Map<string, ClientReport[]>(gateways.map(({ name }) => [name, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const { name, port } of inAnyOrder(gateways)) {
        if (session.isStopped) break;
        session.begin(`open loop at ${perSecond} requests/s, round ${round} of ${rounds}, ${name}`);
        const url = urlOf(port);
        const task = { url, connections: CONNECTIONS, seconds, core: LOAD_CORE, perSecond, graceMs: GRACE_MS };
        const report = await runClient(CLIENT, task);
        if (!session.isStopped) reports.get(name)?.push(report);
        session.end();
      }
    }
    const measured = [...reports].map(([peer, all]) => ({ peer, rounds: all }));
    return measured.some(({ rounds: all }) => all.length > 0) ? { perSecond, capacities, peers: measured } : null;
  } catch (error) {
    if (!session.isStopped) session.say(`open loop: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  } finally {
    await scene.close();
  }
}

/** By the same client, so that the rate is one that the client can make. */
async function capacitiesOf(gateways: readonly Gateway[], session: RunSession): Promise<Record<string, number>> {
  const capacities: Record<string, number> = {};
  for (const { name, port } of gateways) {
    if (session.isStopped) break;
    session.begin(`capacity, ${name}`);
    const task = { url: urlOf(port), connections: FLOOD_CONNECTIONS, seconds: FLOOD_SECONDS, core: LOAD_CORE };
    const figures: number[] = [];
    // The first warms up.
    for (let run = 0; run < 3; run++) {
      const { requests } = await runClient(CLIENT, { ...task, perSecond: FLOOD_PER_SECOND });
      if (run > 0) figures.push(requests / FLOOD_SECONDS);
    }
    capacities[name] = Math.round(median(figures));
    session.end();
  }
  return capacities;
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}/orders/4711?full=1`;
}
