// The scenarios of the throughput stage: what is relayed, over how many connections, with which features on.
import type { BalancePolicy, DegradedSource, Features } from '../peers/peer.ts';
import { needs } from '../support/process.ts';

export interface Scenario {
  readonly name: string;
  readonly connections: number;
  /** Octets of the upstream's content; 100 is a small JSON document. */
  readonly downloadBytes?: number;
  readonly uploadBytes?: number;
  readonly isFresh?: boolean;
  /** HTTP/2, with so many requests at a time on each connection; HTTP/1.1 where absent. */
  readonly streams?: number;
  /** A round is at least this long: so many connections, of clients or to endpoints, are slow to open. */
  readonly minSeconds?: number;
  /** How many endpoints each route has; 1 by default. */
  readonly endpoints?: number;
  /** How many paths are asked for in turn, where there is one route; with more, as many as routes. */
  readonly paths?: number;
  readonly features?: Omit<Features, 'upstreamPorts' | 'fallbackPort' | 'certificate'>;
}

const POLICIES: readonly BalancePolicy[] = [
  'weighted_round_robin',
  'random',
  'least_request',
  'peak_ewma',
  'consistent_hash',
];
const SOURCES: readonly DegradedSource[] = ['stale', 'upstream', 'respond'];

export const SCENARIOS: readonly Scenario[] = [
  { name: 'small JSON, 64 kept connections', connections: 64 },
  { name: '64 KiB down', connections: 64, downloadBytes: 65_536 },
  { name: '1 MiB down', connections: 16, downloadBytes: 1_048_576 },
  { name: '64 KiB up', connections: 64, uploadBytes: 65_536 },
  { name: '1 MiB up', connections: 16, uploadBytes: 1_048_576 },
  { name: '1,000 kept connections', connections: 1000 },
  { name: '5,000 kept connections', connections: 5000, minSeconds: 8 },
  { name: 'a new connection for each request', connections: 64, isFresh: true },
  { name: 'TLS 1.3, kept connections', connections: 64, features: { isTls: true } },
  // Whole handshakes, none resumed: a round is long enough to be some thousands of them.
  {
    name: 'TLS 1.3, a new connection for each request',
    connections: 64,
    isFresh: true,
    minSeconds: 4,
    features: { isTls: true },
  },
  { name: 'HTTP/2, 100 streams', connections: 4, streams: 100, features: { isTls: true } },
  ...POLICIES.map((balance) => ({
    name: `${balance}, 10 endpoints`,
    connections: 64,
    endpoints: 10,
    // Several, so that a hash of the path has something to spread.
    paths: 100,
    features: { balance },
  })),
  {
    name: '1,000 routes with 10 endpoints each',
    connections: 64,
    minSeconds: 5,
    endpoints: 10,
    features: { routes: 1000 },
  },
  { name: 'rate limit on', connections: 64, features: { hasRateLimit: true } },
  { name: 'access log on', connections: 64, features: { hasAccessLog: true } },
  { name: 'WebSocket messages of 100 octets', connections: 64, features: { isWebSocket: true } },
  ...SOURCES.map((degraded) => ({ name: `degraded answers: ${degraded}`, connections: 64, features: { degraded } })),
];

/** The scenarios whose names contain the text and that can run here; says a line for each that cannot. */
export function availableScenarios(text: string, say: (line: string) => void): readonly Scenario[] {
  return scenariosNamed(text).filter((scenario) => {
    const missing = missingFor(scenario);
    if (missing !== null) say(`skipped: ${scenario.name}: ${missing}`);
    return missing === null;
  });
}

/** What is missing to run it; null when nothing is. */
function missingFor({ streams, features }: Scenario): string | null {
  if (features?.isTls !== true) return null;
  return needs('openssl') ?? (streams === undefined ? null : needs('h2load', 'nghttp2-client'));
}

/** The scenarios whose names contain the text; all of them for ''. */
function scenariosNamed(text: string): readonly Scenario[] {
  return SCENARIOS.filter(({ name }) => name.includes(text));
}
