// What the HTTP/2 tests share: gateways, sessions and raw clients that end with the test.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import { afterEach } from 'vitest';
import { type Http2Gateway, type Http2GatewayOptions, startHttp2Gateway } from './http2-gateway.ts';
import { RawHttp2Client } from './raw-http2-client.ts';
import { openTls } from './tls-client.ts';
import { waitFor } from './wait-for.ts';

const gateways: Http2Gateway[] = [];
const sessions: ClientHttp2Session[] = [];
const clients: RawHttp2Client[] = [];

/** Call once in a test file: ends everything after each test, and waits until nothing is under way. */
export function endHttp2AfterEach(): void {
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.destroy();
    for (const client of clients.splice(0)) client.close();
    for (const gateway of gateways.splice(0)) {
      const isQuiet = () => gateway.connections() === 0 && gateway.endpoints().every(({ inFlight }) => inFlight === 0);
      await waitFor(isQuiet, { limitMs: 3000, what: 'no connection and no request to be left' });
      await gateway.stop();
    }
  });
}

export async function http2GatewayFor(options: Http2GatewayOptions): Promise<Http2Gateway> {
  const gateway = await startHttp2Gateway(options);
  gateways.push(gateway);
  return gateway;
}

/** A session of node's own client. */
export function sessionTo(port: number, settings = {}): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`, { settings });
  session.on('error', () => undefined);
  sessions.push(session);
  return session;
}

/** The same over TLS, with the authority's certificate checked; the protocol is agreed on by ALPN. */
export function secureSessionTo(port: number, ca: string, settings = {}): ClientHttp2Session {
  // The megabytes that node:http2 lets a session hold, uploads included, before it refuses what comes.
  const session = connect(`https://localhost:${port}`, { ca, host: '127.0.0.1', maxSessionMemory: 1000, settings });
  session.on('error', () => undefined);
  sessions.push(session);
  return session;
}

export async function rawSessionTo(port: number, ...settings: [number, number][]): Promise<RawHttp2Client> {
  const client = await RawHttp2Client.open(port, ...settings);
  clients.push(client);
  return client;
}

/** The same over TLS, whatever the certificate. */
export async function rawSecureSessionTo(port: number, ...settings: [number, number][]): Promise<RawHttp2Client> {
  const client = RawHttp2Client.over(await openTls({ port, ALPNProtocols: ['h2'] }), ...settings);
  clients.push(client);
  return client;
}

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly content: string;
  /** Statuses of interim responses. */
  readonly interim: readonly number[];
  /** The error code that the stream was reset with; 0 when it ended well. */
  readonly resetCode: number;
}

/** Sends a request, by default without content, and resolves when its stream is closed, however that came. */
export function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, content?: string): Promise<Http2Answer> {
  const stream = session.request(headers, { endStream: content === undefined });
  const answer = answerOf(stream);
  if (content !== undefined) stream.end(content);
  return answer;
}

/** Resolves when the stream is closed, however that came. */
export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  let headers: Record<string, unknown> = {};
  let trailers: Record<string, unknown> = {};
  const interim: number[] = [];
  const pieces: Buffer[] = [];
  stream.on('headers', (its) => void interim.push(Number(its[':status'])));
  stream.on('response', (its) => {
    headers = { ...its };
  });
  stream.on('trailers', (its) => {
    trailers = { ...its };
  });
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.on('error', () => undefined);
  return new Promise((resolve) => {
    stream.on('close', () => {
      const content = Buffer.concat(pieces).toString('latin1');
      const status = Number(headers[':status'] ?? 0);
      resolve({ status, headers, trailers, content, interim, resetCode: stream.rstCode ?? 0 });
    });
  });
}
