// An endpoint that writes the HTTP/2 frames the test says, and keeps those that come; it ends with the test.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { FLAG, FRAME, type Frame, frame, PREFACE, settings, takeFrames } from './http2-frames.ts';

/** One connection that the gateway opened. */
export interface RawHttp2Connection {
  readonly socket: Socket;
  readonly frames: Frame[];
  send(...frames: readonly Buffer[]): void;
}

export interface RawHttp2Endpoint {
  readonly port: number;
  readonly connections: RawHttp2Connection[];
  /** The frames of a type on all connections, in the order of the connections. */
  frames(type: number): Frame[];
  stop(): Promise<void>;
}

export interface RawHttp2Options {
  readonly port?: number;
  /** What each connection begins with; null for silence. */
  readonly greeting?: Buffer | null;
}

const running: RawHttp2Endpoint[] = [];

/** Call once in a test file: ends every endpoint after each test. */
export function endRawHttp2EndpointsAfterEach(): void {
  afterEach(async () => {
    for (const endpoint of running.splice(0)) await endpoint.stop();
  });
}

/** `onFrame` is called for every frame behind the preface; settings are acknowledged before. */
export async function rawHttp2Endpoint(
  onFrame: (connection: RawHttp2Connection, frame: Frame) => void,
  { port = 0, greeting = settings() }: RawHttp2Options = {},
): Promise<RawHttp2Endpoint> {
  const connections: RawHttp2Connection[] = [];
  const server = createServer((socket) => {
    const frames: Frame[] = [];
    const send = (...octets: readonly Buffer[]): void => void socket.write(Buffer.concat(octets));
    const connection = { socket, frames, send };
    connections.push(connection);
    let unread: Buffer = Buffer.alloc(0);
    let hasPreface = false;
    if (greeting !== null) send(greeting);
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => {
      unread = Buffer.concat([unread, piece]);
      if (!hasPreface && unread.length < PREFACE.length) return;
      if (!hasPreface) unread = unread.subarray(PREFACE.length);
      hasPreface = true;
      const known = frames.length;
      unread = takeFrames(unread, frames);
      for (const each of frames.slice(known)) {
        if (greeting !== null && each.type === FRAME.settings && each.flags === 0)
          send(frame(FRAME.settings, FLAG.ack, 0));
        onFrame(connection, each);
      }
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the endpoint has no port');
  const endpoint = {
    port: address.port,
    connections,
    frames: (type: number) => connections.flatMap(({ frames }) => frames.filter((each) => each.type === type)),
    stop: async () => {
      for (const { socket } of connections) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
  running.push(endpoint);
  return endpoint;
}

/** A script that answers every request with these frames. */
export function onRequest(
  answer: (streamId: number, connection: RawHttp2Connection) => readonly Buffer[],
): (connection: RawHttp2Connection, frame: Frame) => void {
  return (connection, { type, streamId }) => {
    if (type === FRAME.headers) connection.send(...answer(streamId, connection));
  };
}
