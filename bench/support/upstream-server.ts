// The upstream of the benchmarks, a process of its own: answers as cheaply as this language can.
// `node upstream-server.ts PORT [BYTES [PORTS]]` listens on PORTS ports in a row, the first of which is PORT.
import { createServer, type Socket } from 'node:net';

const [port = '0', bytes = '100', ports = '1'] = process.argv.slice(2);
const content =
  bytes === '100'
    ? JSON.stringify({ id: 4711, state: 'shipped', items: ['a', 'b'], note: 'x'.repeat(42) })
    : 'x'.repeat(Number(bytes));
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${content.length}\r\n\r\n${content}`,
);
const END = Buffer.from('\r\n\r\n');
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Several sockets: the event loop takes one connection from each in a turn. */
const LISTENING_SOCKETS = Math.max(16, Number(ports));

for (let at = 0; at < LISTENING_SOCKETS; at++) {
  createServer({ noDelay: true }, serve).listen({
    port: Number(port) + (at % Number(ports)),
    host: '127.0.0.1',
    reusePort: true,
    backlog: 4096,
  });
}

function serve(socket: Socket): void {
  /** Octets of content that still belong to the request before. */
  let owed = 0;
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    let unread = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const skipped = Math.min(owed, unread.length);
      owed -= skipped;
      unread = unread.subarray(skipped);
      const end = owed > 0 ? -1 : unread.indexOf(END);
      if (end === -1) break;
      const length = LENGTH.exec(unread.toString('latin1', 0, end));
      owed = length === null ? 0 : Number(length[1]);
      unread = unread.subarray(end + 4);
      const isWhole = owed <= unread.length;
      if (isWhole) socket.write(answer);
      else awaitContent();
    }
    rest = Buffer.from(unread);
  });
  /** A request whose content is not here yet is answered when it is. */
  function awaitContent(): void {
    const check = (): void => {
      if (owed > 0) return;
      socket.off('data', check);
      socket.write(answer);
    };
    socket.on('data', check);
  }
  socket.on('error', () => socket.destroy());
}
