// Small writes to a socket wait for the end of the event loop's turn; those of all sockets go out together then.
import type { Socket } from 'node:net';
import { lastOf } from '../../core/last-of-kind.ts';

/** More than this goes out at once: it gains nothing by waiting. */
const HELD_BYTES = 16_384;

/** The writers that hold text back: a thread has one event loop, and so one list. */
let holding: TurnWriter[] = [];

/**
 * The writing end of a connection. A turn reads from many connections, and a write for each at once would wake the
 * process on its other end for each: that costs more than the write. Nobody else may write to the socket before `send`,
 * and what is held back is lost when the socket is destroyed without it.
 */
export class TurnWriter {
  readonly #socket: Socket;
  readonly #onFull: () => void;
  #held = '';
  /** How often the socket was given something. */
  writes = 0;

  /** `onFull` is told of every write that the socket keeps because the other end reads slower. */
  constructor(socket: Socket, onFull: () => void) {
    this.#socket = socket;
    this.#onFull = onFull;
  }

  /** Writes Latin-1 text at the end of the turn; false when the other end reads slower: wait for `drain`. */
  writeText(text: string): boolean {
    if (this.#held === '') this.#hold();
    this.#held += text;
    if (this.#held.length > HELD_BYTES) this.send();
    return !this.#socket.writableNeedDrain;
  }

  /** Writes at once, after what is held back; false as with `writeText`. */
  writeOctets(octets: Buffer): boolean {
    this.send();
    this.writes++;
    const isReady = this.#socket.write(octets);
    if (!isReady) this.#onFull();
    return isReady;
  }

  /** Whether something that was written has not left yet. */
  get isHolding(): boolean {
    return this.#held !== '' || this.#socket.writableLength > 0;
  }

  /** Writes what is held back. */
  send(): void {
    const text = this.#held;
    if (text === '') return;
    this.#held = '';
    if (this.#socket.destroyed) return;
    this.writes++;
    if (!this.#socket.write(text, 'latin1')) this.#onFull();
  }

  #hold(): void {
    if (holding.length === 0) lastOf.turn = setImmediate(sendAll);
    holding.push(this);
  }
}

function sendAll(): void {
  const writers = holding;
  holding = [];
  for (const writer of writers) writer.send();
}
