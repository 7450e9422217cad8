// A server of this process on a free port of 127.0.0.1, for upstreams that a test scripts itself.
import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';

export interface LocalServer {
  readonly port: number;
  /** Stops listening and cuts every connection. */
  stop(): Promise<void>;
}

/** A server that does with its connections what the test wants. */
export function startTcpServer(onConnection: (socket: Socket) => void): Promise<LocalServer> {
  return start(
    createServer((socket) => {
      socket.on('error', () => undefined);
      onConnection(socket);
    }),
  );
}

/** A server that answers requests as the test wants; `prepare` gets the server before it listens. */
export function startHttpServer(
  onRequest: RequestListener,
  prepare?: (server: HttpServer) => void,
): Promise<LocalServer> {
  const server = createHttpServer(onRequest);
  prepare?.(server);
  return start(server);
}

async function start(server: Server): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    port: address.port,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
