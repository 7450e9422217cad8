// Growth: what finding a route and acquiring an endpoint cost with few and with many of each.
import { WeightedRoundRobin } from '../gateway/balancing/weighted-round-robin.ts';
import { systemClock } from '../gateway/core/clock.ts';
import type { Endpoint } from '../gateway/core/instance.ts';
import { Catalog } from '../gateway/pool/catalog.ts';
import { Lease } from '../gateway/pool/lease.ts';
import type { PoolPolicies } from '../gateway/pool/policies.ts';
import { Pool } from '../gateway/pool/pool.ts';
import type { PooledEndpoint } from '../gateway/pool/pooled-endpoint.ts';
import { normalisePath } from '../gateway/routing/path.ts';
import { RouteTable } from '../gateway/routing/route-table.ts';
import { ejectionPolicy } from '../test/support/ejection-policy.ts';

const SIZES = [10, 100, 1000, 5000];
const ROUNDS = 7;
const CALLS = 200_000;
const POLICIES: PoolPolicies = {
  ejection: ejectionPolicy(),
  slowStart: { windowMs: 0, minPercent: 10 },
  breaker: null,
  keepsLabels: false,
  isPeakSensitive: false,
};

console.log(`Node ${process.version}, medians of ${ROUNDS} rounds of ${CALLS} calls\n`);
console.log('| of each | find a route, ns | acquire and release, ns |');
console.log('|---:|---:|---:|');
for (const size of SIZES) {
  const [route, acquire] = [routeFinder(size), acquirer(size)];
  console.log(`| ${size} | ${nanoseconds(route).toFixed(0)} | ${nanoseconds(acquire).toFixed(0)} |`);
}

/** Half of the routes by host, half by path; each call asks for another one. */
function routeFinder(size: number): (call: number) => unknown {
  const routes = Array.from({ length: size }, (_, at) => ({
    route: at,
    match: [
      at % 2 === 0
        ? { hosts: [`s${at}.example.com`], paths: ['/*'], methods: null, headers: {} }
        : { hosts: null, paths: [`/service-${at}/*`], methods: null, headers: {} },
    ],
  }));
  const table = new RouteTable(routes);
  const requests = routes.map(({ route }) => ({
    method: 'GET',
    host: route % 2 === 0 ? `s${route}.example.com` : 'www.example.com',
    target: `/service-${route}/orders/4711?full=1`,
    header: () => undefined,
  }));
  return (call) => {
    const request = requests[call % size];
    return request === undefined ? undefined : table.find(request, normalisePath(request.target) ?? '/');
  };
}

function acquirer(size: number): (call: number) => unknown {
  const catalog = new Catalog(['s'], { lanes: 2, clock: systemClock });
  const endpoints = Array.from({ length: size }, (_, at): Endpoint => {
    const [host, port] = [`10.0.${at >> 8}.${at & 255}`, 8080];
    const facts = { weight: 1 + (at % 3), status: 'passing' as const, healthy: true, tags: [], meta: {} };
    return { key: `${host}:${port}`, host, port, instances: [`i${at}`], ...facts };
  });
  const snapshot = catalog.update('s', endpoints);
  if (snapshot === undefined) throw new Error('the catalog does not know the service');
  const nothing = () => undefined;
  const pool = new Pool(snapshot, {
    lane: 0,
    clock: systemClock,
    policies: POLICIES,
    onTrafficChange: nothing,
    onBreakerChange: nothing,
    onGone: nothing,
  });
  const balancer = new WeightedRoundRobin<PooledEndpoint>(() => pool.shared.nextTurn());
  const group = pool.addGroup({ labels: null, balancer });
  return () => {
    const lease = pool.acquire({ group, tried: [], hash: undefined, failOpen: true });
    if (lease instanceof Lease) lease.release('success');
    return lease;
  };
}

function nanoseconds(call: (at: number) => unknown): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const begun = performance.now();
    for (let at = 0; at < CALLS; at++) call(at);
    return ((performance.now() - begun) * 1e6) / CALLS;
  });
  return rounds.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
