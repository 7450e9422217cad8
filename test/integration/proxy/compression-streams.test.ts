// Compressed answers on their way: promptly, at the reader's pace, never complete when they are not, and nothing left behind.
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { leaveEncoderPlace, takeEncoderPlace } from '../../../gateway/proxy/answers/content-encoder.ts';
import { decoded, decoderOf, fetchOctets, proseOf } from '../../support/encoded-answer.ts';
import { endHttp2EndpointsAfterEach, http2Endpoint } from '../../support/http2-endpoint.ts';
import { endHttp2AfterEach, http2GatewayFor, sessionTo } from '../../support/http2-scene.ts';
import { exchange, RawClient } from '../../support/raw-client.ts';
import type { RawConnection } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2AfterEach();
endHttp2EndpointsAfterEach();
afterEach(() => {
  const places = takeAllPlaces();
  for (let place = 0; place < places; place++) leaveEncoderPlace();
  expect(places, 'every encoder has given its place back').toBe(512);
});

const ROUTE = { compress: ['zstd', 'br', 'gzip'] };
const CODINGS = ['zstd', 'br', 'gzip'];
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const MEBIBYTE = 1024 * 1024;

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** The content of the chunks that have come whole. */
function chunksIn(received: string): Buffer {
  let at = received.indexOf('\r\n\r\n') + 4;
  let content = '';
  for (;;) {
    const lineEnd = received.indexOf('\r\n', at);
    const length = lineEnd === -1 ? 0 : Number.parseInt(received.slice(at, lineEnd), 16);
    if (!(length > 0) || received.length < lineEnd + 2 + length) return Buffer.from(content, 'latin1');
    content += received.slice(lineEnd + 2, lineEnd + 2 + length);
    at = lineEnd + 4 + length;
  }
}

/** Text that can be read from octets of which more may follow. */
function readable(coding: string): { take(octets: Buffer): void; text(): string; end(): void } {
  const decoder = decoderOf(coding);
  let taken = 0;
  let text = '';
  decoder.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  decoder.on('error', () => undefined);
  return {
    take: (octets) => {
      if (octets.length > taken) decoder.write(octets.subarray(taken));
      taken = octets.length;
    },
    text: () => text,
    end: () => void decoder.destroy(),
  };
}

describe.each(CODINGS)('a slow answer in %s', (coding) => {
  const request = `GET / HTTP/1.1\r\nHost: s\r\nAccept-Encoding: ${coding}\r\n\r\n`;

  it('can be read piece by piece, each before the next is sent', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.write(CHUNKED));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const client = await RawClient.connect(gateway.port);
    const reader = readable(coding);
    client.send(request);
    expect(await client.until('\r\n\r\n')).toContain(`Content-Encoding: ${coding}`);
    for (const piece of ['one;', 'two;', 'three;']) {
      upstream.connections[0]?.socket.write(chunk(piece));
      await waitFor(
        () => {
          reader.take(chunksIn(client.received));
          return reader.text().endsWith(piece);
        },
        { limitMs: 5000, what: `${piece} to be readable` },
      );
    }
    upstream.connections[0]?.socket.write('0\r\n\r\n');
    await client.until('\r\n0\r\n\r\n');
    expect((await decoded(chunksIn(client.received), coding)).toString()).toBe('one;two;three;');
    reader.end();
    client.close();
  });

  it.each([
    ['chunks', CHUNKED + chunk(proseOf(2000)), 'HTTP/1.1'],
    ['a length', `${HEAD}Content-Length: 90000\r\n\r\n${proseOf(2000)}`, 'HTTP/1.1'],
    ['a length, to a client of HTTP/1.0', `${HEAD}Content-Length: 90000\r\n\r\n${proseOf(2000)}`, 'HTTP/1.0'],
  ])('with %s that breaks off can be read so far, and never looks complete', async (_what, octets, version) => {
    const upstream = await upstreamThat(({ socket }) => void socket.write(octets));
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const client = await RawClient.connect(gateway.port);
    let isReset = false;
    client.socket.on('error', (error: NodeJS.ErrnoException) => {
      isReset = error.code === 'ECONNRESET';
    });
    client.send(request.replace('HTTP/1.1', version));
    const reader = readable(coding);
    await waitFor(
      () => {
        const start = client.received.indexOf('\r\n\r\n') + 4;
        const isPlain = version === 'HTTP/1.0' && start > 3;
        reader.take(isPlain ? Buffer.from(client.received.slice(start), 'latin1') : chunksIn(client.received));
        return reader.text() === proseOf(2000);
      },
      { limitMs: 5000, what: 'the beginning to be readable' },
    );
    for (const { socket } of upstream.connections) socket.resetAndDestroy();
    const answer = await client.untilClosed();
    expect(answer).not.toContain('\r\n0\r\n\r\n');
    if (version === 'HTTP/1.0') expect(isReset).toBe(true);
    await expect(decoded(chunksIn(answer), coding)).rejects.toThrow();
    await waitFor(() => gateway.records.length === 1, { limitMs: 2000, what: 'the record' });
    expect(gateway.records[0]).toMatchObject({ status: 200, error: 'truncated' });
    reader.end();
  });
});

