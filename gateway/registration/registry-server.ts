// The table registry as a server (SPEC section 9): owns the socket, the store and the clean-up at intervals.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { formatAddress } from '../core/address.ts';
import { systemClock } from '../core/clock.ts';
import { createRegistryHandler, type RegistryHandler, type RegistryResponse } from './registry-routes.ts';
import { readBody } from './request-body.ts';
import { openSqliteStore } from './sqlite-store.ts';

export interface RegistryOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly store: { readonly kind: 'sqlite'; readonly path: string };
  readonly logger?: RegistryLogger;
  /** Seconds after its last heartbeat at which an instance is gone (30). */
  readonly expirySeconds?: number;
}

interface RegistryLogger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface RunningRegistry {
  readonly url: string;
  readonly port: number;
  /** Refuses new requests, lets running ones end, closes the store. */
  stop(): Promise<void>;
}

const EXPIRY_SECONDS = 30;
const CLEAN_UP_INTERVAL_MS = 10_000;
const MAX_BODY_BYTES = 64 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than the usual interval between two polls, so that those share a connection. */
const KEEP_ALIVE_MS = 30_000;
/** How long a stop waits for requests that are running. */
const STOP_GRACE_MS = 2000;

/** Starts a registry. Rejects when the store cannot be opened or the address cannot be listened on. */
export async function startRegistry(options: RegistryOptions): Promise<RunningRegistry> {
  const { host, store: where, logger, expirySeconds = EXPIRY_SECONDS } = options;
  const store = openSqliteStore({ path: where.path, expirySeconds });
  const cleanUp = () =>
    store.cleanUp().then(
      (count) => count > 0 && logger?.info(`registry: ${count} instances expired`),
      (error: unknown) => logger?.warn(`registry: the clean-up failed: ${messageOf(error)}`),
    );
  const handle = createRegistryHandler({ store, expirySeconds, clock: systemClock });
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => void serve(request, response));
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await answerTo(request, handle).catch((error: unknown): RegistryResponse => {
      logger?.error(`registry: ${request.method ?? '?'} failed: ${messageOf(error)}`);
      return { status: 503, document: { error: 'the registry cannot use its database at present' } };
    });
    send(response, answer);
  }

  let port: number;
  try {
    port = await listen(server, host, options.port);
    await cleanUp();
  } catch (error) {
    await store.close();
    throw error;
  }
  const timer = setInterval(cleanUp, CLEAN_UP_INTERVAL_MS);
  const url = `http://${formatAddress(host, port)}`;
  logger?.info(`registry: listening on ${url}, keeping ${where.path}`);
  return {
    url,
    port,
    async stop() {
      clearInterval(timer);
      await close(server);
      await store.close();
    },
  };
}

async function answerTo(request: IncomingMessage, handle: RegistryHandler): Promise<RegistryResponse> {
  const { method = '', headers } = request;
  const url = URL.parse(`http://registry${request.url ?? ''}`);
  if (url === null || request.url?.startsWith('/') !== true) return refusal(400, 'the request target is not a path');
  // Browsers send Origin with whatever a page makes them write; no page has a service to register.
  if (headers.origin !== undefined && method !== 'GET') return refusal(403, 'not for web pages: Origin is present');
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

function send(response: ServerResponse, { status, document, allow }: RegistryResponse): void {
  const text = `${JSON.stringify(document)}\n`;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...(allow === undefined ? {} : { allow }),
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
