// Documents of /debug/upstreams for tests of the live page, as the gateway makes them: healthy unless told otherwise.
import type { Gateway, UpstreamsDocument } from '../../gateway/admin/page/document.ts';
import type { ServiceDocument } from '../../gateway/admin/upstreams-document.ts';
import type { EndpointView } from '../../gateway/pool/view.ts';

/** What a test says of a document; `requests` and `failures` are the counters of its endpoints. */
export interface DocumentOptions {
  readonly services: readonly ServiceDocument[];
  readonly gateway?: Partial<Gateway>;
}

const STARTED_AT_MS = Date.parse('2026-03-01T00:00:00Z');

export function documentOf({ services, gateway = {} }: DocumentOptions): UpstreamsDocument {
  return {
    gateway: {
      version: '0.1.0',
      pid: 4711,
      startedAt: new Date(STARTED_AT_MS).toISOString(),
      uptimeSeconds: Math.round((Date.now() - STARTED_AT_MS) / 1000),
      leader: { worker: 1, term: 3 },
      workers: [
        { id: 1, leader: true, snapshot: 7, connections: 31, eventLoopLagMs: 0.4 },
        { id: 2, leader: false, snapshot: 7, connections: 28, eventLoopLagMs: 1.1 },
      ],
      ...gateway,
    },
    snapshot: { version: 7, takenAt: new Date(STARTED_AT_MS).toISOString(), from: 'consul' },
    services,
  };
}

export function serviceOf(service: string, options: Partial<ServiceDocument> = {}): ServiceDocument {
  return {
    service,
    source: 'consul',
    state: 'healthy',
    index: '4711',
    lastSuccess: new Date(STARTED_AT_MS).toISOString(),
    ageSeconds: 1.2,
    lastError: null,
    policy: 'weighted_round_robin',
    breaker: 'off',
    breakerUntil: null,
    maintenance: null,
    degradedSince: null,
    degradedReason: null,
    skippedRecords: 0,
    endpoints: [endpointOf('10.0.0.5:8080')],
    ...options,
  };
}

export function endpointOf(endpoint: string, options: Partial<EndpointView> = {}): EndpointView {
  const { state = 'active', weight = 1 } = options;
  return {
    endpoint,
    instances: [`instance-of-${endpoint}`],
    weight,
    effectiveWeight: state === 'active' || state === 'warming' ? weight : 0,
    status: 'passing',
    state,
    why: null,
    until: null,
    tags: [],
    meta: {},
    inFlight: 0,
    requests: 0,
    failures: 0,
    ejections: 0,
    latencyMs: 4,
    ...options,
  };
}

/** A service of the names `10.0.0.1:80` and so on, with these counters. */
export function serviceWith(
  service: string,
  requests: readonly number[],
  failures: readonly number[] = [],
): ServiceDocument {
  const endpoints = requests.map((count, at) => {
    return endpointOf(`10.0.0.${at + 1}:80`, { requests: count, failures: failures[at] ?? 0 });
  });
  return serviceOf(service, { endpoints });
}
