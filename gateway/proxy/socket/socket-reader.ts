// The reading end of a connection: what arrives, and how long its memory is needed.
import type { Socket } from 'node:net';
import { readAsStream, readDirectly } from './direct-reads.ts';
import { COPIED_BYTES, ReadBuffer } from './read-buffer.ts';

export class SocketReader {
  readonly #socket: Socket;
  readonly #onPiece: (piece: Buffer) => void;
  /** What is read into where Node can do that. */
  #buffer: ReadBuffer | undefined;
  #pieces = 0;
  #mayBeDirect = true;

  /**
   * `onPiece` is given what arrives: a view that is valid until it returns, or, of more than COPIED_BYTES, for good where
   * `keep` is called.
   */
  constructor(socket: Socket, onPiece: (piece: Buffer) => void) {
    this.#socket = socket;
    this.#onPiece = onPiece;
    socket.on('data', this.#onData);
  }

  /** The octets, or a copy of them where they are so few that `keep` would not do. */
  own(view: Buffer): Buffer {
    return this.#buffer !== undefined && view.length <= COPIED_BYTES ? Buffer.from(view) : view;
  }

  /** A view of more than COPIED_BYTES is needed for longer than until `onPiece` returns. */
  keep(view: Buffer): void {
    this.#buffer?.keep(view);
  }

  /** What lasts in place of a view that `own` gave: a copy where it would keep more memory than it fills. */
  save(view: Buffer): Buffer {
    if (this.#buffer !== undefined && view.length < view.buffer.byteLength / 2) return Buffer.from(view);
    this.keep(view);
    return view;
  }

  /** Little is expected. */
  shrink(): void {
    this.#buffer?.shrink();
  }

  /** Gives the socket away: what arrives is in its stream again. */
  leave(): void {
    this.#socket.off('data', this.#onData);
    if (this.#buffer !== undefined) readAsStream(this.#socket);
  }

  /** A piece that comes through the stream. */
  readonly #onData = (piece: Buffer): void => {
    // With the second: for one alone it would cost more than it saves.
    if (++this.#pieces >= 2 && this.#mayBeDirect && this.#socket.readableLength === 0) this.#readDirectly();
    this.#onPiece(piece);
  };

  #readDirectly(): void {
    this.#mayBeDirect = false;
    const buffer = new ReadBuffer();
    if (readDirectly(this.#socket, buffer, this.#onPiece)) this.#buffer = buffer;
  }
}