describe('a compressed answer', () => {
  const accept = 'Accept-Encoding: gzip\r\n';

  it('that breaks off at once, all of it in one read, does not look complete', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.end(`${HEAD}Content-Length: 9000\r\n\r\n${proseOf(8000)}`);
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const answer = await exchange(gateway.port, `GET / HTTP/1.1\r\nHost: s\r\n${accept}\r\n`);
    expect(answer).toContain('Content-Encoding: gzip');
    expect(answer).not.toContain('\r\n0\r\n\r\n');
    await expect(decoded(chunksIn(answer), 'gzip')).rejects.toThrow();
  });

  it('breaks off an HTTP/2 stream where the endpoint broke off', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.end(CHUNKED + chunk(proseOf(50_000))));
    const gateway = await http2GatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const stream = sessionTo(gateway.port).request({ ':path': '/', 'accept-encoding': 'br' });
    stream.on('error', () => undefined).resume();
    await new Promise((resolve) => stream.on('close', resolve));
    expect(stream.rstCode).not.toBe(0);
    expect(gateway.records[0]).toMatchObject({ error: 'truncated' });
  });

  it('comes from an HTTP/2 endpoint as well', async () => {
    const endpoint = await http2Endpoint((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/plain' });
      stream.end(proseOf(200_000));
    });
    const gateway = await gatewayFor({ endpoints: [endpoint.port], route: { ...ROUTE, protocol: 'h2c' } });
    const answer = await fetchOctets(gateway.port, { headers: { 'accept-encoding': 'zstd' } });
    expect((await decoded(answer.octets, answer.headers['content-encoding'])).toString()).toBe(proseOf(200_000));
  });

  it('is read from its endpoint at the pace of its client', async () => {
    const content = noise(40 * MEBIBYTE);
    let sent: RawConnection | undefined;
    const upstream = await upstreamThat((connection) => {
      sent = connection;
      connection.socket.write(`${HEAD}Content-Length: ${content.length}\r\n\r\n`);
      connection.socket.write(content);
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const client = connect(gateway.port, '127.0.0.1');
    client.on('error', () => undefined);
    let received = 0;
    client.on('data', (piece) => {
      received += piece.length;
    });
    client.write(`GET / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${accept}\r\n`);
    await waitFor(() => received > 0, { limitMs: 5000, what: 'the answer to begin' });
    client.pause();
    const isStill = stillnessOf(() => sent?.socket.writableLength ?? 0);
    await waitFor(isStill, { limitMs: 15_000, what: 'the endpoint to be held back' });
    expect(sent?.socket.writableLength).toBeGreaterThan(MEBIBYTE);
    client.resume();
    await waitFor(() => client.destroyed, { limitMs: 20_000, what: 'the answer to end' });
    await waitFor(() => gateway.records.length === 1, { limitMs: 2000, what: 'the record' });
    expect(gateway.records[0]).toMatchObject({ error: null });
    expect(received).toBeGreaterThan(gateway.records[0]?.bytes ?? 0);
  });

  it('whose client leaves half-way frees the endpoint', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write(`${HEAD}Content-Length: ${20 * MEBIBYTE}\r\n\r\n`);
      socket.write(noise(10 * MEBIBYTE));
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    for (let round = 1; round <= 3; round++) {
      const client = await RawClient.connect(gateway.port);
      client.send(`GET / HTTP/1.1\r\nHost: s\r\n${accept}\r\n`);
      await client.until((text) => text.length > 50_000);
      client.reset();
      await waitFor(() => gateway.records.length === round, { limitMs: 3000, what: 'the record' });
    }
    expect(gateway.records.map(({ error }) => error)).toEqual(['client_gone', 'client_gone', 'client_gone']);
    await waitFor(() => gateway.connections().upstream === 0, { limitMs: 2000, what: 'the connections to be gone' });
  });

  it('goes as it is while too many others are compressed, unless it is short', async () => {
    const upstream = await upstreamThat(({ socket }, head) => {
      const content = proseOf(head.startsWith('GET /short') ? 5000 : 50_000);
      socket.write(`${HEAD}Content-Length: ${content.length}\r\n\r\n${content}`);
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const headers = { 'accept-encoding': 'gzip' };
    const places = takeAllPlaces();
    const plain = await fetchOctets(gateway.port, { headers });
    const short = await fetchOctets(gateway.port, { path: '/short', headers });
    for (let place = 0; place < places; place++) leaveEncoderPlace();
    expect(plain.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-length': '50000' });
    expect(plain.octets.toString()).toBe(proseOf(50_000));
    expect((await decoded(short.octets, short.headers['content-encoding'])).toString()).toBe(proseOf(5000));
    const next = await fetchOctets(gateway.port, { headers });
    expect((await decoded(next.octets, next.headers['content-encoding'])).toString()).toBe(proseOf(50_000));
  });

  it('that takes longer than it may is broken off, also while its client does not read', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write(`${HEAD}Content-Length: ${20 * MEBIBYTE}\r\n\r\n`);
      socket.write(noise(20 * MEBIBYTE));
    });
    const route = { ...ROUTE, timeout: { total: '500ms' } };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    const client = await RawClient.connect(gateway.port);
    client.socket.pause();
    client.send(`GET / HTTP/1.1\r\nHost: s\r\n${accept}\r\n`);
    await waitFor(() => gateway.records.length === 1, { limitMs: 5000, what: 'the record' });
    expect(gateway.records[0]).toMatchObject({ status: 200, error: 'http_response_timeout' });
    client.socket.resume();
    expect(await client.untilClosed()).not.toMatch(/\r\n0\r\n\r\n$/);
  });
});

/** How many encoders could be at work besides. */
function takeAllPlaces(): number {
  let places = 0;
  while (takeEncoderPlace()) places++;
  return places;
}

/** Octets that do not get shorter. */
function noise(bytes: number): Buffer {
  const octets = Buffer.alloc(bytes);
  let seed = 88_172_645;
  for (let at = 0; at < bytes; at += 4) {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    octets.writeInt32LE(seed, at);
  }
  return octets;
}

/** Whether a number was the same at forty questions in a row. */
function stillnessOf(ask: () => number): () => boolean {
  let last = -1;
  let times = 0;
  return () => {
    const now = ask();
    times = now === last ? times + 1 : 0;
    last = now;
    return times >= 40;
  };
}
