// What each address of the table registry does: a checked request in, a status and a document out.
import type { Clock } from '../core/clock.ts';
import { quote } from '../core/quote.ts';
import { historyDocument, readHistoryQuery } from './history-requests.ts';
import { createListing } from './listing.ts';
import { type Checked, hasMeta, readInstanceKey, readInstancesQuery, readRegistration } from './registry-requests.ts';
import type { HistoryQuery, InstanceKey, RegisterOutcome, RegistryLimits, RegistryStore } from './store.ts';

/** A request whose body was read; '' when it had none. */
interface RegistryRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

export interface RegistryResponse {
  readonly status: number;
  readonly document: unknown;
  /** Fields besides those that describe the document. */
  readonly fields?: Readonly<Record<string, string>>;
}

export type RegistryHandler = (request: RegistryRequest) => Promise<RegistryResponse>;

/** Longest time an answer may be repeated; never longer than what lies between two heartbeats. */
const CACHE_MS = 3000;
/** Heartbeats that an instance may miss until it expires. */
const HEARTBEATS = 3;

export interface RegistryHandlerOptions {
  readonly store: RegistryStore;
  /** Told to those who register: how long they are listed without another heartbeat. */
  readonly expirySeconds: number;
  /** Those of the store, told to those who are refused. */
  readonly limits: RegistryLimits;
  readonly clock: Clock;
}

/** Makes the handler of all addresses. A change made through it is seen at once; one made elsewhere within 3 s. */
export function createRegistryHandler(options: RegistryHandlerOptions): RegistryHandler {
  const routes = routesOf(options);
  const addresses = Object.keys(routes).join(', ');
  return async (request) => {
    const { pathname } = request.url;
    const methods = Object.hasOwn(routes, pathname) ? routes[pathname] : undefined;
    if (methods === undefined) return refused(404, `there is no such address; there are ${addresses}`);
    // Node leaves out the body of an answer to HEAD.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (handler !== undefined) return handler(request);
    const allow = Object.keys(methods)
      .flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]))
      .join(', ');
    return { ...refused(405, `${pathname} takes ${allow}`), fields: { allow } };
  };
}

function routesOf(
  options: RegistryHandlerOptions,
): Readonly<Record<string, Readonly<Record<string, RegistryHandler>>>> {
  const { store, expirySeconds, limits, clock } = options;
  const maxAgeMs = Math.min(CACHE_MS, (expirySeconds * 1000) / HEARTBEATS);
  const listing = createListing({ store, clock, maxAgeMs });
  return {
    '/register': {
      POST: ({ body }) =>
        checked(parsed(body, readRegistration), async (registration) => {
          const outcome = await store.register(registration);
          const { service, instance } = registration;
          const refusal = refusalOf(outcome, service, limits);
          if (refusal !== null) return refused(507, refusal);
          if (outcome !== 'heartbeat') listing.invalidate(service);
          return answered({ service, instance, outcome, expiresInSeconds: expirySeconds });
        }),
      DELETE: (request) =>
        checked(keyOf(request), async (key) => {
          const isRemoved = await store.deregister(key);
          listing.invalidate(key.service);
          return answered({ ...key, removed: isRemoved });
        }),
    },
    '/instances': {
      GET: ({ url }) =>
        checked(readInstancesQuery(url.searchParams), async ({ service, meta }) => {
          const instances = (await listing.of(service)).filter((instance) => hasMeta(instance, meta));
          return answered({ service, count: instances.length, instances });
        }),
    },
    '/history': {
      GET: ({ url }) =>
        checked(readHistoryQuery(url.searchParams), async (query) => answered(await historyPage(store, query))),
    },
  };
}

/** One entry more than asked for tells whether there is another page. */
async function historyPage(store: RegistryStore, query: HistoryQuery) {
  const found = await store.history({ ...query, limit: query.limit + 1 });
  const page = found.slice(0, query.limit);
  const next = found.length > page.length ? String(page.at(-1)?.id) : null;
  return { count: page.length, entries: page.map(historyDocument), next };
}

function refusalOf(outcome: RegisterOutcome, service: string, { perService, total }: RegistryLimits): string | null {
  if (outcome === 'service_full') return `${quote(service)} has ${perService} instances already, no more are kept`;
  return outcome === 'registry_full' ? `there are ${total} instances already, no more are kept` : null;
}

/** The body names the instance, or, where there is none, the parameters. */
function keyOf({ url, body }: RegistryRequest): Checked<InstanceKey> {
  if (body.trim() !== '') return parsed(body, readInstanceKey);
  return readInstanceKey(Object.fromEntries(url.searchParams));
}

function parsed<T>(body: string, read: (value: unknown) => Checked<T>): Checked<T> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { kind: 'bad', error: body.trim() === '' ? 'the body is missing' : 'the body is not valid JSON' };
  }
  return read(value);
}

async function checked<T>(input: Checked<T>, work: (value: T) => Promise<RegistryResponse>): Promise<RegistryResponse> {
  return input.kind === 'bad' ? refused(400, input.error) : work(input.value);
}

function answered(document: object): RegistryResponse {
  return { status: 200, document };
}

function refused(status: number, error: string): RegistryResponse {
  return { status, document: { error } };
}
