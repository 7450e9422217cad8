// The client of the WebSocket benchmark, a process of its own: each connection sends a message when it has the echo.
import { connect, type Socket } from 'node:net';
import { CURVE_PERCENTILES, takeTask } from './client-task.ts';
import { createHistogram } from './histogram.ts';

/** Octets of text in each message; its frame has two octets before it, and from a client four of a mask. */
const TEXT_BYTES = 100;
const ANSWER_BYTES = 2 + TEXT_BYTES;

const task = takeTask();
const { hostname, port } = new URL(task.url);
const frame = maskedFrame('m'.repeat(TEXT_BYTES));
const histogram = await createHistogram();
let messages = 0;
let errors = 0;
let isOver = false;

const sockets = Array.from({ length: task.connections }, openOne);
setTimeout(report, task.seconds * 1000);

function openOne(): Socket {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let sentMs = 0;
  let unread = 0;
  let head: string | null = '';
  const send = (): void => {
    sentMs = performance.now();
    socket.write(frame);
  };
  socket.on('connect', () => {
    const fields = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13';
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(`GET /socket HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${fields}\r\n${key}\r\n\r\n`);
  });
  socket.on('data', (chunk: Buffer) => {
    if (head !== null) {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      if (!head.startsWith('HTTP/1.1 101')) socket.destroy(new Error(head));
      else send();
      head = null;
      return;
    }
    unread += chunk.length;
    if (unread < ANSWER_BYTES || isOver) return;
    unread -= ANSWER_BYTES;
    messages++;
    histogram.record((performance.now() - sentMs) * 1000);
    send();
  });
  socket.on('error', () => {
    if (!isOver) errors++;
  });
  socket.on('close', () => {
    if (!isOver) errors++;
  });
  return socket;
}

function report(): void {
  isOver = true;
  const curve = CURVE_PERCENTILES.map((percentile) => [percentile, histogram.at(percentile) / 1000]);
  process.send?.({ requests: messages, errors, seconds: task.seconds, curve, histogram: histogram.encoded() });
  for (const socket of sockets) socket.destroy();
  process.disconnect?.();
}

function maskedFrame(text: string): Buffer {
  const mask = [1, 2, 3, 4];
  const payload = Buffer.from(text).map((octet, at) => octet ^ (mask[at & 3] ?? 0));
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, ...mask]), payload]);
}
