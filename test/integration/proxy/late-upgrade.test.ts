// Upgrades on connections that have carried requests before: the tunnel gets the connection as it was from its first octet.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { contentOf } from '../../support/own-content.ts';
import { OK, type RawConnection } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const GET = 'GET /plain HTTP/1.1\r\nHost: s\r\n\r\n';
const UPGRADE =
  'GET /ws HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** Answers requests, and sends back what comes through a tunnel. */
function echoing({ socket }: RawConnection, head: string): void {
  if (!head.startsWith('GET /ws')) {
    socket.write(OK);
    return;
  }
  socket.write(SWITCHED);
  socket.on('data', (piece: Buffer) => void socket.write(piece));
}

/** What a client has had echoed to it after so many requests on its connection; it reads slowly where it `rests`. */
async function echoed(socket: Socket, requests: number, sent: readonly Buffer[], rests: boolean): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const all = () => Buffer.concat(pieces);
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece);
    if (!rests) return;
    socket.pause();
    setTimeout(() => socket.resume(), 1);
  });
  for (let at = 1; at <= requests; at++) {
    socket.write(GET);
    await waitFor(() => all().toString('latin1').split('\r\n\r\nok').length > at, { limitMs: 3000, what: 'an answer' });
  }
  // The first octets of the tunnel come with the head.
  socket.write(Buffer.concat([Buffer.from(UPGRADE), sent[0] ?? Buffer.alloc(0)]));
  const tunnelled = () => {
    const octets = all();
    const at = octets.indexOf('101 Switching');
    return at === -1 ? Buffer.alloc(0) : octets.subarray(octets.indexOf('\r\n\r\n', at) + 4);
  };
  await waitFor(() => all().includes('101 Switching'), { limitMs: 3000, what: 'the tunnel' });
  for (const piece of sent.slice(1)) socket.write(piece);
  const bytes = sent.reduce((sum, { length }) => sum + length, 0);
  await waitFor(() => tunnelled().length >= bytes, { limitMs: 10_000, what: 'all to come back' });
  socket.destroy();
  return tunnelled();
}

const SENT = [4, 40, 9_000, 70_000, 2_000_000, 12].map((bytes, at) => contentOf(String(at), bytes));

describe('an upgrade', () => {
  it.each([
    [0, false],
    [1, false],
    [2, false],
    [5, false],
    [5, true],
  ])('after %i requests on its connection is a whole tunnel (slow reader: %s)', async (requests, rests) => {
    const upstream = await upstreamThat(echoing);
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const socket = connect({ port: gateway.port, host: '127.0.0.1' });
    await once(socket, 'connect');
    expect((await echoed(socket, requests, SENT, rests)).equals(Buffer.concat(SENT))).toBe(true);
  });

  it.skipIf(!hasOpenssl())('after requests over TLS is a whole tunnel', async () => {
    await using own = new AsyncDisposableStack();
    const authority = own.adopt(createAuthority(), (each) => each.remove());
    const { certFile, keyFile } = authority.sign('front');
    const upstream = await upstreamThat(echoing);
    const tls = { certificates: [{ cert: certFile, key: keyFile }] };
    const gateway = await gatewayFor({ endpoints: [upstream.port], listener: { tls } });
    const socket = connectTls({ port: gateway.port, host: '127.0.0.1', ca: authority.ca });
    await once(socket, 'secureConnect');
    expect((await echoed(socket, 5, SENT, true)).equals(Buffer.concat(SENT))).toBe(true);
  });
});
