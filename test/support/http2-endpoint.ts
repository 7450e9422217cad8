// An HTTP/2 service on a free port: plain, or over TLS with a given pair; it ends with the test.
import { once } from 'node:events';
import {
  createSecureServer,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type SessionOptions,
} from 'node:http2';
import type { Server } from 'node:net';
import { afterEach } from 'vitest';
import type { SignedPair } from './certificates.ts';

export interface Http2EndpointOptions {
  readonly port?: number;
  readonly pair?: Pick<SignedPair, 'cert' | 'key'>;
  /** What it tells its clients and how strict it is. */
  readonly session?: SessionOptions;
}

export interface Http2Endpoint {
  readonly port: number;
  /** Every session that was opened, the closed ones too. */
  readonly sessions: ServerHttp2Session[];
  /** Every request's fields, in the order of their coming. */
  readonly requests: IncomingHttpHeaders[];
  /** Cuts every connection, and takes no more. */
  stop(): Promise<void>;
}

export type Answering = (stream: ServerHttp2Stream, fields: IncomingHttpHeaders, session: ServerHttp2Session) => void;

const running: Http2Endpoint[] = [];

/** Call once in a test file: ends every endpoint after each test. */
export function endHttp2EndpointsAfterEach(): void {
  afterEach(async () => {
    for (const endpoint of running.splice(0)) await endpoint.stop();
  });
}

export async function http2Endpoint(answer: Answering, options: Http2EndpointOptions = {}): Promise<Http2Endpoint> {
  const { port = 0, pair, session: sessionOptions = {} } = options;
  const sessions: ServerHttp2Session[] = [];
  const requests: IncomingHttpHeaders[] = [];
  const server = pair === undefined ? createServer(sessionOptions) : createSecureServer({ ...sessionOptions, ...pair });
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => undefined);
    session.on('stream', (stream, fields) => {
      requests.push(fields);
      stream.on('error', () => undefined);
      answer(stream, fields, session);
    });
  });
  server.on('sessionError', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = { port: portOf(server), sessions, requests, stop: () => stop(server, sessions) };
  running.push(endpoint);
  return endpoint;
}

async function stop(server: Server, sessions: readonly ServerHttp2Session[]): Promise<void> {
  for (const session of sessions) session.destroy();
  if (!server.listening) return;
  server.close();
  await once(server, 'close');
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the endpoint has no port');
  return address.port;
}
