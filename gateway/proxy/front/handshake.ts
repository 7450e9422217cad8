// One connection of a client from the first octet of TLS until it is secure: bounded in time, and counted once if it fails.
import type { Socket } from 'node:net';
import type { HandshakeFailure } from '../../shared/tls-cell.ts';
import type { ClientPeer } from '../client-address.ts';
import type { Sweep, Sweepable } from '../sweep.ts';
import type { HostedConnection } from './connection-host.ts';

/** What all handshakes of a listener share. */
export interface HandshakeHost {
  readonly sweep: Sweep;
  onFailed(peer: ClientPeer, reason: HandshakeFailure, code: string): void;
  /** It is over, for good or bad. */
  onEnded(handshake: Handshake): void;
}

export interface HandshakeOptions {
  readonly raw: Socket;
  readonly peer: ClientPeer;
  readonly host: HandshakeHost;
  /** When it has had its time, in the sweep's time. */
  readonly untilMs: number;
}

/** A handshake that is under way when no more connections are accepted has this time. */
const LAST_HANDSHAKE_MS = 1000;

export class Handshake implements HostedConnection, Sweepable {
  readonly peer: ClientPeer;
  readonly #raw: Socket;
  readonly #host: HandshakeHost;
  #untilMs: number;
  #isOver = false;
  /** Whether it was counted as failed already. */
  #isFailed = false;
  /** TLS tells why it failed, if it does, after the connection was closed. */
  #isClosed = false;

  constructor({ raw, peer, host, untilMs }: HandshakeOptions) {
    this.peer = peer;
    this.#raw = raw;
    this.#host = host;
    this.#untilMs = untilMs;
    host.sweep.add(this);
    raw.once('close', this.#onClose);
    // An error is followed by `close`, which is what counts.
    raw.on('error', () => undefined);
  }

  endWhenIdle(): void {
    this.#untilMs = Math.min(this.#untilMs, this.#host.sweep.nowMs + LAST_HANDSHAKE_MS);
  }

  destroy(): void {
    this.#raw.destroy();
  }

  sweep(nowMs: number): void {
    if (this.#isClosed) this.failed('closed', '');
    if (nowMs <= this.#untilMs) return;
    this.failed('timeout', '');
    this.#raw.destroy();
  }

  /** Counts once; what follows from a failure is none of its own. */
  failed(reason: HandshakeFailure, code: string): void {
    if (this.#isFailed || this.#isOver) return;
    this.#isFailed = true;
    this.#host.onFailed(this.peer, reason, code);
    if (this.#isClosed) this.#finish();
  }

  /** The connection is secure, and others look after it. */
  end(): void {
    this.#raw.off('close', this.#onClose);
    this.#finish();
  }

  readonly #onClose = (): void => {
    this.#isClosed = true;
    if (this.#isFailed) this.#finish();
  };

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#host.sweep.remove(this);
    this.#host.onEnded(this);
  }
}
