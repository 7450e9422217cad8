// Answers that are compressed on their way: every coding, every framing, and what is left alone.
import { describe, expect, it } from 'vitest';
import { decoded, type EncodedAnswer, fetchOctets, proseOf } from '../../support/encoded-answer.ts';
import { ask, endHttp2AfterEach, http2GatewayFor, sessionTo } from '../../support/http2-scene.ts';
import { exchange, get, RawClient } from '../../support/raw-client.ts';
import { answering } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import type { TestGateway } from '../../support/test-gateway.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2AfterEach();

const ROUTE = { compress: ['zstd', 'br', 'gzip'] };
const CODINGS = ['zstd', 'br', 'gzip'];
const TEXT = 'Content-Type: text/plain\r\n';
const SMALL = proseOf(5000);
const LARGE = proseOf(300_000);

/** A gateway in front of a service that always gives this answer. */
async function gatewayBefore(octets: string, route: Record<string, unknown> = ROUTE): Promise<TestGateway> {
  const upstream = await upstreamThat(answering(octets));
  return gatewayFor({ endpoints: [upstream.port], route });
}

function withLength(content: string, lines = TEXT): string {
  return `HTTP/1.1 200 OK\r\n${lines}Content-Length: ${content.length}\r\n\r\n${content}`;
}

function inChunks(content: string, bytes: number): string {
  let octets = `HTTP/1.1 200 OK\r\n${TEXT}Transfer-Encoding: chunked\r\n\r\n`;
  for (let at = 0; at < content.length; at += bytes) {
    const piece = content.slice(at, at + bytes);
    octets += `${piece.length.toString(16)}\r\n${piece}\r\n`;
  }
  return `${octets}0\r\n\r\n`;
}

async function textOf({ octets, headers }: EncodedAnswer): Promise<string> {
  return (await decoded(octets, headers['content-encoding'])).toString('latin1');
}

describe.each(CODINGS)('an answer in %s', (coding) => {
  const headers = { 'accept-encoding': coding };

  it.each([
    ['of a few kilobytes', withLength(SMALL), SMALL],
    ['of many kilobytes', withLength(LARGE), LARGE],
    ['in chunks', inChunks(LARGE, 4000), LARGE],
    ['in chunks of one octet', inChunks(SMALL, 1), SMALL],
    ['that ends with its connection', `HTTP/1.0 200 OK\r\n${TEXT}\r\n${SMALL}`, SMALL],
  ])('%s means the same, is shorter, and is counted as it was sent', async (_what, octets, wanted) => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write(octets, 'latin1');
      if (octets.startsWith('HTTP/1.0')) socket.end();
    });
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const answer = await fetchOctets(gateway.port, { headers });
    expect(answer).toMatchObject({ status: 200, isComplete: true });
    expect(answer.headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' });
    expect(await textOf(answer)).toBe(wanted);
    expect(answer.octets.length).toBeLessThan(wanted.length / 2);
    await waitFor(() => gateway.records.length === 1, { limitMs: 2000, what: 'the record' });
    expect(gateway.records[0]).toMatchObject({ status: 200, bytes: answer.octets.length, error: null });
  });

  it('of 10 MiB means the same', async () => {
    const content = proseOf(10 * 1024 * 1024);
    const gateway = await gatewayBefore(withLength(content));
    const answer = await fetchOctets(gateway.port, { headers });
    expect(answer.isComplete).toBe(true);
    expect((await textOf(answer)) === content).toBe(true);
  });

  it('goes to an HTTP/1.0 client, and ends with its connection where its length is not known', async () => {
    const gateway = await gatewayBefore(inChunks(LARGE, 8000));
    const answer = await exchange(gateway.port, `GET / HTTP/1.0\r\nAccept-Encoding: ${coding}\r\n\r\n`);
    const [head = '', ...rest] = answer.split('\r\n\r\n');
    expect(head).toContain(`Content-Encoding: ${coding}`);
    expect(head).not.toMatch(/transfer-encoding|content-length/i);
    const octets = Buffer.from(rest.join('\r\n\r\n'), 'latin1');
    expect((await decoded(octets, coding)).toString('latin1')).toBe(LARGE);
  });

  it('goes to an HTTP/2 client', async () => {
    const upstream = await upstreamThat(answering(withLength(LARGE)));
    const gateway = await http2GatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const stream = sessionTo(gateway.port).request({ ':path': '/', 'accept-encoding': coding });
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    await new Promise((resolve) => stream.on('close', resolve));
    expect((await decoded(Buffer.concat(pieces), coding)).toString('latin1')).toBe(LARGE);
    expect(gateway.records[0]).toMatchObject({ status: 200, bytes: Buffer.concat(pieces).length });
  });
});

