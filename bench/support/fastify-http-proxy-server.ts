// A bare @fastify/http-proxy, a process of its own.
import { call, functionOf, importBenchOnly } from './bench-only.ts';

const [port = '0', upstreamPort = '0'] = process.argv.slice(2);
const fastify = functionOf(await importBenchOnly('fastify'), 'default');
const plugin = functionOf(await importBenchOnly('@fastify/http-proxy'), 'default');
const server = fastify({ logger: false, bodyLimit: 2 ** 30 });
call(server, 'register', plugin, {
  upstream: `http://127.0.0.1:${upstreamPort}`,
  websocket: true,
  undici: { connections: 256, pipelining: 1 },
});
await call(server, 'listen', { port: Number(port), host: '127.0.0.1', backlog: 4096 });
