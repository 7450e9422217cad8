// The service that drills wrap: `weir register … -- node wrapped-server.ts PORT [CLIENT-OPTIONS]`. It prints its process
// ID and what went wrong with calls: given options of `weir/client`, it asks the first of their services for each answer.
import { createServer, type ServerResponse } from 'node:http';
import { createDiscoveryDispatcher } from '../../gateway/client.ts';

const WORK_MS = 5;

const [port = '0', written] = process.argv.slice(2);
const options = written === undefined ? undefined : JSON.parse(written);
const dispatcher = options === undefined ? undefined : createDiscoveryDispatcher(options);
const peer = `http://${options?.services[0]}/called`;

const server = createServer((request, response) => {
  request.resume();
  setTimeout(() => void answer(response), WORK_MS);
});
server.keepAliveTimeout = 60_000;
await dispatcher?.ready();
server.listen(Number(port), '127.0.0.1', () => console.log(`pid ${process.pid}`));

process.once('SIGTERM', () => {
  server.close(() => void dispatcher?.close());
  server.closeIdleConnections();
  process.stdin.destroy();
});
// Whoever started the wrapper is gone, however it ended.
process.stdin.resume().once('end', () => process.exit(1));

/** A call that fails is told to the client as it is. */
async function answer(response: ServerResponse): Promise<void> {
  try {
    if (dispatcher !== undefined) {
      const called = await fetch(peer, { dispatcher });
      const text = await called.text();
      if (!called.ok) throw new Error(`the call was answered ${called.status}: ${text}`);
    }
    response.writeHead(200, { 'Content-Type': 'text/plain' }).end('ok');
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    console.log(`${error}${cause}`);
    response.writeHead(500, { 'Content-Type': 'text/plain' }).end(`${error}${cause}`);
  }
}
