// The growth stage: what a request costs Weir with few and with up to 100 times as many of one thing.
import type { Features } from '../peers/peer.ts';
import { weir } from '../peers/weir.ts';
import { median } from '../stats/statistics.ts';
import { LOAD_CORE } from '../support/cores.ts';
import { load } from '../support/load.ts';
import { cpuMicroseconds } from '../support/process.ts';
import type { RunSession } from '../support/run-session.ts';
import { type Gateway, Scene } from './scene.ts';

export interface GrowthPoint {
  readonly size: number;
  /** CPU µs a request of each round. */
  readonly cpuMicroseconds: readonly number[];
}

export interface GrowthResult {
  readonly of: string;
  readonly points: readonly GrowthPoint[];
}

export interface GrowthOptions {
  readonly rounds: number;
  readonly seconds: number;
}

interface Shape {
  readonly routes?: number;
  readonly isOneService?: boolean;
  readonly endpoints?: number;
  readonly connections?: number;
  readonly bytes?: number;
}

interface Dimension {
  readonly of: string;
  readonly sizes: readonly number[];
  readonly shape: (size: number) => Shape;
}

const COUNTS = [10, 30, 100, 300, 1000];
const CONNECTIONS = 64;
/** So many are slow to open: a round with them is longer. */
const [MANY_CONNECTIONS, MANY_SECONDS] = [1000, 4];

const DIMENSIONS: readonly Dimension[] = [
  { of: 'routes of one service', sizes: COUNTS, shape: (routes) => ({ routes, isOneService: true }) },
  { of: 'services, each with a route', sizes: COUNTS, shape: (routes) => ({ routes }) },
  { of: 'endpoints of one service', sizes: COUNTS, shape: (endpoints) => ({ endpoints }) },
  { of: 'connections', sizes: [50, 150, 500, 1500, 5000], shape: (connections) => ({ connections }) },
  {
    of: 'octets of content down',
    sizes: [10, 32, 100, 320, 1000].map((kib) => kib * 1024),
    shape: (bytes) => ({ bytes, connections: 16 }),
  },
];

export function growthPieces({ rounds }: GrowthOptions): number {
  return DIMENSIONS.reduce((sum, { sizes }) => sum + sizes.length * (rounds + 1), 0);
}

/** Measures one thing after the other; gives each as soon as it is done. */
export async function* measureGrowth(options: GrowthOptions, session: RunSession): AsyncGenerator<GrowthResult> {
  for (const dimension of DIMENSIONS) {
    if (session.isStopped) return;
    yield await measureDimension(dimension, options, session);
  }
}

async function measureDimension(
  { of, sizes, shape }: Dimension,
  { rounds, seconds }: GrowthOptions,
  session: RunSession,
): Promise<GrowthResult> {
  const scene = new Scene();
  const points = sizes.map((size) => ({ size, cpuMicroseconds: [] as number[] }));
  try {
    const gateways: { gateway: Gateway; shape: Shape; into: number[]; size: number }[] = [];
    for (const { size, cpuMicroseconds: into } of points) {
      const gateway = await scene.gateway(weir, await featuresOf(shape(size), scene));
      gateways.push({ gateway, shape: shape(size), into, size });
    }
    for (let round = 0; round <= rounds; round++) {
      for (const { gateway, shape, into, size } of gateways) {
        if (session.isStopped) break;
        session.begin(`growth with ${of}, ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}, ${size}`);
        const cpu = await cpuOf(gateway, { ...shape, seconds, folder: scene.folder });
        if (round > 0 && cpu !== null && !session.isStopped) into.push(cpu);
        session.end();
      }
    }
  } catch (error) {
    if (!session.isStopped) session.say(`growth with ${of}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await scene.close();
  }
  return { of, points };
}

async function featuresOf({ routes = 1, isOneService = false, endpoints = 1, bytes = 100 }: Shape, scene: Scene) {
  const upstreamPorts = await scene.upstream(bytes, endpoints);
  const features: Features = { upstreamPorts, routes, isOneService };
  return features;
}

/** Null where no request was answered. */
async function cpuOf(gateway: Gateway, run: Shape & { seconds: number; folder: string }): Promise<number | null> {
  const { routes = 1, connections = CONNECTIONS, folder } = run;
  const seconds = connections > MANY_CONNECTIONS ? Math.max(run.seconds, MANY_SECONDS) : run.seconds;
  const { pid } = gateway.process;
  const before = cpuMicroseconds(pid);
  const url = `http://127.0.0.1:${gateway.port}/orders/4711`;
  const { requests } = await load({ url, connections, seconds, core: LOAD_CORE, folder, paths: routes });
  return requests === 0 ? null : (cpuMicroseconds(pid) - before) / requests;
}

/** The cost of each size: the median of its rounds; sizes that were not measured are left out. */
export function costs({ points }: GrowthResult): readonly { readonly size: number; readonly cost: number }[] {
  return points
    .filter(({ cpuMicroseconds }) => cpuMicroseconds.length > 0)
    .map(({ size, cpuMicroseconds }) => ({ size, cost: median(cpuMicroseconds) }));
}
