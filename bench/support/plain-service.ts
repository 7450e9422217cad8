// A service for drills that answers everything with ok, and keeps its connections for long.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** Listens on any free port of the loopback. */
export async function startService(): Promise<Server> {
  const server = createServer((_request, response) => void response.end('ok'));
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');
  return address.port;
}