describe('a compressed answer', () => {
  const headers = { 'accept-encoding': 'gzip' };

  it('that is whole when it leaves says how long it is, without what held for the octets before', async () => {
    const fields = `${TEXT}ETag: "a"\r\nAccept-Ranges: bytes\r\nContent-MD5: x\r\nX-Own: 1\r\n`;
    const gateway = await gatewayBefore(withLength(SMALL, fields));
    const answer = await fetchOctets(gateway.port, { headers });
    expect(answer.headers).toMatchObject({
      'content-length': String(answer.octets.length),
      etag: 'W/"a"',
      'x-own': '1',
    });
    for (const name of ['accept-ranges', 'content-md5']) expect(answer.headers).not.toHaveProperty(name);
    expect(await textOf(answer)).toBe(SMALL);
  });

  it('leaves the connection to the next request, however fast that comes', async () => {
    const gateway = await gatewayBefore(withLength(LARGE));
    const client = await RawClient.connect(gateway.port);
    client.send('GET /1 HTTP/1.1\r\nHost: s\r\nAccept-Encoding: br\r\n\r\n'.repeat(5));
    await client.until((text) => text.split('\r\n0\r\n\r\n').length === 6);
    expect(client.received.split('HTTP/1.1 200 OK')).toHaveLength(6);
    client.close();
    expect(gateway.records).toHaveLength(5);
  });

  it('keeps its trailers, but for digests of what the client does not get', async () => {
    const chunks = inChunks(SMALL, 700).slice(0, -2);
    const gateway = await gatewayBefore(`${chunks}X-Sum: 1\r\nRepr-Digest: x\r\n\r\n`);
    const answer = await fetchOctets(gateway.port, { headers: { ...headers, te: 'trailers' } });
    expect(answer.trailers).toEqual({ 'x-sum': '1' });
    expect(await textOf(answer)).toBe(SMALL);
  });

  it.each([
    ['gzip;q=0.5, br;q=0.4', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['zstd;q=0, *', 'br'],
  ])('for a client that accepts %s is in %s', async (accept, coding) => {
    const gateway = await gatewayBefore(withLength(SMALL));
    const answer = await fetchOctets(gateway.port, { headers: { 'accept-encoding': accept } });
    expect(answer.headers['content-encoding']).toBe(coding);
    expect(await textOf(answer)).toBe(SMALL);
  });

  it('comes from the fallback too, and what is kept for it is not compressed', async () => {
    let isUp = true;
    const upstream = await upstreamThat(({ socket }) => {
      if (isUp) socket.write(withLength(SMALL, `${TEXT}Cache-Control: max-age=60\r\n`));
      else socket.destroy();
    });
    const fallback = { on: ['unreachable'], chain: [{ stale: { maxAge: '1m' } }] };
    const route = { ...ROUTE, fallback };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route });
    expect(await textOf(await fetchOctets(gateway.port, { headers }))).toBe(SMALL);
    isUp = false;
    const stale = await fetchOctets(gateway.port, { headers });
    expect(stale.headers).toMatchObject({ 'content-encoding': 'gzip', 'x-degraded': expect.stringMatching('stale') });
    expect(await textOf(stale)).toBe(SMALL);
    const plain = await fetchOctets(gateway.port);
    expect(plain.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-length': String(SMALL.length) });
    expect(plain.octets.toString('latin1')).toBe(SMALL);
  });
});

