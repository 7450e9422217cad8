// Large answers of many endpoints at once: each client gets its own octets, however slowly it reads and by whatever it came.
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { chunksOf, contentOf } from '../../support/own-content.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';

endAfterEach();

const BYTES = 2 * 1024 * 1024;
/** More than the sockets on the way can hold. */
const HUGE_BYTES = 12 * 1024 * 1024;
const CLIENTS = 24;
const HUGE = 100;

function contentNamed(name: string): Buffer {
  return contentOf(name, Number(name) < HUGE ? BYTES : HUGE_BYTES);
}

/** Answers `/N` with content N, by its length or in chunks of many sizes. */
function answer(socket: Socket, head: string): void {
  const name = head.slice('GET /'.length, head.indexOf(' ', 5));
  const content = contentNamed(name);
  if (Number(name) % 2 === 0) {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${content.length}\r\n\r\n`);
    socket.write(content);
    return;
  }
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (const piece of chunksOf(content)) socket.write(piece);
}

/** The content of an answer to HTTP/1.0, which ends with the connection; a slow reader rests after each piece. */
async function read(socket: Socket, name: string, restMs: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece);
    if (restMs === 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), restMs);
  });
  socket.write(`GET /${name} HTTP/1.0\r\nHost: s\r\n\r\n`);
  await once(socket, 'close');
  const all = Buffer.concat(pieces);
  return all.subarray(all.indexOf('\r\n\r\n') + 4);
}

function expectOwn(contents: readonly Buffer[], names = NAMES): void {
  const digests = contents.map((content) => hash('sha1', content));
  expect(digests).toEqual(names.map((name) => hash('sha1', contentNamed(name))));
}

const NAMES = Array.from({ length: CLIENTS }, (_, at) => String(at));
/** Every third reads slowly, so that others fill memory while its octets wait. */
const restOf = (name: string): number => (Number(name) % 3 === 0 ? 2 : 0);

describe('large answers at once', () => {
  it('reach each client as they were sent', async () => {
    const upstream = await upstreamThat(({ socket }, head) => answer(socket, head));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const contents = NAMES.map((name) => read(connect({ port: gateway.port, host: '127.0.0.1' }), name, restOf(name)));
    expectOwn(await Promise.all(contents));
    // And over the connections to the endpoint that were kept.
    const again = NAMES.map((name) => read(connect({ port: gateway.port, host: '127.0.0.1' }), name, restOf(name)));
    expectOwn(await Promise.all(again));
  });

  it('are still whole where clients read them more slowly than others come and go', async () => {
    const upstream = await upstreamThat(({ socket }, head) => answer(socket, head));
    const gateway = await gatewayFor({ endpoints: [upstream.port] });
    const connected = () => connect({ port: gateway.port, host: '127.0.0.1' });
    const names = Array.from({ length: 8 }, (_, at) => String(HUGE + at));
    let isOver = false;
    const slow = Promise.all(names.map((name) => read(connected(), name, 1))).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      expectOwn(await Promise.all(NAMES.slice(0, 4).map((name) => read(connected(), name, 0))), NAMES.slice(0, 4));
    }
    expectOwn(await slow, names);
  });

  it.skipIf(!hasOpenssl())('reach clients over TLS and over HTTP/2 as they were sent', async () => {
    await using own = new AsyncDisposableStack();
    const authority = own.adopt(createAuthority(), (each) => each.remove());
    const { certFile, keyFile } = authority.sign('front');
    const upstream = await upstreamThat(({ socket }, head) => answer(socket, head));
    const tls = { certificates: [{ cert: certFile, key: keyFile }] };
    const gateway = await gatewayFor({ endpoints: [upstream.port], listener: { tls } });
    const place = { port: gateway.port, host: '127.0.0.1', ca: authority.ca };
    const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, { ca: authority.ca });
    const contents = NAMES.map(async (name) => {
      if (Number(name) % 2 === 1) return read(connectTls(place), name, restOf(name));
      const stream = session.request({ ':path': `/${name}` });
      const pieces: Buffer[] = [];
      for await (const piece of stream) pieces.push(piece);
      return Buffer.concat(pieces);
    });
    expectOwn(await Promise.all(contents));
    session.close();
    await once(session, 'close');
  });
});
