// An HTTP/2 client that writes the frames the test says, and keeps those that come back.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FLAG, FRAME, type Frame, frame, PREFACE, settings, statusOf, takeFrames } from './http2-frames.ts';
import { waitFor } from './wait-for.ts';

export class RawHttp2Client {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  isClosed = false;
  #unread: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (piece: Buffer) => {
      const known = this.frames.length;
      this.#unread = takeFrames(Buffer.concat([this.#unread, piece]), this.frames);
      for (const { type, flags } of this.frames.slice(known)) {
        if (type === FRAME.settings && flags === 0) this.send(frame(FRAME.settings, FLAG.ack, 0));
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  /** A connection without a word said on it. */
  static async silent(port: number): Promise<RawHttp2Client> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new RawHttp2Client(socket);
  }

  /** A connection with the preface and these settings sent. */
  static async open(
    port: number,
    ...values: readonly (readonly [id: number, value: number])[]
  ): Promise<RawHttp2Client> {
    const client = await RawHttp2Client.silent(port);
    client.send(PREFACE, settings(...values));
    return client;
  }

  /** The same on a socket that is connected already, such as one of TLS. */
  static over(socket: Socket, ...values: readonly (readonly [id: number, value: number])[]): RawHttp2Client {
    const client = new RawHttp2Client(socket);
    client.send(PREFACE, settings(...values));
    return client;
  }

  send(...octets: readonly Buffer[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(octets));
  }

  /** Waits for a frame for which `isWanted` holds; undefined when the connection was closed without one. */
  async until(isWanted: (frame: Frame) => boolean, what = 'a frame', limitMs = 5000): Promise<Frame | undefined> {
    await waitFor(() => this.isClosed || this.frames.some(isWanted), { limitMs, what });
    return this.frames.find(isWanted);
  }

  /**
   * Waits until the stream's fate is known: `status 200` (answered whole), `reset 1`, `goaway 1` (with the error codes of
   * RFC 9113 section 7), or `closed`.
   */
  async fateOf(streamId: number, limitMs = 5000): Promise<string> {
    const isEnd = (each: Frame) => isAnswerEnd(each, streamId) || isReset(each, streamId) || isFailure(each);
    const end = await this.until(isEnd, `the fate of stream ${streamId}`, limitMs);
    if (end === undefined) return 'closed';
    if (end.type === FRAME.goaway) return `goaway ${end.payload.readUInt32BE(4)}`;
    if (end.type === FRAME.reset) return `reset ${end.payload.readUInt32BE(0)}`;
    return `status ${this.status(streamId)}`;
  }

  /** The last status that the stream was answered with; 0 when there was none. */
  status(streamId: number): number {
    const heads = this.frames.filter((each) => each.type === FRAME.headers && each.streamId === streamId);
    return heads.map(({ payload }) => statusOf(payload)).findLast((status) => status !== 0) ?? 0;
  }

  /** All content of the stream so far, as Latin-1 text. */
  content(streamId: number): string {
    const pieces = this.frames.filter((each) => each.type === FRAME.data && each.streamId === streamId);
    return pieces.map(({ payload }) => payload.toString('latin1')).join('');
  }

  async untilClosed(limitMs = 5000): Promise<void> {
    await waitFor(() => this.isClosed, { limitMs, what: 'the connection to be closed' });
  }

  close(): void {
    this.socket.destroy();
  }
}

function isAnswerEnd({ type, flags, streamId }: Frame, wanted: number): boolean {
  const canEnd = type === FRAME.headers || type === FRAME.data;
  return streamId === wanted && canEnd && (flags & FLAG.endStream) !== 0;
}

function isReset({ type, streamId }: Frame, wanted: number): boolean {
  return type === FRAME.reset && streamId === wanted;
}

function isFailure({ type, payload }: Frame): boolean {
  return type === FRAME.goaway && payload.readUInt32BE(4) !== 0;
}
