// What each address of the table registry does: a checked request in, a status and a document out.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import { type Checked, hasMeta, readInstanceKey, readInstancesQuery, readRegistration } from './registry-requests.ts';
import type { InstanceKey, ListedInstance, RegistryStore } from './store.ts';

/** A request whose body was read; '' when it had none. */
interface RegistryRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

export interface RegistryResponse {
  readonly status: number;
  readonly document: unknown;
  /** The methods of the address, for the Allow field of a 405. */
  readonly allow?: string;
}

export type RegistryHandler = (request: RegistryRequest) => Promise<RegistryResponse>;

/** Longest time an answer may be repeated, in milliseconds, and most services whose answers are kept. */
const CACHE_MS = 3000;
const CACHED_SERVICES = 1000;

export interface RegistryHandlerOptions {
  readonly store: RegistryStore;
  /** Told to those who register: how long they are listed without another heartbeat. */
  readonly expirySeconds: number;
  readonly clock: Clock;
}

/** Makes the handler of all addresses. A change made through it is seen at once; one made elsewhere within 3 s. */
export function createRegistryHandler({ store, expirySeconds, clock }: RegistryHandlerOptions): RegistryHandler {
  const listing = createListing(store, clock);
  const routes: Readonly<Record<string, Readonly<Record<string, RegistryHandler>>>> = {
    '/register': {
      POST: ({ body }) =>
        checked(parsed(body, readRegistration), async (registration) => {
          const outcome = await store.register(registration);
          if (outcome !== 'heartbeat') listing.invalidate(registration.service);
          const { service, instance } = registration;
          return { service, instance, outcome, expiresInSeconds: expirySeconds };
        }),
      DELETE: (request) =>
        checked(keyOf(request), async (key) => {
          const isRemoved = await store.deregister(key);
          listing.invalidate(key.service);
          return { ...key, removed: isRemoved };
        }),
    },
    '/instances': {
      GET: ({ url }) =>
        checked(readInstancesQuery(url.searchParams), async ({ service, meta }) => {
          const instances = (await listing.of(service)).filter((instance) => hasMeta(instance, meta));
          return { service, count: instances.length, instances };
        }),
    },
  };
  return async (request) => {
    const { pathname } = request.url;
    const methods = Object.hasOwn(routes, pathname) ? routes[pathname] : undefined;
    if (methods === undefined) return { status: 404, document: { error: 'there is /register and /instances' } };
    // Node leaves out the body of an answer to HEAD.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (handler !== undefined) return handler(request);
    const allow = Object.keys(methods).flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
    return { status: 405, document: { error: `${pathname} takes ${allow.join(', ')}` }, allow: allow.join(', ') };
  };
}

/** The instances of services, remembered for a short time. */
function createListing(store: RegistryStore, clock: Clock) {
  const cache = new LRUCache<string, readonly ListedInstance[]>({
    max: CACHED_SERVICES,
    ttl: CACHE_MS,
    ttlResolution: 0,
    perf: { now: clock.nowMs },
  });
  let changes = 0;
  return {
    async of(service: string): Promise<readonly ListedInstance[]> {
      const known = cache.get(service);
      if (known !== undefined) return known;
      const changesBefore = changes;
      const instances = await store.list(service);
      // What was read before a change must not be remembered after it.
      if (changes === changesBefore) cache.set(service, instances);
      return instances;
    },
    invalidate(service: string): void {
      changes += 1;
      cache.delete(service);
    },
  };
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

async function checked<T>(input: Checked<T>, work: (value: T) => Promise<unknown>): Promise<RegistryResponse> {
  if (input.kind === 'bad') return { status: 400, document: { error: input.error } };
  return { status: 200, document: await work(input.value) };
}
