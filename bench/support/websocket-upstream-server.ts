// The upstream of the WebSocket benchmark, a process of its own: echoes small text frames.
import { createHash } from 'node:crypto';
import { createServer, type Socket } from 'node:net';

const [port = '0'] = process.argv.slice(2);
const END = Buffer.from('\r\n\r\n');
const KEY = /\r\nsec-websocket-key: *([^\r]+)/i;
/** RFC 6455, section 1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** A client's frame of up to 125 octets: two octets, four of the mask, the payload. */
const CLIENT_HEAD_BYTES = 6;

createServer({ noDelay: true }, serve).listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 });

function serve(socket: Socket): void {
  let rest = Buffer.alloc(0);
  let isOpen = false;
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    if (!isOpen) {
      const end = rest.indexOf(END);
      if (end === -1) return;
      const key = KEY.exec(rest.toString('latin1', 0, end))?.[1] ?? '';
      const accept = createHash('sha1').update(`${key.trim()}${ACCEPT_SUFFIX}`).digest('base64');
      const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}`;
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n\r\n`);
      rest = rest.subarray(end + END.length);
      isOpen = true;
    }
    rest = echo(socket, rest);
  });
}

/** Answers the whole frames, and gives what is left. */
function echo(socket: Socket, unread: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  let left = unread;
  while (left.length >= 2) {
    const length = (left[1] ?? 0) & 0x7f;
    if (left.length < CLIENT_HEAD_BYTES + length) return left;
    const isClose = ((left[0] ?? 0) & 0x0f) === 8;
    if (isClose) {
      socket.end();
      return Buffer.alloc(0);
    }
    const frame = Buffer.allocUnsafe(2 + length);
    frame[0] = left[0] ?? 0;
    frame[1] = length;
    for (let at = 0; at < length; at++) {
      frame[2 + at] = (left[CLIENT_HEAD_BYTES + at] ?? 0) ^ (left[2 + (at & 3)] ?? 0);
    }
    socket.write(frame);
    left = left.subarray(CLIENT_HEAD_BYTES + length);
  }
  return left;
}
