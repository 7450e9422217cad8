// The first octets of a connection, read until it is clear what they are: bounded in time, and put back for who is next.
import type { Socket } from 'node:net';
import type { HostedConnection } from '../front/connection-host.ts';
import type { Sweep, Sweepable } from '../sweep.ts';

export interface OpeningOptions {
  readonly socket: Socket;
  readonly sweep: Sweep;
  /** The octets must be clear in this time. */
  readonly withinMs: number;
  /** All octets so far: passes the connection on or refuses it, or waits for more by doing neither. */
  readonly onOctets: (opening: Opening, octets: Buffer) => void;
  /** The time is over; these octets have come. The connection has to be refused. */
  readonly onLate: (opening: Opening, octets: Buffer) => void;
  /** The client has left, or was cut, before it was clear. */
  readonly onLeft: () => void;
  /** Others look after the connection, or nobody has to any more. */
  readonly onEnded: (opening: HostedConnection) => void;
}

/** How long a client that was refused with an answer may take to read it. */
const LINGER_MS = 2000;

/** What is not clear when no more connections are accepted has this time. */
const LAST_OCTETS_MS = 1000;

const NOTHING = Buffer.alloc(0);

type Phase = 'reading' | 'refused' | 'over';

export class Opening implements HostedConnection, Sweepable {
  readonly #options: OpeningOptions;
  #octets: Buffer = NOTHING;
  #phase: Phase = 'reading';
  #untilMs: number;

  constructor(options: OpeningOptions) {
    this.#options = options;
    const { socket, sweep, withinMs } = options;
    // First: the sweep's time stands still while it has no members.
    sweep.add(this);
    this.#untilMs = sweep.nowMs + withinMs;
    // An error is followed by `close`, which is what counts.
    socket.on('error', ignore);
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
    // Another opening before this one has paused it.
    socket.resume();
  }

  /** Until when the octets must be clear, in the sweep's time. */
  get untilMs(): number {
    return this.#untilMs;
  }

  endWhenIdle(): void {
    this.#untilMs = Math.min(this.#untilMs, this.#options.sweep.nowMs + LAST_OCTETS_MS);
  }

  destroy(): void {
    this.#options.socket.destroy();
  }

  sweep(nowMs: number): void {
    if (nowMs <= this.#untilMs) return;
    if (this.#phase === 'reading') this.#options.onLate(this, this.#octets);
    else this.destroy();
  }

  /**
   * It is clear: the first `takenBytes` octets were for this opening alone, the others are before the input of the socket
   * again, which is paused and belongs to who is next.
   */
  pass(takenBytes: number, next: () => void): void {
    const { socket } = this.#options;
    socket.pause();
    socket.off('error', ignore).off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    if (takenBytes < this.#octets.length) socket.unshift(this.#octets.subarray(takenBytes));
    next();
    this.#finish();
  }

  /** Ends the connection, with these octets as the last word if there is one. */
  refuse(answer: Buffer | null): void {
    this.#phase = 'refused';
    this.#octets = NOTHING;
    if (answer === null) {
      this.destroy();
      return;
    }
    this.#untilMs = this.#options.sweep.nowMs + LINGER_MS;
    // Unread octets would have the answer thrown away: they are still read.
    this.#options.socket.end(answer);
  }

  readonly #onData = (piece: Buffer): void => {
    if (this.#phase !== 'reading') return;
    this.#octets = this.#octets.length === 0 ? piece : Buffer.concat([this.#octets, piece]);
    this.#options.onOctets(this, this.#octets);
  };

  readonly #onEnd = (): void => {
    this.#options.socket.destroySoon();
  };

  readonly #onClose = (): void => {
    if (this.#phase === 'reading') this.#options.onLeft();
    this.#finish();
  };

  #finish(): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#options.sweep.remove(this);
    this.#options.onEnded(this);
  }
}

function ignore(): void {
  // It would end the process otherwise.
}
