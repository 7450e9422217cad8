// A bare http-proxy-3 with kept upstream connections, a process of its own.
import { Agent, createServer } from 'node:http';
import { createProxyServer } from 'http-proxy-3';

const [port = '0', upstreamPort = '0'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const proxy = createProxyServer({ target: `http://127.0.0.1:${upstreamPort}`, agent, xfwd: true });
proxy.on('error', (_error, _request, response) => {
  if ('writeHead' in response) response.writeHead(502);
  response.end();
});
createServer((request, response) => proxy.web(request, response)).listen(Number(port), '127.0.0.1', 4096);
