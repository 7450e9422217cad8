// Listeners behind proxies that say who the client is with a PROXY header: in front of plain HTTP, of TLS and of HTTP/2.
import { once } from 'node:events';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { type Authority, createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { GET as GET_FIELDS, headers, PREFACE, settings } from '../../support/http2-frames.ts';
import { sayingName } from '../../support/named-upstream.ts';
import { binaryHeader, furtherPart, ipv4Addresses, ipv6Addresses } from '../../support/proxy-headers.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { RawHttp2Client } from '../../support/raw-http2-client.ts';
import { endAfterEach, gatewayFor, nodeUpstream, upstreamThat } from '../../support/scene.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const SENDERS = { proxyProtocol: ['127.0.0.0/8'] };
const TEXT = 'PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n';
const BINARY = binaryHeader({
  parts: [ipv4Addresses('203.0.113.7'), furtherPart(0x02, Buffer.from('shop.example'))],
}).toString('latin1');

type Options = Partial<Parameters<typeof gatewayFor>[0]>;

async function scene(options: Options = {}) {
  const service = await nodeUpstream();
  const gateway = await gatewayFor({ endpoints: [service.port], listener: SENDERS, ...options });
  return { service, gateway, clientsSeen: () => service.requests.map(({ fields }) => clientIn(fields)) };
}

/** What the service was told of the client. */
function clientIn(fields: readonly string[]): string | undefined {
  return fields[fields.indexOf('X-Forwarded-For') + 1];
}

async function ask(port: number, octets: string): Promise<string> {
  const client = await RawClient.connect(port);
  client.send(octets);
  return client.untilClosed();
}

describe('a peer that sends PROXY headers', () => {
  it.each([
    ['version 1', TEXT, '203.0.113.7'],
    ['version 1 over IPv6', 'PROXY TCP6 2001:0db8::0007 ::1 1 1\r\n', '2001:db8::7'],
    ['version 2', BINARY, '203.0.113.7'],
    [
      'version 2 over IPv6',
      binaryHeader({ family: 0x21, parts: [ipv6Addresses('20010db8000000000000000000000007')] }).toString('latin1'),
      '2001:db8::7',
    ],
    ['UNKNOWN, which is itself', 'PROXY UNKNOWN\r\n', '127.0.0.1'],
    ['LOCAL, which is itself', binaryHeader({ command: 0x20, family: 0 }).toString('latin1'), '127.0.0.1'],
    [
      'a UNIX socket, which is itself',
      binaryHeader({ family: 0x31, parts: [Buffer.alloc(216)] }).toString('latin1'),
      '127.0.0.1',
    ],
  ])('tells the client by %s', async (_what, header, client) => {
    const { gateway, clientsSeen } = await scene();
    expect(await ask(gateway.port, header + get('/'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(clientsSeen()).toEqual([client]);
    expect(gateway.records).toMatchObject([{ client }]);
  });

  it.each([
    ['version 1', TEXT],
    ['version 2', BINARY],
  ])('may send it octet by octet: %s', async (_what, header) => {
    const { gateway, clientsSeen } = await scene();
    const client = await RawClient.connect(gateway.port);
    for (const octet of header + get('/')) {
      client.send(octet);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 /);
    expect(clientsSeen()).toEqual(['203.0.113.7']);
  });

  it('may send it alone, and the request when that is read', async () => {
    const { gateway } = await scene();
    const client = await RawClient.connect(gateway.port);
    client.send(TEXT);
    await waitFor(() => gateway.connections().downstream === 1, { limitMs: 2000, what: 'the connection' });
    client.send(get('/'));
    expect(await client.untilClosed()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('is the client it names for every request of the connection, and for a large one at once', async () => {
    const { gateway, service, clientsSeen } = await scene();
    const post = `POST / HTTP/1.1\r\nHost: s\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`;
    expect(await ask(gateway.port, BINARY + post + get('/'))).toMatch(/200 OK[\s\S]*ok[\s\S]*200 OK[\s\S]*ok$/);
    expect(clientsSeen()).toEqual(['203.0.113.7', '203.0.113.7']);
    expect(service.requests[0]?.content).toHaveLength(300_000);
  });

  it('is answered when it ends its side with the request', async () => {
    const { gateway } = await scene();
    const client = await RawClient.connect(gateway.port);
    client.socket.end(`${TEXT}GET / HTTP/1.0\r\n\r\n`);
    expect(await client.untilClosed()).toMatch(/ 200 /);
  });

  it('is not trusted for its own address, but for that of the client', async () => {
    const forwarded = 'X-Forwarded-For: 198.51.100.1\r\n';
    const own = await scene({ gateway: { trustedProxies: ['127.0.0.1'] } });
    await ask(own.gateway.port, TEXT + get('/', forwarded));
    expect(own.clientsSeen()).toEqual(['203.0.113.7']);
    const named = await scene({ gateway: { trustedProxies: ['203.0.113.0/24'] } });
    await ask(named.gateway.port, TEXT + get('/', forwarded));
    expect(named.clientsSeen()).toEqual(['198.51.100.1, 203.0.113.7']);
    expect(named.gateway.records).toMatchObject([{ client: '198.51.100.1' }]);
  });

  it('has clients who may not come in, and who have limits of their own', async () => {
    const route = { deny: ['198.51.100.0/24'], rateLimit: [{ key: 'client_ip', rate: '1/h', burst: 1 }] };
    const { gateway } = await scene({ route });
    const statusFor = async (source: string) =>
      (await ask(gateway.port, `PROXY TCP4 ${source} 192.0.2.1 1 1\r\n${get('/')}`)).slice(9, 12);
    expect(await statusFor('198.51.100.1')).toBe('403');
    expect(await statusFor('203.0.113.7')).toBe('200');
    expect(await statusFor('203.0.113.7')).toBe('429');
    expect(await statusFor('203.0.113.8')).toBe('200');
  });

  it('may carry a WebSocket', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('connection', (socket, { headers: fields }) => socket.send(String(fields['x-forwarded-for'])));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const gateway = await gatewayFor({
      endpoints: [port],
      listener: SENDERS,
    });
    const socket = new WebSocket('ws://s/', {
      createConnection: () => {
        const raw = connect({ port: gateway.port, host: '127.0.0.1' });
        raw.write(TEXT);
        return raw;
      },
    });
    const [message] = await once(socket, 'message');
    expect(String(message)).toBe('203.0.113.7');
    socket.close();
    await once(socket, 'close');
    server.close();
  });

  it('may carry HTTP/2, in one segment with the header', async () => {
    const { gateway, clientsSeen } = await scene({ listener: { ...SENDERS, http2: true } });
    const client = await RawHttp2Client.silent(gateway.port);
    client.send(Buffer.from(BINARY, 'latin1'), PREFACE, settings(), headers(1, GET_FIELDS));
    expect(await client.fateOf(1)).toBe('status 200');
    expect(clientsSeen()).toEqual(['203.0.113.7']);
    client.close();
  });
});

describe('a peer that has to send a PROXY header', () => {
  it.each([
    ['a request', get('/')],
    ['a hello of TLS', '\x16\x03\x01\x02\0\x01'],
    ['the preface of HTTP/2', PREFACE.toString('latin1')],
    ['a header that is none', 'PROXY TCP4 203.0.113.7 192.0.2.1 1 99999\r\n'],
    [
      'a header with a wrong checksum',
      `${binaryHeader({ parts: [ipv4Addresses('203.0.113.7'), furtherPart(3, Buffer.alloc(4))] }).toString('latin1')}`,
    ],
  ])('is closed without a word when it sends %s', async (_what, octets) => {
    const { gateway, service } = await scene({ listener: { ...SENDERS, http2: true } });
    expect(await ask(gateway.port, octets + get('/'))).toBe('');
    expect(gateway.proxyHeaderFailures('malformed')).toBe(1);
    expect(service.requests).toEqual([]);
    expect(gateway.records).toEqual([]);
    await waitFor(() => gateway.connections().downstream === 0, { limitMs: 2000, what: 'no connection to be counted' });
  });

  it.each(['', 'PROXY TCP4 203.0', BINARY.slice(0, 20)])('is closed when it stops after %j', async (octets) => {
    const { gateway } = await scene({ gateway: { timeouts: { requestHead: '300ms' } } });
    expect(await ask(gateway.port, octets)).toBe('');
    expect(gateway.proxyHeaderFailures('timeout')).toBe(1);
  });

  it.each(['', 'PROXY TCP4 203.0'])('is counted when it leaves after %j', async (octets) => {
    const { gateway } = await scene();
    const client = await RawClient.connect(gateway.port);
    client.socket.end(octets, 'latin1');
    await client.untilClosed();
    await waitFor(() => gateway.proxyHeaderFailures('closed') === 1, { limitMs: 2000, what: 'the failure' });
    expect(gateway.connections().downstream).toBe(0);
  });

  it('is counted when it breaks off', async () => {
    const { gateway } = await scene();
    const client = await RawClient.connect(gateway.port);
    client.send('PROXY');
    await waitFor(() => gateway.connections().downstream === 1, { limitMs: 2000, what: 'the connection' });
    client.reset();
    await waitFor(() => gateway.proxyHeaderFailures('closed') === 1, { limitMs: 2000, what: 'the failure' });
  });

  it('holds up neither a drain nor a stop', async () => {
    const { gateway } = await scene();
    const silent = await RawClient.connect(gateway.port);
    await waitFor(() => gateway.connections().downstream === 1, { limitMs: 2000, what: 'the connection' });
    await gateway.drain();
    await silent.untilClosed();
    expect(gateway.connections().downstream).toBe(0);
    const other = await scene();
    const halfway = await RawClient.connect(other.gateway.port);
    halfway.send('PROXY');
    await waitFor(() => other.gateway.connections().downstream === 1, { limitMs: 2000, what: 'the connection' });
    await other.gateway.stop();
    await halfway.untilClosed();
  });
});

describe('any other peer', () => {
  const listener = { proxyProtocol: ['192.0.2.0/24', '2001:db8::/32'] };

  it('is served as ever', async () => {
    const { gateway, clientsSeen } = await scene({ listener });
    expect(await ask(gateway.port, get('/'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(clientsSeen()).toEqual(['127.0.0.1']);
  });

  it.each([
    ['version 1', TEXT],
    ['version 2', BINARY],
  ])('sends garbage when it sends a header: %s', async (_what, header) => {
    const { gateway, service } = await scene({ listener });
    expect(await ask(gateway.port, header + get('/'))).toMatch(/^HTTP\/1\.1 400 /);
    expect(service.requests).toEqual([]);
    expect(gateway.proxyHeaderFailures('malformed')).toBe(0);
    expect(gateway.records).toMatchObject([{ client: '127.0.0.1', status: 400 }]);
  });
});

describe.skipIf(!hasOpenssl())('a PROXY header in front of TLS', () => {
  let authority: Authority;
  let tls: object;
  beforeAll(() => {
    authority = createAuthority();
    const { certFile, keyFile } = authority.sign('a', { names: ['DNS:a.example'] });
    tls = { certificates: [{ cert: certFile, key: keyFile }] };
  });
  afterAll(() => authority.remove());

  /** Asks over TLS with these octets in front of the hello, written by `write`. */
  async function askBehind(port: number, write: (hello: Buffer, send: (octets: Buffer) => void) => void) {
    const raw = connect({ port, host: '127.0.0.1', noDelay: true });
    let isFirst = true;
    const wire = new Duplex({
      read: () => undefined,
      write(piece: Buffer, _encoding, done) {
        if (isFirst) write(piece, (octets) => raw.write(octets));
        else raw.write(piece);
        isFirst = false;
        done();
      },
    });
    raw.on('data', (piece) => wire.push(piece)).on('error', () => undefined);
    const secure = connectTls({ socket: wire, servername: 'a.example', rejectUnauthorized: false });
    let text = '';
    secure.on('data', (piece: Buffer) => {
      text += piece.toString('latin1');
    });
    secure.write(get('/'));
    await waitFor(() => text.includes('\r\n\r\n'), { limitMs: 5000, what: 'an answer' });
    secure.destroy();
    raw.destroy();
    return text;
  }

  it.each([
    [
      'in one segment with the hello',
      (hello: Buffer, send: (octets: Buffer) => void) => send(Buffer.concat([Buffer.from(BINARY, 'latin1'), hello])),
    ],
    [
      'octet by octet',
      (hello: Buffer, send: (octets: Buffer) => void) => {
        for (const octet of Buffer.concat([Buffer.from(TEXT), hello])) send(Buffer.of(octet));
      },
    ],
    [
      'cut within both',
      (hello: Buffer, send: (octets: Buffer) => void) => {
        send(Buffer.from(TEXT.slice(0, 20)));
        send(Buffer.concat([Buffer.from(TEXT.slice(20)), hello.subarray(0, 1)]));
        send(hello.subarray(1));
      },
    ],
  ])('tells the client, %s', async (_what, write) => {
    const { gateway, clientsSeen } = await scene({ listener: { ...SENDERS, tls } });
    expect(await askBehind(gateway.port, write)).toMatch(/^HTTP\/1\.1 200 /);
    expect(clientsSeen()).toEqual(['203.0.113.7']);
    expect(gateway.handshakes.handshakes('1.3', false)).toBe(1);
  });

  it('may be followed by plain HTTP, which is refused to the client it names', async () => {
    const upstream = await upstreamThat(sayingName('hello'));
    const { port, handshakes, records } = await gatewayFor({
      endpoints: [upstream.port],
      listener: { ...SENDERS, tls },
    });
    expect(await ask(port, TEXT + get('/'))).toMatch(/^HTTP\/1\.1 400 /);
    expect(handshakes.failures('plain_http')).toBe(1);
    expect(records).toMatchObject([{ client: '203.0.113.7', error: 'plain_http' }]);
  });
});
