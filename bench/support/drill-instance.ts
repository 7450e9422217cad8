// The process behind an instance of a drill: `node drill-instance.ts NAME PORT` behaves as its parent tells it to.
import { createServer, type ServerResponse } from 'node:http';

const BEHAVIOURS = ['well', 'status 503', 'status 500', 'slow', 'hangs', 'resets'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** How long an instance takes when it is well, and when it is slow. */
const WORK_MS = 10;
const SLOW_MS = 20 * WORK_MS;

const CONTENT = 'x'.repeat(2000);

const [name = '', port = '0'] = process.argv.slice(2);
let behaviour: Behaviour = 'well';

const server = createServer((request, response) => {
  request.resume();
  setTimeout(() => answer(response), behaviour === 'slow' ? SLOW_MS : WORK_MS);
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1', () => process.send?.('listening'));

process.on('message', (wanted) => {
  behaviour = BEHAVIOURS.find((each) => each === wanted) ?? behaviour;
  process.send?.(behaviour);
});
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});

function answer(response: ServerResponse): void {
  const fields = { 'Content-Type': 'text/plain', 'Content-Length': CONTENT.length, 'X-Instance': name };
  switch (behaviour) {
    case 'well':
    case 'slow':
      response.writeHead(200, fields).end(CONTENT);
      return;
    case 'status 500':
      response.writeHead(500, fields).end(CONTENT);
      return;
    case 'status 503':
      response.writeHead(503, fields).end(CONTENT);
      return;
    case 'resets':
      response.writeHead(200, fields).write(CONTENT.slice(0, 1000));
      setTimeout(() => response.socket?.resetAndDestroy(), WORK_MS);
      return;
    case 'hangs':
      return;
  }
}
