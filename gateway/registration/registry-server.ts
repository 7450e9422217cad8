// The table registry as a server (SPEC section 9): owns the socket, the store and the clean-up at intervals.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { StoreLocation } from '../config/store-url.ts';
import { formatAddress } from '../core/address.ts';
import { systemClock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { describeLocation, openStore } from './open-store.ts';
import { refusedAccess } from './registry-access.ts';
import { createRegistryHandler, type RegistryHandler, type RegistryResponse } from './registry-routes.ts';
import { readBody } from './request-body.ts';
import type { RegistryLimits, RegistryStore } from './store.ts';

export interface RegistryOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly store: StoreLocation;
  /** What those who write must send as bearer token; '' (the default) lets everybody write. */
  readonly secret?: string;
  readonly log?: Log;
  /** Seconds after its last heartbeat at which an instance is gone (30). */
  readonly expirySeconds?: number;
  /** Most instances (10,000 of a service, 50,000 in all). */
  readonly limits?: RegistryLimits;
}

export interface RunningRegistry {
  readonly url: string;
  readonly port: number;
  /** Refuses new requests, lets running ones end, closes the store. */
  stop(): Promise<void>;
}

const EXPIRY_SECONDS = 30;
const LIMITS: RegistryLimits = { perService: 10_000, total: 50_000 };
const CLEAN_UP_INTERVAL_MS = 10_000;
const MAX_BODY_BYTES = 64 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than the usual interval between two polls or heartbeats, so that those share a connection. */
const KEEP_ALIVE_MS = 30_000;
/** How long a stop waits for requests that are running. */
const STOP_GRACE_MS = 2000;

/**
 * Starts a registry. Rejects when the file of the store cannot be used or the address cannot be listened on; a MySQL
 * server that is not there is answered for with 503 until it is.
 */
export async function startRegistry(options: RegistryOptions): Promise<RunningRegistry> {
  const { host, log, secret = '', expirySeconds = EXPIRY_SECONDS, limits = LIMITS } = options;
  const store = await openStore(options.store, { expirySeconds, limits }, log);
  const handle = createRegistryHandler({ store, expirySeconds, limits, clock: systemClock });
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answerTo(request, { handle, secret }).then(
      (answer) => send(response, answer),
      // The store told the log.
      () => send(response, refusal(503, 'the registry cannot use its database at present')),
    );
  });

  let port: number;
  try {
    port = await listen(server, host, options.port);
  } catch (error) {
    await store.close();
    throw error;
  }
  const stopping = new AbortController();
  const cleaning = cleanUpAtIntervals(store, stopping.signal, log);
  const url = `http://${formatAddress(host, port)}`;
  log?.info({ address: url, store: describeLocation(options.store), hasSecret: secret !== '' }, 'registry listens');
  return {
    url,
    port,
    async stop() {
      stopping.abort();
      await close(server);
      await cleaning;
      await store.close();
    },
  };
}

async function cleanUpAtIntervals(store: RegistryStore, stopping: AbortSignal, log: Log | undefined): Promise<void> {
  while (!stopping.aborted) {
    await store.cleanUp().then(
      (count) => count > 0 && log?.info({ count }, 'registry: instances expired'),
      // The store told the log.
      () => undefined,
    );
    await delay(CLEAN_UP_INTERVAL_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}

interface Answering {
  readonly handle: RegistryHandler;
  readonly secret: string;
}

async function answerTo(request: IncomingMessage, { handle, secret }: Answering): Promise<RegistryResponse> {
  const { method = '' } = request;
  const url = URL.parse(`http://registry${request.url ?? ''}`);
  if (url === null || request.url?.startsWith('/') !== true) return refusal(400, 'the request target is not a path');
  const refused = refusedAccess(request, secret);
  if (refused !== undefined) return refused;
  const body = await readBody(request, MAX_BODY_BYTES);
  switch (body.kind) {
    case 'too_large':
      return refusal(413, `the body is larger than ${MAX_BODY_BYTES} bytes`);
    case 'not_utf8':
      return refusal(400, 'the body is not valid UTF-8');
    case 'broken_off':
      return refusal(400, 'the body broke off');
    case 'text':
      return handle({ method, url, body: body.text });
  }
}

function refusal(status: number, error: string): RegistryResponse {
  return { status, document: { error } };
}

function send(response: ServerResponse, { status, document, fields }: RegistryResponse): void {
  const text = `${JSON.stringify(document)}\n`;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...fields,
    // What was not read of a refused body would be taken for the next request.
    ...(response.req.complete ? {} : { connection: 'close' }),
  });
  response.end(text);
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the registry has no port');
  return address.port;
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
  await closed;
  clearTimeout(timer);
}
