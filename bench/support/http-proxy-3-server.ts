// A bare http-proxy-3 with kept upstream connections, a process of its own.
import { Agent, createServer } from 'node:http';
import { createProxyServer } from 'http-proxy-3';

const [port = '0', upstreamPort = '0'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const target = `http://127.0.0.1:${upstreamPort}`;
const proxy = createProxyServer({ target, agent, xfwd: true });
const tunnel = createProxyServer({ target, xfwd: true });
proxy.on('error', (_error, _request, response) => {
  if ('writeHead' in response) response.writeHead(502);
  response.end();
});
tunnel.on('error', (_error, _request, socket) => socket.end());
createServer((request, response) => proxy.web(request, response))
  .on('upgrade', (request, socket, head) => tunnel.ws(request, socket, head))
  .listen(Number(port), '127.0.0.1', 4096);
