// Opens the socket of an upstream connection: plain TCP that reads into memory of ours, or TLS.
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ReadBuffer } from '../socket/read-buffer.ts';
import type { UpstreamTarget, UpstreamTls } from './upstream.ts';

/** How long an HTTP/2 connection may be silent before the system asks whether it still is one. */
const KEEP_ALIVE_MS = 30_000;

export interface SocketParts {
  readonly target: UpstreamTarget;
  readonly tls: UpstreamTls | null;
  readonly buffer: ReadBuffer;
  /** False stops the reading until the socket is resumed. The octets are a view that is valid until this returns. */
  readonly onRead: (piece: Buffer) => boolean;
  /** Requests can be sent now. */
  readonly onReady: () => void;
}

export function openSocket({ target, tls, buffer, onRead, onReady }: SocketParts): Socket {
  const { host, port } = target;
  if (tls === null) {
    const callback = (length: number, octets: Uint8Array): boolean => onRead(buffer.piece(length, octets));
    const onread = { buffer: () => buffer.next(), callback };
    return connect({ host, port, noDelay: true, onread }).on('connect', onReady);
  }
  const socket = openTls(target, tls, 'http/1.1');
  socket.on('data', (piece: Buffer) => {
    if (!onRead(piece)) socket.pause();
  });
  return socket.on('secureConnect', onReady);
}

/** A socket for an HTTP/2 session, which reads from it itself. Whether the endpoint took the offer is to be checked. */
export function openHttp2Socket(target: UpstreamTarget, tls: UpstreamTls | null): Socket {
  const { host, port } = target;
  const socket = tls === null ? connect({ host, port, noDelay: true }) : openTls(target, tls, 'h2');
  // Streams may be silent for long on a connection that is no more; pings of HTTP/2 are counted against who sends them.
  return socket.setKeepAlive(true, KEEP_ALIVE_MS);
}

function openTls({ host, port }: UpstreamTarget, tls: UpstreamTls, protocol: string): Socket {
  const servername = tls.servername !== '' || isIP(host) !== 0 ? tls.servername : host;
  // The certificate is checked against the name that was asked for, or the address where there is none.
  const socket = connectTls({ host, port, servername, ALPNProtocols: [protocol] });
  socket.setNoDelay(true);
  return socket;
}
