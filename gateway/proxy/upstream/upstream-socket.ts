// Opens the socket of an upstream connection: plain TCP, or TLS.
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { UpstreamTarget, UpstreamTls } from './upstream.ts';

/** How long an HTTP/2 connection may be silent before the system asks whether it still is one. */
const KEEP_ALIVE_MS = 30_000;

/** A socket for requests of HTTP/1.1; `onReady` is called when they can be sent. */
export function openSocket(target: UpstreamTarget, tls: UpstreamTls | null, onReady: () => void): Socket {
  const { host, port } = target;
  if (tls === null) return connect({ host, port, noDelay: true }).on('connect', onReady);
  return openTls(target, tls, 'http/1.1').on('secureConnect', onReady);
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
