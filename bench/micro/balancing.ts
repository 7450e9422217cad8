// What the balancing policies cost: nanoseconds for a pick, microseconds for an update, in small and in large pools.
import { hashKey } from '../../gateway/balancing/key-hash.ts';
import { BALANCE_POLICIES, makeBalancer } from '../../gateway/balancing/make-balancer.ts';
import { cpuMs, keep, type Row } from './row.ts';

type Kind = (typeof BALANCE_POLICIES)[number];

const PICKS = 200_000;
const UPDATES = 20;
const KEYS = 100_000;
const POOL_SIZES = [10, 1000];
/** As in an endpoint's shared memory: a count for each of four workers, a cache line apart. */
const LANES = 4;
const LANE_STRIDE = 8;

class Endpoint {
  readonly key: string;
  readonly weight: number;
  readonly #counts = new Float64Array(LANES * LANE_STRIDE);
  readonly #latencyMs: number;

  constructor(at: number) {
    this.key = `10.0.${at >> 8}.${at & 255}:8080`;
    this.weight = 1 + (at % 10);
    this.#counts[(at % LANES) * LANE_STRIDE] = at % 5;
    this.#latencyMs = 1 + ((at * 7919) % 20);
  }

  inFlight(): number {
    let sum = 0;
    for (let at = 0; at < this.#counts.length; at += LANE_STRIDE) sum += this.#counts[at] ?? 0;
    return sum;
  }

  latencyMs(): number {
    return this.#latencyMs;
  }
}

export const BALANCING_ROWS: readonly Row[] = [
  ...POOL_SIZES.flatMap((size) =>
    BALANCE_POLICIES.map(
      (kind): Row => ({ what: `${kind}, a pick of ${size}`, unit: 'ns', measure: picker(kind, size) }),
    ),
  ),
  ...BALANCE_POLICIES.map(
    (kind): Row => ({ what: `${kind}, an update of 1000`, unit: 'µs', measure: updater(kind, 1000) }),
  ),
  { what: 'the hash of a key of 14 characters', unit: 'ns', measure: hashKeys },
];

/** Picks for requests of which each has another key; weights are 1 to 10. */
function picker(kind: Kind, size: number): () => number {
  const balancer = prepare(kind, poolOf(size));
  const hashes = Uint32Array.from({ length: KEYS }, (_, at) => hashKey(`user-${at}`));
  return () => {
    let sum = 0;
    const startMs = cpuMs();
    for (let at = 0; at < PICKS; at++) sum += balancer.pick([], hashes[at % KEYS] ?? 0)?.weight ?? 0;
    keep(sum);
    return ((cpuMs() - startMs) * 1e6) / PICKS;
  };
}

/** An endpoint goes, another comes: every update is one with other endpoints. */
function updater(kind: Kind, size: number): () => number {
  const pool = poolOf(size + 1);
  const balancer = prepare(kind, pool);
  return () => {
    const startMs = cpuMs();
    for (let at = 0; at < UPDATES; at++) balancer.update(pool.filter((_, position) => position !== at));
    return ((cpuMs() - startMs) * 1000) / UPDATES;
  };
}

function hashKeys(): number {
  let sum = 0;
  const startMs = cpuMs();
  for (let at = 0; at < PICKS; at++) sum += hashKey('user-123456789');
  keep(sum);
  return ((cpuMs() - startMs) * 1e6) / PICKS;
}

function prepare(kind: Kind, pool: readonly Endpoint[]) {
  let turn = 0;
  const inFlight = pool.reduce((sum, endpoint) => sum + endpoint.inFlight(), 0);
  const sources = { nextTurn: () => turn++, random: Math.random, totalInFlight: () => inFlight };
  const balancer = makeBalancer<Endpoint>({ kind }, sources);
  balancer.update(pool);
  return balancer;
}

function poolOf(size: number): Endpoint[] {
  return Array.from({ length: size }, (_, at) => new Endpoint(at));
}
