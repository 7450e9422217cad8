// What an HTTP/2 session is to the exchanges on its streams.
import type { ClientPeer } from '../client-address.ts';
import type { ConnectionHost } from '../front/connection-host.ts';

/** The session as its exchanges, of type `E`, use it. */
export interface ExchangeSession<E> {
  readonly peer: ClientPeer;
  readonly host: Pick<ConnectionHost, 'date' | 'hstsLine' | 'sweep' | 'timeouts'>;
  /** Octets that the socket has taken so far. */
  readonly sentBytes: number;
  /** Something is being written. */
  answering(): void;
  /** The stream is no more; `isCut` when its client gave it up before it was answered. */
  exchangeClosed(exchange: E, isCut: boolean): void;
  /** The stream is a tunnel's from now on. */
  tunnelled(): void;
  /** Nothing that was written was taken for the time of `write`. */
  stalled(): void;
}
