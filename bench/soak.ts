// The soak: good, bad and aborted traffic at once; no good client may see an error, no worker may end, nothing may leak.
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { type DrillGateway, startGateway } from './support/gateway.ts';
import { residentMiB } from './support/process.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1800' },
    port: { type: 'string', default: '18180' },
    'admin-port': { type: 'string', default: '18181' },
  },
});

const GOOD_CLIENTS = 20;
const BAD_CLIENTS = 10;
const ABORTING_CLIENTS = 10;

/** Messages that break a rule, each in another way. */
const BAD_MESSAGES: readonly string[] = [
  'GET / HTTP/1.1\n\n',
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/9.9\r\nHost: s\r\n\r\n',
  'GET /%zz HTTP/1.1\r\nHost: s\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: s\r\nX : y\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: s\r\nX: a\x00b\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: s\r\nContent-Length: x\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'POST / HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: s\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: s\r\n${'X: y\r\n'.repeat(500)}\r\n`,
  'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
];

const counts = { good: 0, goodErrors: 0, bad: 0, badAccepted: 0, aborted: 0 };
const failures = new Map<string, number>();
let isOver = false;

const services = await Promise.all([startService(), startService()]);
const gateway = await startGateway({
  port: Number(values.port),
  adminPort: Number(values['admin-port']),
  workers: 2,
  routes: {
    soak: {
      service: 'soak',
      endpoints: services.map(({ port }) => `127.0.0.1:${port}`),
      match: [{ paths: ['/*'] }],
    },
  },
});

try {
  process.exitCode = await soak(gateway, Number(values.seconds));
} finally {
  await gateway.stop();
  for (const { close } of services) close();
}

async function soak(target: DrillGateway, seconds: number): Promise<number> {
  const clients = [
    ...Array.from({ length: GOOD_CLIENTS }, (_, at) => goodClient(target.port, at)),
    ...Array.from({ length: BAD_CLIENTS }, (_, at) => badClient(target.port, at)),
    ...Array.from({ length: ABORTING_CLIENTS }, (_, at) => abortingClient(target.port, at)),
  ];
  const memory: number[] = [];
  const rounds = 6;
  for (let round = 1; round <= rounds; round++) {
    await delay((seconds * 1000) / rounds);
    memory.push(Math.round(residentMiB(target.pid)));
    console.log(`${Math.round((seconds * round) / rounds)} s: ${JSON.stringify(counts)}, RSS ${memory.at(-1)} MiB`);
  }
  isOver = true;
  await Promise.all(clients);
  const left = await settled(target);
  const restarts = await target.metric('weir_worker_restarts_total');
  console.log(`left: ${JSON.stringify(left)}, worker restarts ${restarts}, RSS ${memory.join(' → ')} MiB`);
  for (const [what, count] of failures) console.log(`good client's error: ${count} × ${what}`);
  const isGood = counts.goodErrors === 0 && counts.badAccepted === 0 && restarts === 0 && left.inFlight === 0;
  const verdict = isGood && left.downstream === 0 ? 'passed' : 'FAILED';
  console.log(`soak ${verdict}: ${counts.good} good, ${counts.bad} bad and ${counts.aborted} aborted requests`);
  return verdict === 'passed' ? 0 : 1;
}

/** What is still open when every client has gone. */
async function settled(target: DrillGateway): Promise<{ inFlight: number; downstream: number }> {
  for (let attempt = 0; ; attempt++) {
    const inFlight = await target.metric('weir_requests_in_flight');
    const downstream = await target.metric('weir_connections{side="downstream"}');
    if ((inFlight === 0 && downstream === 0) || attempt > 100) return { inFlight, downstream };
    await delay(100);
  }
}

/** Gets, posts and downloads, and checks every octet that comes back. */
async function goodClient(port: number, seed: number): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1, pipelining: 1 });
  for (let at = seed; !isOver; at++) {
    const size = [0, 10, 1000, 70_000, 300_000][at % 5] ?? 0;
    const content = String.fromCharCode(97 + (at % 26)).repeat(size);
    try {
      const { statusCode, body } = await pool.request(
        size === 0 ? { path: `/get?${at}`, method: 'GET' } : { path: '/echo', method: 'POST', body: content },
      );
      const answer = await body.text();
      if (statusCode !== 200 || answer !== (size === 0 ? 'hello' : content)) throw new Error(`status ${statusCode}`);
      counts.good++;
    } catch (error) {
      counts.goodErrors++;
      const what = error instanceof Error ? error.message : String(error);
      failures.set(what, (failures.get(what) ?? 0) + 1);
    }
    await delay(at % 7);
  }
  await pool.close();
}

/** Breaks a rule and expects to be refused. */
async function badClient(port: number, seed: number): Promise<void> {
  for (let at = seed; !isOver; at++) {
    const message = BAD_MESSAGES[at % BAD_MESSAGES.length] ?? '';
    const answer = await talk(port, (socket) => void socket.end(message, 'latin1'));
    counts.bad++;
    if (answer.startsWith('HTTP/1.1 200')) counts.badAccepted++;
    await delay(10);
  }
}

/** Leaves in the middle: of a head, an upload, a wait, a download. */
async function abortingClient(port: number, seed: number): Promise<void> {
  const beginnings = [
    'GET /slow HTTP/1.1\r\nHost: s\r\n\r\n',
    'GET /large HTTP/1.1\r\nHost: s\r\n\r\n',
    'POST /echo HTTP/1.1\r\nHost: s\r\nContent-Length: 100000\r\n\r\nabc',
    'POST /echo HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
    'GET /unfinished HT',
  ];
  for (let at = seed; !isOver; at++) {
    const isReset = at % 2 === 0;
    await talk(port, (socket) => {
      socket.write(beginnings[at % beginnings.length] ?? '');
      setTimeout(() => (isReset ? socket.resetAndDestroy() : socket.destroy()), at % 40);
    });
    counts.aborted++;
  }
}

function talk(port: number, act: (socket: Socket) => void): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    socket.on('connect', () => act(socket));
    socket.on('data', (piece) => {
      if (answer.length < 1000) answer += piece.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

async function startService(): Promise<{ port: number; close: () => void }> {
  const large = Buffer.alloc(5_000_000, 'x');
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    if (request.url === '/slow') setTimeout(() => response.end('slow'), 300);
    else if (request.url === '/large') response.end(large);
    else if (request.method === 'POST') request.pipe(response);
    else response.end('hello');
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => void server.close().closeAllConnections() };
}
