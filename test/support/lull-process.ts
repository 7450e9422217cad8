// Data planes that have much to do, one after the other, then nothing, and collect: `node --trace-opt --trace-deopt
// lull-process.ts PAIR…`, each pair what its clients and its endpoint speak, as in `http:h2c`; clients that
// `put` speak HTTP/1.1 and send content. V8 writes to the standard output which functions it compiles, and after the
// first line `lull` which of them it forgets.
import { once } from 'node:events';
import { createServer as createHttp2Server, connect as openSession, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { collect } from './collect.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

const CLIENTS = 64;
/** Of each HTTP/2 client at a time. */
const STREAMS = 16;
const REQUESTS_EACH = 400;
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
const GET = 'GET /orders/4711 HTTP/1.1\r\nHost: shop.example\r\nAccept: */*\r\n\r\n';
const PUT = 'PUT /orders/4711 HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 15\r\n\r\n{"state":"new"}';

const gateways: TestGateway[] = [];
for (const pair of process.argv.slice(2)) {
  await haveMuchToDo(pair);
  process.stdout.write('lull\n');
}
// What is freed in one collection can be the last that held something else.
for (let collections = 0; collections < 3; collections++) {
  collect();
  await turn();
}
for (const gateway of gateways) await gateway.stop();

async function haveMuchToDo(pair: string): Promise<void> {
  const [client, protocol] = pair.split(':');
  const endpoint = protocol === 'h2c' ? createHttp2Server() : createServer();
  endpoint.on('stream', answerStream).on('connection', (socket) => protocol === 'http' && answer(socket));
  await once(endpoint.listen(0, '127.0.0.1'), 'listening');
  const { port } = endpoint.address() as AddressInfo;
  const gateway = await startTestGateway({
    endpoints: [port],
    listener: { http2: client === 'h2c' },
    route: { protocol },
  });
  gateways.push(gateway);
  if (client === 'h2c') await Promise.all(Array.from({ length: CLIENTS / STREAMS }, () => runSession(gateway.port)));
  else await Promise.all(Array.from({ length: CLIENTS }, () => runClient(gateway.port, client === 'put' ? PUT : GET)));
  gateway.update([]);
  while (gateway.connections().downstream + gateway.connections().upstream > 0) await turn();
  endpoint.close();
}

async function runClient(port: number, request: string): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  let answered = 0;
  socket.on('data', () => (++answered < REQUESTS_EACH ? socket.write(request) : socket.end()));
  socket.write(request);
  await once(socket, 'close');
}

async function runSession(port: number): Promise<void> {
  const session = openSession(`http://127.0.0.1:${port}`);
  const runStream = async () => {
    for (let at = 0; at < REQUESTS_EACH; at++) {
      await once(session.request({ ':path': '/orders/4711' }).resume(), 'close');
    }
  };
  await Promise.all(Array.from({ length: STREAMS }, runStream));
  session.destroy();
}

function answer(socket: NodeJS.ReadWriteStream): void {
  socket.on('data', () => socket.write(ANSWER));
}

function answerStream(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200 });
  stream.end('{}');
}
