// Many uploads at once: each endpoint gets the octets of its client, however slowly it reads and by whatever they come.
import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { endHttp2EndpointsAfterEach, http2Endpoint } from '../../support/http2-endpoint.ts';
import { type LocalServer, startHttpServer } from '../../support/local-server.ts';
import { chunksOf, contentOf } from '../../support/own-content.ts';
import { OK } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2EndpointsAfterEach();

/** Of one upload after another on a connection: small ones, and ones that want larger memory. */
const SIZES = [400, 20_000, 1_500_000, 64, 9_000_000, 70_000];
const CLIENTS = 9;
const NAMES = Array.from({ length: CLIENTS }, (_, at) => String(at));

/** The digest of a content; every third client's is read slowly, so that others fill memory while its octets wait. */
function digestOf(content: Readable, name: string): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    content.on('data', (piece: Buffer) => {
      pieces.push(piece);
      if (Number(name) % 3 !== 0) return;
      content.pause();
      setTimeout(() => content.resume(), 1);
    });
    content.on('end', () => resolve(hash('sha1', Buffer.concat(pieces))));
  });
}

/** Answers an upload to `/N` with the digest of what arrived. */
async function answerDigest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.end(await digestOf(request, (request.url ?? '').slice(1)));
}

/** What is to be sent for the upload to `/name`: by its length or in chunks. */
function upload(name: string, content: Buffer, isChunked: boolean): Buffer {
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${content.length}`;
  const head = Buffer.from(`PUT /${name} HTTP/1.1\r\nHost: s\r\n${framing}\r\n\r\n`);
  return Buffer.concat([head, ...(isChunked ? chunksOf(content) : [content])]);
}

/** The digests that come back on a connection; all is sent at once where `isPipelined`, else one after another. */
async function digestsFor(socket: Socket, name: string, isPipelined: boolean): Promise<string[]> {
  let received = '';
  socket.on('data', (piece: Buffer) => {
    received += piece.toString('latin1');
  });
  const digests = () => received.match(/\r\n\r\n[0-9a-f]{40}/g) ?? [];
  for (const [at, bytes] of SIZES.entries()) {
    socket.write(upload(name, contentOf(`${name}${at}`, bytes), (Number(name) + at) % 2 === 1));
    const wanted = isPipelined ? 0 : at + 1;
    await waitFor(() => digests().length >= wanted, { limitMs: 30_000, what: `answer ${at} of client ${name}` });
  }
  await waitFor(() => digests().length === SIZES.length, { limitMs: 30_000, what: `all answers of client ${name}` });
  socket.destroy();
  return digests().map((digest) => digest.trim());
}

function wantedFor(name: string): string[] {
  return SIZES.map((bytes, at) => hash('sha1', contentOf(`${name}${at}`, bytes)));
}

async function expectAll(connected: () => Socket, isPipelined = false): Promise<void> {
  const digests = await Promise.all(NAMES.map((name) => digestsFor(connected(), name, isPipelined)));
  expect(digests).toEqual(NAMES.map(wantedFor));
}

function digestService(own: AsyncDisposableStack): Promise<LocalServer> {
  const server = startHttpServer((request, response) => void answerDigest(request, response));
  return server.then((each) => own.adopt(each, ({ stop }) => stop()));
}

describe('uploads of many clients at once', () => {
  it.each([
    ['one after another', false],
    ['pipelined', true],
  ])('reach the endpoint as they were sent, %s', async (_how, isPipelined) => {
    await using own = new AsyncDisposableStack();
    const gateway = await gatewayFor({ endpoints: [(await digestService(own)).port] });
    await expectAll(() => connect({ port: gateway.port, host: '127.0.0.1' }), isPipelined);
  });

  it.skipIf(!hasOpenssl())('reach it over TLS as they were sent', async () => {
    await using own = new AsyncDisposableStack();
    const authority = own.adopt(createAuthority(), (each) => each.remove());
    const { certFile, keyFile } = authority.sign('front');
    const tls = { certificates: [{ cert: certFile, key: keyFile }] };
    const gateway = await gatewayFor({ endpoints: [(await digestService(own)).port], listener: { tls } });
    await expectAll(() => connectTls({ port: gateway.port, host: '127.0.0.1', ca: authority.ca }));
  });

  it('reach an endpoint of HTTP/2 as they were sent', async () => {
    const endpoint = await http2Endpoint((stream, fields) => {
      void digestOf(stream, String(fields[':path']).slice(1)).then((digest) => {
        stream.respond({ 'content-length': digest.length });
        stream.end(digest);
      });
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: { protocol: 'h2c' } });
    await expectAll(() => connect({ port: gateway.port, host: '127.0.0.1' }));
  });

  it('are sent whole a second time where the first endpoint broke off', async () => {
    await using own = new AsyncDisposableStack();
    // It takes a part of each upload before it goes.
    const broken = await upstreamThat(({ socket }, head) => {
      if (!head.startsWith('PUT')) socket.write(OK);
      else setTimeout(() => socket.destroy(), 20);
    });
    const good = await digestService(own);
    const retry = { bodyBuffer: '16MiB', attempts: 2, budget: 'off' };
    const ejection = { consecutiveFailures: 1_000_000 };
    const gateway = await gatewayFor({ endpoints: [broken.port, good.port], route: { retry, ejection } });
    await expectAll(() => connect({ port: gateway.port, host: '127.0.0.1' }));
    expect(broken.received()).toContain('PUT ');
  });
});
