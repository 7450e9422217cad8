// A bare fast-proxy with kept upstream connections, a process of its own.
import { createServer } from 'node:http';
import { functionOf, importBenchOnly } from './bench-only.ts';

const [port = '0', upstreamPort = '0'] = process.argv.slice(2);
const create = functionOf(await importBenchOnly('fast-proxy'), 'default');
const proxy = functionOf(
  create({ base: `http://127.0.0.1:${upstreamPort}`, undici: { connections: 256, pipelining: 1 } }),
  'proxy',
);
createServer((request, response) => void proxy(request, response, request.url, {})).listen(
  Number(port),
  '127.0.0.1',
  4096,
);
