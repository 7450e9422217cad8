// Ports in a row that nothing listens on, below those that the system gives to outgoing connections.
import { once } from 'node:events';
import { createServer } from 'node:net';

const LOWEST = 12_000;
const HIGHEST = 32_000;

/** Where the search goes on: what was given out before may not be listened on yet. */
let next = LOWEST + ((process.pid * 97) % 10_000);

/** `count` free ports, one after the other; none of them is given out twice in a row. */
export async function freeRange(count: number): Promise<readonly number[]> {
  for (let tries = LOWEST; tries < HIGHEST; tries++) {
    if (next + count > HIGHEST) next = LOWEST;
    const ports = Array.from({ length: count }, (_, at) => next + at);
    const taken = await firstTaken(ports);
    next = taken === undefined ? next + count : taken + 1;
    if (taken === undefined) return ports;
  }
  throw new Error(`no ${count} free ports in a row`);
}

async function firstTaken(ports: readonly number[]): Promise<number | undefined> {
  for (const port of ports) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) return port;
    server.close();
    await once(server, 'close');
  }
  return undefined;
}
