// A raw-socket upstream: records every octet it receives and answers as the test scripts it.

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** One connection that the gateway opened. */
export interface RawConnection {
  readonly socket: Socket;
  /** All that was received so far, as Latin-1 text. */
  received: string;
  /** How many whole request heads were received. */
  heads: number;
  /** Whether the gateway's side has ended. */
  ended: boolean;
}

export interface RawUpstream {
  readonly port: number;
  readonly connections: RawConnection[];
  /** All that was received on all connections, in the order of the connections. */
  received(): string;
  /** Connections that are open at this moment. */
  open(): number;
  stop(): Promise<void>;
}

/** A request head, wherever it begins. */
const HEAD = /(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|PROPFIND) \S+ HTTP\/1\.[01]\r\n[\s\S]*?\r\n\r\n/;

/**
 * Starts an upstream on a free port. `onHead` is called once for each request head with the connection and the head's
 * text; the answer is its business.
 */
export async function startRawUpstream(
  onHead: (connection: RawConnection, head: string) => void,
  port = 0,
): Promise<RawUpstream> {
  const connections: RawConnection[] = [];
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection: RawConnection = { socket, received: '', heads: 0, ended: false };
    connections.push(connection);
    let unread = '';
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      connection.received += text;
      unread += text;
      for (let head = HEAD.exec(unread); head !== null; head = HEAD.exec(unread)) {
        // Content of the request before stands in front of the head.
        unread = unread.slice(head.index + head[0].length);
        connection.heads++;
        onHead(connection, head[0]);
      }
    });
    socket.on('end', () => {
      connection.ended = true;
      socket.end();
    });
    socket.on('error', () => undefined);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the upstream has no port');
  return {
    port: address.port,
    connections,
    received: () => connections.map(({ received }) => received).join(''),
    open: () => connections.filter(({ socket }) => !socket.destroyed).length,
    stop: async () => {
      for (const { socket } of connections) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A script that answers every request with the same octets. */
export function answering(octets: string): (connection: RawConnection) => void {
  return ({ socket }) => void socket.write(octets, 'latin1');
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
