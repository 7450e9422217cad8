// A WebSocket on a stream of HTTP/2 (RFC 8441) as a client has it: the CONNECT, and frames of RFC 6455 in its DATA.
import { once } from 'node:events';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import { waitFor } from './wait-for.ts';

export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;

interface Frame {
  readonly opcode: number;
  readonly content: Buffer;
}

/** The request of a client for a WebSocket at `path`. */
function connectHeaders(path: string, more: OutgoingHttpHeaders = {}): OutgoingHttpHeaders {
  const pseudo = {
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':scheme': 'http',
    ':path': path,
    ':authority': 's',
  };
  return { ...pseudo, 'sec-websocket-version': '13', ...more };
}

/** Asks for one, as soon as the server has announced that it may be. */
export async function connectStream(
  session: ClientHttp2Session,
  path: string,
  more: OutgoingHttpHeaders = {},
): Promise<ClientHttp2Stream> {
  const isAnnounced = () => session.remoteSettings?.enableConnectProtocol === true;
  await waitFor(isAnnounced, { limitMs: 5000, what: 'the announcement of extended CONNECT' });
  const stream = session.request(connectHeaders(path, more), { endStream: false });
  stream.on('error', () => undefined);
  return stream;
}

export class StreamWebSocket {
  readonly stream: ClientHttp2Stream;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly frames: Frame[] = [];
  hasEnded = false;
  #pieces: Buffer[] = [];
  #unreadBytes = 0;
  /** What the frame that has begun needs at least. */
  #neededBytes = 2;

  private constructor(stream: ClientHttp2Stream, headers: Readonly<Record<string, unknown>>) {
    this.stream = stream;
    this.headers = headers;
    stream.on('end', () => {
      this.hasEnded = stream.rstCode === 0;
    });
    this.read();
  }

  /** Resolves with the head of the answer, whatever it is. */
  static async open(
    session: ClientHttp2Session,
    path: string,
    more: OutgoingHttpHeaders = {},
  ): Promise<StreamWebSocket> {
    const stream = await connectStream(session, path, more);
    const [headers] = await once(stream, 'response');
    return new StreamWebSocket(stream, { ...headers });
  }

  read(): void {
    this.stream.on('data', this.#onData);
  }

  send(opcode: number, content: Buffer | string): boolean {
    return this.stream.write(frameOf(opcode, Buffer.from(content)));
  }

  async nth(count: number): Promise<Frame> {
    await waitFor(() => this.frames.length >= count, { limitMs: 10_000, what: `${count} frames` });
    const frame = this.frames[count - 1];
    if (frame === undefined) throw new Error('there is no such frame');
    return frame;
  }

  /** Resolves when the stream is closed, with its code. */
  async closed(): Promise<number> {
    await waitFor(() => this.stream.closed && this.stream.destroyed, { limitMs: 5000, what: 'the end of the stream' });
    return this.stream.rstCode ?? 0;
  }

  readonly #onData = (piece: Buffer): void => {
    this.#pieces.push(piece);
    this.#unreadBytes += piece.length;
    if (this.#unreadBytes < this.#neededBytes) return;
    let octets = Buffer.concat(this.#pieces);
    for (let end = this.#take(octets); end > 0; end = this.#take(octets)) octets = octets.subarray(end);
    this.#pieces = [octets];
    this.#unreadBytes = octets.length;
  };

  /** Takes one frame and returns where it ends; 0 when it is not whole. */
  #take(octets: Buffer): number {
    this.#neededBytes = 2;
    if (octets.length < 2) return 0;
    const short = octets.readUInt8(1);
    const start = short === 127 ? 10 : short === 126 ? 4 : 2;
    this.#neededBytes = start;
    if (octets.length < start) return 0;
    const length = short === 127 ? octets.readUInt32BE(6) : short === 126 ? octets.readUInt16BE(2) : short;
    const end = start + length;
    this.#neededBytes = end;
    if (octets.length < end) return 0;
    this.frames.push({ opcode: octets.readUInt8(0) & 0x0f, content: octets.subarray(start, end) });
    return end;
  }
}

/** One frame of a client that is a whole message, masked with zeros. */
function frameOf(opcode: number, content: Buffer): Buffer {
  const { length } = content;
  const head = Buffer.alloc(14);
  head.writeUInt8(0x80 | opcode, 0);
  let at = 2;
  if (length < 126) {
    head.writeUInt8(0x80 | length, 1);
  } else if (length < 65_536) {
    head.writeUInt8(0x80 | 126, 1);
    at = head.writeUInt16BE(length, 2);
  } else {
    head.writeUInt8(0x80 | 127, 1);
    at = head.writeUInt32BE(length, 6);
  }
  return Buffer.concat([head.subarray(0, at + 4), content]);
}
