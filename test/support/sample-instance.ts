// The process behind a sample service: `node sample-instance.ts NAME PORT` answers who it is until its parent is gone,
// and to `?holdMs=N` after that time.
import { createServer } from 'node:http';

const [name = '', port = '0'] = process.argv.slice(2);

let requests = 0;
const server = createServer((request, response) => {
  requests += 1;
  request.resume();
  const holdMs = Number(/[?&]holdMs=(\d+)/.exec(request.url ?? '')?.[1] ?? 0);
  const body = JSON.stringify({ instance: name, path: request.url, headers: request.headers });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const answer = () => response.writeHead(200, { ...headers, 'X-Instance': name }).end(body);
  if (holdMs === 0) answer();
  else setTimeout(answer, holdMs);
});
server.listen(Number(port), '127.0.0.1', () => process.send?.('listening'));

process.on('message', () => process.send?.(requests));
process.once('disconnect', () => process.exit(0));