describe('an answer that is left alone', () => {
  const headers = { 'accept-encoding': 'gzip, br, zstd' };

  it.each([
    ['a coding of its own', withLength(SMALL, `${TEXT}Content-Encoding: x-own\r\n`)],
    ['no-transform', withLength(SMALL, `${TEXT}Cache-Control: no-transform\r\n`)],
    ['a media type that is compressed already', withLength(SMALL, 'Content-Type: image/png\r\n')],
    ['no media type', withLength(SMALL, '')],
    ['few octets', withLength(SMALL.slice(0, 1000))],
    [
      'a range',
      withLength(SMALL, `${TEXT}Content-Range: bytes 0-4999/9000\r\n`).replace('200 OK', '206 Partial Content'),
    ],
  ])('for %s goes through octet by octet', async (_what, octets) => {
    const gateway = await gatewayBefore(octets);
    const plain = await gatewayBefore(octets, {});
    const request = get('/', 'Accept-Encoding: gzip, br, zstd\r\n');
    const withoutDate = (answer: string) => answer.replace(/Date: .*\r\n/, '');
    expect(withoutDate(await exchange(gateway.port, request))).toBe(withoutDate(await exchange(plain.port, request)));
  });

  it('for its few octets, which were not announced, says what it varies by', async () => {
    const gateway = await gatewayBefore(inChunks('short', 5));
    const answer = await fetchOctets(gateway.port, { headers });
    expect(answer.headers).toMatchObject({ vary: 'Accept-Encoding' });
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(answer.octets.toString()).toBe('short');
  });

  it('for content that does not get shorter says what it varies by', async () => {
    let noise = '';
    for (let seed = 7; noise.length < 1100; seed = (seed * 48_271) % 2_147_483_647) {
      noise += String.fromCharCode((seed >> 8) & 0xff);
    }
    const gateway = await gatewayBefore(withLength(noise));
    const answer = await fetchOctets(gateway.port, { headers: { 'accept-encoding': 'gzip' } });
    expect(answer.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-length': String(noise.length) });
    expect(answer.octets.toString('latin1')).toBe(noise);
  });

  it('for a client that accepts none of the codings says what it varies by', async () => {
    const gateway = await gatewayBefore(withLength(LARGE, `${TEXT}ETag: "a"\r\n`));
    const answer = await fetchOctets(gateway.port, { headers: { 'accept-encoding': 'deflate' } });
    expect(answer.headers).toMatchObject({ vary: 'Accept-Encoding', etag: '"a"', 'content-length': '300000' });
    expect(answer.octets.toString('latin1')).toBe(LARGE);
  });

  it('to HEAD has the fields of the content as it is', async () => {
    const gateway = await gatewayBefore(`HTTP/1.1 200 OK\r\n${TEXT}ETag: "a"\r\nContent-Length: 5000\r\n\r\n`);
    const answer = await fetchOctets(gateway.port, { method: 'HEAD', headers });
    expect(answer.headers).toMatchObject({ vary: 'Accept-Encoding', etag: '"a"', 'content-length': '5000' });
    expect(answer.headers).not.toHaveProperty('content-encoding');
  });

  it('304 confirms the weak tag that the client was given', async () => {
    const gateway = await gatewayBefore('HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n');
    const answer = await fetchOctets(gateway.port, { headers: { ...headers, 'if-none-match': 'W/"a"' } });
    expect(answer).toMatchObject({ status: 304, headers: { etag: 'W/"a"', vary: 'Accept-Encoding' } });
  });

  it('by Weir itself stays as it is', async () => {
    const gateway = await gatewayFor({ endpoints: [], route: ROUTE });
    const answer = await fetchOctets(gateway.port, { headers: { ...headers, accept: 'text/html' } });
    expect(answer.status).toBe(503);
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(gateway.records[0]).toMatchObject({ bytes: answer.octets.length });
  });

  it('on a route without compression varies by nothing', async () => {
    const gateway = await gatewayBefore(withLength(SMALL), {});
    const answer = await fetchOctets(gateway.port, { headers });
    expect(answer.headers).not.toHaveProperty('vary');
    expect(answer.octets.toString('latin1')).toBe(SMALL);
  });

  it('to an HTTP/2 client of a route that compresses still ends with its trailers', async () => {
    const upstream = await upstreamThat(answering(`${inChunks('short', 2).slice(0, -2)}X-Sum: 1\r\n\r\n`));
    const gateway = await http2GatewayFor({ endpoints: [upstream.port], route: ROUTE });
    const answer = await ask(sessionTo(gateway.port), { ':path': '/', 'accept-encoding': 'br' });
    expect(answer).toMatchObject({ status: 200, content: 'short', trailers: { 'x-sum': '1' } });
  });
});
