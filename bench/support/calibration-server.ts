// The calibration loop of the guard, a process of its own: a relay reduced to what any relay must do, which never changes.
// It finds and splits the head of each request, copies it, writes it to a kept upstream connection, and copies the answer
// back. What a machine, a kernel or a version of Node makes slower, it makes slower here as well: do not improve it.
import { connect, createServer, type Socket } from 'node:net';

const [port = '0', upstreamPort = '0'] = process.argv.slice(2);
const END = Buffer.from('\r\n\r\n');
const idle: Upstream[] = [];

interface Upstream {
  readonly socket: Socket;
  client: Socket | undefined;
}

createServer({ noDelay: true }, serve).listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 });

/** One request at a time, as the load of the guard sends them. */
function serve(client: Socket): void {
  let rest = Buffer.alloc(0);
  let upstream: Upstream | undefined;
  /** Octets of content that still belong to the request. */
  let owed = 0;
  client.on('error', () => client.destroy());
  client.on('data', (chunk: Buffer) => {
    if (owed > 0) {
      owed -= chunk.length;
      upstream?.socket.write(Buffer.from(chunk));
      return;
    }
    const unread = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = unread.indexOf(END);
    if (end === -1) {
      rest = Buffer.from(unread);
      return;
    }
    rest = Buffer.alloc(0);
    const head = unread.toString('latin1', 0, end);
    const content = unread.subarray(end + END.length);
    owed = lengthIn(head) - content.length;
    upstream = idle.pop() ?? open();
    upstream.client = client;
    upstream.socket.write(Buffer.from(`${rewritten(head)}\r\n\r\n`, 'latin1'));
    if (content.length > 0) upstream.socket.write(Buffer.from(content));
  });
}

/** The head with its fields taken apart, and put together with one more. */
function rewritten(head: string): string {
  const [line = '', ...fields] = head.split('\r\n');
  const pairs = fields.map((field): [string, string] => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
  });
  const all = new Map(pairs);
  all.delete('connection');
  all.set('x-forwarded-for', '127.0.0.1');
  return [line, ...[...all].map(([name, value]) => `${name}: ${value}`)].join('\r\n');
}

function open(): Upstream {
  const upstream: Upstream = {
    socket: connect({ port: Number(upstreamPort), host: '127.0.0.1', noDelay: true }),
    client: undefined,
  };
  let awaited = 0;
  upstream.socket.on('error', () => upstream.socket.destroy());
  upstream.socket.on('data', (chunk: Buffer) => {
    upstream.client?.write(Buffer.from(chunk));
    if (awaited === 0) awaited = lengthOf(chunk);
    awaited -= chunk.length;
    if (awaited > 0) return;
    awaited = 0;
    upstream.client = undefined;
    idle.push(upstream);
  });
  return upstream;
}

/** Octets of the whole answer whose first chunk this is. */
function lengthOf(chunk: Buffer): number {
  const end = chunk.indexOf(END);
  return end + END.length + lengthIn(chunk.toString('latin1', 0, end));
}

function lengthIn(head: string): number {
  return Number(/\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? '0');
}
