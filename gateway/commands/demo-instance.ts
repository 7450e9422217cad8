// A sample instance of the demo: answers who it is, registers itself and says so every few seconds.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const HEARTBEAT_MS = 5000;

const [name = 'hello', weight = '1', registry = ''] = process.argv.slice(2);

const server = createServer((request, response) => {
  const content = `${JSON.stringify({ instance: name, weight: Number(weight), path: request.url })}\n`;
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(content) });
  response.end(content);
});
server.listen(0, '127.0.0.1', () => void register());

async function register(): Promise<void> {
  await tellRegistry('POST');
  process.send?.('registered');
  setInterval(() => void tellRegistry('POST').catch(() => undefined), HEARTBEAT_MS);
}

async function tellRegistry(method: 'POST' | 'DELETE'): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const identity = { service: 'hello-service', instance: name };
  const record = method === 'POST' ? { ...identity, addr: '127.0.0.1', port, meta: { weight } } : identity;
  const headers = { 'Content-Type': 'application/json' };
  await fetch(`${registry}/register`, { method, headers, body: JSON.stringify(record) });
}

process.once('SIGTERM', () => {
  // Out of the registry first; requests that are on their way still get their answer.
  void tellRegistry('DELETE').finally(() => server.close(() => process.exit(0)));
});
// Ctrl-C reaches the whole group: the gateway ends its instances when it has drained.
process.on('SIGINT', () => undefined);
process.once('disconnect', () => process.exit(0));
