// The document of /debug/upstreams as it comes over the network: known to be one before it is used.
import type { ServiceDocument } from '../admin/upstreams-document.ts';
import type { EndpointView } from '../pool/view.ts';

/** The parts of the document that a table shows. */
export interface UpstreamsPage {
  readonly gateway: {
    readonly version: string;
    readonly pid: number;
    readonly startedAt: string;
    readonly uptimeSeconds: number;
    readonly leader: { readonly worker: number | null };
    readonly workers: readonly object[];
    /** Whatever stands there; absent in older versions. */
    readonly listeners?: unknown;
  };
  readonly snapshot: { readonly version: number; readonly from: string | null };
  readonly services: readonly ServiceDocument[];
}

/** What is known of any version's document. */
export interface UpstreamsDocument {
  readonly services: readonly { readonly service: string }[];
}

/** Reads the text of the document for a table; undefined when it is something else, or lacks what the table shows. */
export function readUpstreams(text: string): UpstreamsPage | undefined {
  const value = parsed(text);
  return isUpstreamsPage(value) ? value : undefined;
}

/** Reads the text of the document, whatever else it has; undefined when it is something else. */
export function readDocument(text: string): UpstreamsDocument | undefined {
  const value = parsed(text);
  return isDocument(value) ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDocument(value: unknown): value is UpstreamsDocument {
  const services = part(value, 'services');
  return Array.isArray(services) && services.every((each) => has(each, { service: 'string' }));
}

/** The types of the keys that must be there; those that end in `?` may be null. */
type Shape<T> = { readonly [K in keyof T]?: string };

const GATEWAY: Shape<UpstreamsPage['gateway']> = {
  version: 'string',
  pid: 'number',
  startedAt: 'string',
  uptimeSeconds: 'number',
  leader: 'object',
};

const SERVICE: Shape<ServiceDocument> = {
  service: 'string',
  source: 'string',
  state: 'string',
  ageSeconds: 'number?',
  lastError: 'string?',
  policy: 'string',
  breaker: 'string',
  breakerUntil: 'string?',
  maintenance: 'object?',
  degradedSince: 'string?',
  degradedReason: 'string?',
  skippedRecords: 'number',
};

const ENDPOINT: Shape<EndpointView> = {
  endpoint: 'string',
  weight: 'number',
  effectiveWeight: 'number',
  state: 'string',
  why: 'string?',
  until: 'string?',
  inFlight: 'number',
  requests: 'number',
  failures: 'number',
  latencyMs: 'number?',
};

function isUpstreamsPage(value: unknown): value is UpstreamsPage {
  const gateway = part(value, 'gateway');
  const snapshot = part(value, 'snapshot');
  const services = part(value, 'services');
  return (
    has(gateway, GATEWAY) &&
    Array.isArray(part(gateway, 'workers')) &&
    has(snapshot, { version: 'number', from: 'string?' }) &&
    Array.isArray(services) &&
    services.every(isService)
  );
}

function isService(value: unknown): boolean {
  const endpoints = part(value, 'endpoints');
  const maintenance = part(value, 'maintenance');
  const isMaintained = maintenance === null || has(maintenance, { since: 'string?', reason: 'string' });
  return (
    has(value, SERVICE) && isMaintained && Array.isArray(endpoints) && endpoints.every((each) => has(each, ENDPOINT))
  );
}

function has(value: unknown, shape: Readonly<Record<string, string | undefined>>): boolean {
  return Object.entries(shape).every(([key, wanted = '']) => {
    const found = part(value, key);
    return found === null ? wanted.endsWith('?') : typeof found === wanted.replace('?', '');
  });
}

function part(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
