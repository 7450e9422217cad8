// The client of the open-loop stage, a process of its own: requests are due at fixed times, whatever the answers do.
import { connect, type Socket } from 'node:net';
import { dueMs, dueUntil } from '../stats/arrivals.ts';
import { type ClientReport, CURVE_PERCENTILES, type Curve, takeTask } from './client-task.ts';
import { createHistogram, type Histogram } from './histogram.ts';

const END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

const task = takeTask();
const { hostname, port, pathname, search } = new URL(task.url);
const schedule = { perSecond: task.perSecond ?? 1, seconds: task.seconds };
const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
const [fromDue, fromSend] = [await createHistogram(), await createHistogram()];
const idle: Connection[] = [];
let next = 0;
let answered = 0;
let errors = 0;
let isOver = false;
let beganMs = 0;

interface Connection {
  readonly socket: Socket;
  dueAtMs: number;
  sentMs: number;
  isBusy: boolean;
  unread: string;
}

await Promise.all(Array.from({ length: task.connections }, open));
beganMs = performance.now();
const ticks = setInterval(pump, 1);
setTimeout(report, task.seconds * 1000 + (task.graceMs ?? 0));

/** Sends what is due, as far as connections are idle; what finds none is late, and its latency says so. */
function pump(): void {
  const due = dueUntil(performance.now() - beganMs, schedule);
  while (next < due) {
    const connection = idle.pop();
    if (connection === undefined) return;
    connection.dueAtMs = beganMs + dueMs(next++, schedule.perSecond);
    connection.sentMs = performance.now();
    connection.isBusy = true;
    connection.socket.write(request);
  }
}

function open(): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const connection: Connection = { socket, dueAtMs: 0, sentMs: 0, isBusy: false, unread: '' };
  return new Promise((resolve) => {
    socket.on('connect', () => {
      idle.push(connection);
      resolve();
    });
    socket.on('data', (chunk: Buffer) => take(connection, chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (isOver) return;
      if (connection.isBusy) errors++;
      const at = idle.indexOf(connection);
      if (at !== -1) idle.splice(at, 1);
      setTimeout(() => void open(), 10);
    });
  });
}

function take(connection: Connection, chunk: Buffer): void {
  connection.unread += chunk.toString('latin1');
  if (!isWhole(connection.unread)) return;
  const nowMs = performance.now();
  if (connection.unread.startsWith('HTTP/1.1 200')) answered++;
  else errors++;
  fromDue.record((nowMs - connection.dueAtMs) * 1000);
  fromSend.record((nowMs - connection.sentMs) * 1000);
  connection.unread = '';
  connection.isBusy = false;
  idle.push(connection);
  pump();
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf(END);
  if (end === -1) return false;
  const length = LENGTH.exec(answer.slice(0, end))?.[1];
  return length === undefined ? answer.endsWith(`0${END}`) : answer.length >= end + END.length + Number(length);
}

function report(): void {
  isOver = true;
  clearInterval(ticks);
  const whole: ClientReport = {
    requests: answered,
    errors,
    seconds: task.seconds,
    curve: curveOf(fromDue),
    histogram: fromDue.encoded(),
    fromSendCurve: curveOf(fromSend),
    unanswered: Math.max(0, schedule.perSecond * schedule.seconds - answered - errors),
  };
  process.send?.(whole, () => process.exit(0));
}

function curveOf(histogram: Histogram): Curve {
  return CURVE_PERCENTILES.map((percentile) => [percentile, histogram.at(percentile) / 1000]);
}
