// Memory: what idle connections cost, and that a slow reader or a slow endpoint makes the gateway hold nothing.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startGateway } from './support/gateway.ts';
import { residentMiB } from './support/process.ts';

const PORT = 18_280;
const IDLE_CONNECTIONS = 10_000;
const TRANSFER_BYTES = 1024 ** 3;
/** How long a transfer at 1 MiB/s is watched: memory that grows does so from the first second. */
const WATCHED_SECONDS = 20;
const PIECE = Buffer.alloc(64 * 1024, 'x');

const service = await startService();
const gateway = await startGateway({
  port: PORT,
  adminPort: PORT + 1,
  workers: 1,
  routes: {
    memory: {
      service: 'memory',
      endpoints: [`127.0.0.1:${(service.address() as AddressInfo).port}`],
      match: [{ paths: ['/*'] }],
      body: '2GiB',
    },
  },
});

try {
  await warmUp();
  await idleConnections();
  await transfer('a 1 GiB download to a client that reads 1 MiB/s', async (socket) => {
    socket.write('GET /download HTTP/1.1\r\nHost: s\r\n\r\n');
    readSlowly(socket);
  });
  await transfer('a 1 GiB upload to an endpoint that reads 1 MiB/s', async (socket) => {
    socket.write(`POST /upload HTTP/1.1\r\nHost: s\r\nContent-Length: ${TRANSFER_BYTES}\r\n\r\n`);
    writeAll(socket, TRANSFER_BYTES);
  });
  await abortedRequests();
} finally {
  await gateway.stop();
  service.close();
}

async function warmUp(): Promise<void> {
  for (let at = 0; at < 2000; at++) await ask('GET /small HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n');
}

async function idleConnections(): Promise<void> {
  const before = residentMiB(gateway.pid);
  const sockets: Socket[] = [];
  for (let at = 0; at < IDLE_CONNECTIONS; at += 100) {
    const batch = Array.from({ length: 100 }, () => connect({ port: PORT, host: '127.0.0.1' }));
    await Promise.all(batch.map((socket) => once(socket, 'connect')));
    for (const socket of batch) socket.write('GET /small HTTP/1.1\r\nHost: s\r\n\r\n');
    await Promise.all(batch.map((socket) => once(socket, 'data')));
    sockets.push(...batch);
  }
  const after = residentMiB(gateway.pid);
  report(`${IDLE_CONNECTIONS} idle kept connections`, before, after, 150);
  for (const socket of sockets) socket.destroy();
  await untilQuiet();
}

async function transfer(what: string, begin: (socket: Socket) => Promise<void>): Promise<void> {
  const before = residentMiB(gateway.pid);
  const socket = connect({ port: PORT, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  await begin(socket);
  let most = before;
  for (let second = 0; second < WATCHED_SECONDS * 2; second++) {
    await delay(500);
    most = Math.max(most, residentMiB(gateway.pid));
  }
  report(`${what}, ${WATCHED_SECONDS} s of it`, before, most, 32);
  socket.destroy();
  await untilQuiet();
}

async function abortedRequests(): Promise<void> {
  const memory: number[] = [];
  for (let round = 0; round < 5; round++) {
    for (let at = 0; at < 1000; at += 50) {
      const batch = Array.from({ length: 50 }, () => connect({ port: PORT, host: '127.0.0.1' }));
      await Promise.all(batch.map((socket) => once(socket, 'connect')));
      for (const socket of batch) socket.write('GET /download HTTP/1.1\r\nHost: s\r\n\r\n');
      await Promise.all(batch.map((socket) => once(socket, 'data')));
      for (const socket of batch) socket.resetAndDestroy();
    }
    await untilQuiet();
    memory.push(Math.round(residentMiB(gateway.pid)));
  }
  const open = await gateway.metric('weir_connections');
  console.log(`1,000 aborted downloads, five rounds: RSS ${memory.join(' → ')} MiB, ${open} connections left`);
}

/** Waits until nothing is in flight and no client is connected. */
async function untilQuiet(): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const inFlight = await gateway.metric('weir_requests_in_flight');
    const downstream = await gateway.metric('weir_connections{side="downstream"}');
    if (inFlight === 0 && downstream === 0) return;
    await delay(100);
  }
  throw new Error('requests or connections are left');
}

function report(what: string, before: number, after: number, allowedMiB: number): void {
  const grown = after - before;
  const verdict = grown < allowedMiB ? 'ok' : 'TOO MUCH';
  console.log(`${what}: +${grown.toFixed(1)} MiB (from ${before.toFixed(0)}), allowed ${allowedMiB}: ${verdict}`);
  if (grown >= allowedMiB) process.exitCode = 1;
}

function readSlowly(socket: Socket): void {
  socket.pause();
  const timer = setInterval(() => socket.read(1024 * 102), 100);
  socket.on('close', () => clearInterval(timer));
}

function writeAll(socket: Socket, bytes: number): void {
  let left = bytes;
  const push = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= PIECE.length;
      if (!socket.write(PIECE)) return;
    }
  };
  socket.on('drain', push);
  push();
}

function ask(request: string): Promise<void> {
  const socket = connect({ port: PORT, host: '127.0.0.1' }, () => socket.write(request));
  socket.resume();
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
  });
}

async function startService(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      const text = piece.toString('latin1', 0, 20);
      if (text.startsWith('GET /small')) {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
      } else if (text.startsWith('GET /download')) {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${TRANSFER_BYTES}\r\n\r\n`);
        writeAll(socket, TRANSFER_BYTES);
      } else if (text.startsWith('POST /upload')) {
        socket.removeAllListeners('data');
        readSlowly(socket);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
