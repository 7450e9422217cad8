// TLS ends at a listener: certificates by name, versions, resumption, stapling, and the same HTTP as without it.
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { type Authority, createAuthority, hasOpenssl, type SignedPair } from '../../support/certificates.ts';
import { sayingName } from '../../support/named-upstream.ts';
import { RawClient } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor, nodeUpstream, upstreamThat } from '../../support/scene.ts';
import { askTls, collect, failureOf, openTls } from '../../support/tls-client.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A response of RFC 6960 as far as its shell goes: successful, with an empty content. */
const OCSP = Buffer.from([0x30, 0x07, 0x0a, 0x01, 0x00, 0xa0, 0x02, 0x30, 0x00]);

describe.skipIf(!hasOpenssl())('a listener with tls', () => {
  endAfterEach();
  let authority: Authority;
  let pairs: Record<'first' | 'exact' | 'wildcard' | 'rsa' | 'ec', SignedPair>;
  let ocsp: string;

  beforeAll(() => {
    authority = createAuthority();
    pairs = {
      first: authority.sign('first', { names: ['DNS:first.example'] }),
      exact: authority.sign('exact', { names: ['DNS:a.example', 'DNS:www.a.example'] }),
      wildcard: authority.sign('wildcard', { names: ['DNS:*.a.example', 'IP:127.0.0.1'] }),
      rsa: authority.sign('rsa', { names: ['DNS:both.example'], keyType: 'rsa' }),
      ec: authority.sign('ec', { names: ['DNS:both.example'] }),
    };
    ocsp = join(authority.folder, 'exact.ocsp');
    writeFileSync(ocsp, OCSP);
  });
  afterAll(() => authority.remove());

  const filesOf = ({ certFile, keyFile }: SignedPair) => ({ cert: certFile, key: keyFile });
  const listed = (tls: object = {}) => ({
    tls: { certificates: [pairs.first, pairs.exact, pairs.wildcard, pairs.rsa, pairs.ec].map(filesOf), ...tls },
  });

  async function secureGateway(listener: Readonly<Record<string, unknown>> = listed(), ticketKeys = randomBytes(48)) {
    const upstream = await upstreamThat(sayingName('hello'));
    return { upstream, ...(await gatewayFor({ endpoints: [upstream.port], listener, ticketKeys })) };
  }

  it.each([
    ['the exact name', 'a.example', 'exact'],
    ['an exact name before a wildcard', 'www.a.example', 'exact'],
    ['the name in capitals', 'WWW.A.Example', 'exact'],
    ['the name with a final dot', 'a.example.', 'exact'],
    ['one label below a wildcard', 'b.a.example', 'wildcard'],
    ['two labels below a wildcard, which is nobody', 'c.b.a.example', 'first'],
    ['a name of nobody', 'other.example', 'first'],
    ['no name', '', 'first'],
  ])('shows the certificate for %s', async (_what, servername, name) => {
    const { port } = await secureGateway();
    expect(await askTls({ port, servername })).toMatchObject({ subject: name, text: expect.stringMatching(/hello$/) });
  });

  it('shows of two certificates for the same names the one whose key the client understands, if they are the first', async () => {
    const certificates = [pairs.rsa, pairs.ec, pairs.exact].map(filesOf);
    const { port } = await secureGateway({ tls: { certificates } });
    const only = (ciphers: string) => askTls({ port, servername: 'both.example', ciphers, maxVersion: 'TLSv1.2' });
    expect((await only('ECDHE-RSA-AES128-GCM-SHA256')).subject).toBe('rsa');
    expect((await only('ECDHE-ECDSA-AES128-GCM-SHA256')).subject).toBe('ec');
  });

  it('reads a folder, in flat pairs and as certbot keeps them', async () => {
    const folder = join(authority.folder, 'folder');
    mkdirSync(join(folder, 'z.example'), { recursive: true });
    const flat = authority.sign('flat', { names: ['DNS:flat.example'], folder });
    writeFileSync(join(folder, 'z.example/fullchain.pem'), pairs.exact.cert);
    writeFileSync(join(folder, 'z.example/privkey.pem'), pairs.exact.key);
    const { port } = await secureGateway({ tls: { certificates: folder } });
    expect((await askTls({ port, servername: 'a.example' })).subject).toBe('exact');
    expect((await askTls({ port, servername: 'nobody.example' })).subject).toBe('flat');
    expect(flat.certFile).toContain('folder');
  });

  describe.each(['TLSv1.2', 'TLSv1.3'] as const)('in %s', (version) => {
    it('carries requests, and says https to the service', async () => {
      const { port } = await secureGateway();
      const { requests, port: service } = await nodeUpstream();
      const gateway = await gatewayFor({ endpoints: [service], listener: listed() });
      expect((await askTls({ port, maxVersion: version, minVersion: version })).protocol).toBe(version);
      const answer = await askTls({ port: gateway.port, maxVersion: version });
      expect(answer.text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*ok/);
      expect(requests[0]?.fields.join(' ')).toContain('X-Forwarded-Proto https');
    });

    it('reads what comes octet by octet', async () => {
      const { port } = await secureGateway();
      const socket = await openTls({ port, servername: 'a.example', maxVersion: version });
      const client = collect(socket);
      for (const octet of 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n') socket.write(octet);
      expect(await client.until('hello')).toContain('200 OK');
      socket.destroy();
    });

    it('shakes hands octet by octet', async () => {
      const { port } = await secureGateway();
      const raw = connect({ port, host: '127.0.0.1', noDelay: true });
      const { Duplex } = await import('node:stream');
      const split = new Duplex({
        read: () => undefined,
        write(piece: Buffer, _encoding, done) {
          for (const octet of piece) raw.write(Buffer.of(octet));
          done();
        },
      });
      raw.on('data', (piece) => split.push(piece)).on('error', () => undefined);
      const secure = connectTls({
        socket: split,
        servername: 'a.example',
        rejectUnauthorized: false,
        maxVersion: version,
      });
      const client = collect(secure);
      secure.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
      expect(await client.until('hello')).toContain('200 OK');
      secure.destroy();
      raw.destroy();
    });

    it('resumes a session at another worker that has the same keys of tickets, and at none that has others', async () => {
      const keys = randomBytes(48);
      const [one, same, other] = [
        await secureGateway(listed(), keys),
        await secureGateway(listed(), keys),
        await secureGateway(),
      ];
      const { session, isResumed } = await askTls({ port: one.port, servername: 'a.example', maxVersion: version });
      expect([isResumed, session?.length]).toEqual([false, expect.any(Number)]);
      const again = (port: number) => askTls({ port, servername: 'a.example', maxVersion: version, session });
      expect((await again(same.port)).isResumed).toBe(true);
      expect((await again(other.port)).isResumed).toBe(false);
      const counted = version === 'TLSv1.2' ? '1.2' : '1.3';
      expect(same.handshakes.handshakes(counted, true)).toBe(1);
      expect(other.handshakes.handshakes(counted, false)).toBe(1);
    });

    it('resumes nothing where tickets are off', async () => {
      const { port } = await secureGateway(listed({ tickets: false }));
      const { session } = await askTls({ port, maxVersion: version });
      expect((await askTls({ port, maxVersion: version, session })).isResumed).toBe(false);
    });

    it('staples the OCSP response of the certificate that is shown, and none for others', async () => {
      const certificates = [filesOf(pairs.first), { ...filesOf(pairs.exact), ocsp }];
      const { port } = await secureGateway({ tls: { certificates } });
      const ask = (servername: string) => askTls({ port, servername, maxVersion: version, requestOCSP: true });
      expect((await ask('a.example')).ocsp).toEqual(OCSP);
      expect((await ask('first.example')).ocsp).toBeUndefined();
    });
  });

  it('speaks no version below the one that is asked for, and counts why', async () => {
    const { port, handshakes } = await secureGateway(listed({ minVersion: '1.3' }));
    expect(await failureOf({ port, maxVersion: 'TLSv1.2' })).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
    expect(handshakes.failures('version')).toBe(1);
  });

  it('has no cipher without forward secrecy, and others only where they are asked for', async () => {
    const cbc = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256' } as const;
    const { port, handshakes } = await secureGateway();
    expect(await failureOf({ port, ...cbc })).toMatch(/HANDSHAKE_FAILURE$/);
    expect(handshakes.failures('cipher')).toBe(1);
    const lenient = await secureGateway(listed({ ciphers: ['ECDHE-ECDSA-AES128-SHA256'] }));
    expect(await failureOf({ port: lenient.port, ...cbc })).toMatch(/^answered HTTP/);
  });

  it('agrees on http/1.1, and on nothing with a client that speaks only something else', async () => {
    const { port, handshakes } = await secureGateway();
    const socket = await openTls({ port, ALPNProtocols: ['spdy/3', 'http/1.1'] });
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
    expect(await failureOf({ port, ALPNProtocols: ['spdy/3'] })).toMatch(/NO_APPLICATION_PROTOCOL$/);
    expect(handshakes.failures('alpn')).toBe(1);
  });

  it('does not renegotiate', async () => {
    const { port } = await secureGateway();
    const socket = await openTls({ port, maxVersion: 'TLSv1.2' });
    socket.on('error', () => undefined);
    const error = await new Promise<Error | null>((resolve) => {
      socket.once('error', resolve);
      socket.renegotiate({ rejectUnauthorized: false }, (refused) => resolve(refused));
    });
    expect(error).toBeInstanceOf(Error);
    socket.destroy();
  });

  it('tells a client that speaks plain HTTP so, once it is known to', async () => {
    const { port, handshakes, records } = await secureGateway();
    const client = await RawClient.connect(port);
    client.send('G');
    client.send('ET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
    const answer = await client.untilClosed();
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*This port speaks HTTPS/);
    expect(handshakes.failures('plain_http')).toBe(1);
    expect(records).toMatchObject([{ status: 400, error: 'plain_http' }]);
  });

  it.each(['\x00\x01\x02', '\x80\x2e\x01'])(
    'says nothing to octets that are neither TLS nor HTTP: %j',
    async (octets) => {
      const { port } = await secureGateway();
      const client = await RawClient.connect(port);
      client.send(octets);
      expect(await client.untilClosed()).toBe('');
    },
  );

  it.each(['', '\x16', '\x16\x03\x01'])(
    'ends a handshake that stops after %j, in the time of a request head',
    async (octets) => {
      const gateway = { timeouts: { requestHead: '300ms' } };
      const upstream = await upstreamThat(sayingName('hello'));
      const { port, handshakes, connections } = await gatewayFor({
        endpoints: [upstream.port],
        listener: listed(),
        gateway,
      });
      const client = await RawClient.connect(port);
      client.send(octets);
      await client.untilClosed();
      expect(handshakes.failures('timeout')).toBe(1);
      await waitFor(() => connections().downstream === 0, { limitMs: 2000, what: 'no connection to be counted' });
    },
  );

  it('counts connections from the accept, and ends those without a handshake when it drains', async () => {
    const gateway = await secureGateway();
    const silent = await RawClient.connect(gateway.port);
    await waitFor(() => gateway.connections().downstream === 1, {
      limitMs: 2000,
      what: 'the connection to be counted',
    });
    await gateway.drain();
    await silent.untilClosed();
    expect(gateway.connections().downstream).toBe(0);
  });

  it('answers what is under way when it drains, and closes then', async () => {
    const upstream = await upstreamThat(() => undefined);
    const gateway = await gatewayFor({ endpoints: [upstream.port], listener: listed() });
    const socket = await openTls({ port: gateway.port });
    const client = collect(socket);
    socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
    await waitFor(() => upstream.connections.length === 1, { limitMs: 2000, what: 'the request to arrive' });
    const drained = gateway.drain();
    upstream.connections[0]?.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate');
    expect(await client.until('late')).toContain('Connection: close');
    await drained;
    socket.destroy();
  });

  it('keeps a connection for many requests, and sends large contents whole both ways', async () => {
    const { requests, port: service } = await nodeUpstream();
    const { port } = await gatewayFor({ endpoints: [service], listener: listed() });
    const socket = await openTls({ port });
    const client = collect(socket);
    const content = 'x'.repeat(1_000_000);
    for (let at = 0; at < 3; at++) {
      const last = at === 2 ? 'Connection: close\r\n' : '';
      socket.write(`POST /${at} HTTP/1.1\r\nHost: a\r\n${last}Content-Length: ${content.length}\r\n\r\n${content}`);
    }
    await client.until('Connection: close');
    await waitFor(() => requests.length === 3, { limitMs: 5000, what: 'three requests' });
    expect(requests.every((request) => request.content === content)).toBe(true);
    socket.destroy();
  });

  it('reads no more from the service than a client takes that does not read, and cuts it in time', async () => {
    const piece = Buffer.alloc(65_536, 0x78);
    let taken = 0;
    const upstream = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n');
      const pump = (): void => {
        while (socket.writable && socket.write(piece)) taken += piece.length;
        if (socket.writable) socket.once('drain', pump);
      };
      pump();
    });
    const gateway = { timeouts: { write: '500ms' } };
    const { port, connections } = await gatewayFor({ endpoints: [upstream.port], listener: listed(), gateway });
    const socket = await openTls({ port });
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
    await waitFor(() => connections().downstream === 0, { limitMs: 10_000, what: 'the connection to be cut' });
    expect(taken).toBeLessThan(50_000_000);
    expect(connections().upstream).toBe(0);
    socket.destroy();
  });

  it('lets the client see an answer that breaks off, where its end would be the end of the content', async () => {
    const upstream = await upstreamThat(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
      setImmediate(() => socket.destroy());
    });
    const { port } = await gatewayFor({ endpoints: [upstream.port], listener: listed() });
    expect(await failureOf({ port, send: 'GET / HTTP/1.0\r\nHost: a.example\r\n\r\n' })).toBe('ECONNRESET');
  });

  it('tunnels a WebSocket', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => socket.on('message', (message) => socket.send(`echo ${message}`)));
    await waitFor(() => server.address() !== null, { limitMs: 2000, what: 'the service to listen' });
    const address = server.address();
    const service = typeof address === 'object' && address !== null ? address.port : 0;
    const { port } = await gatewayFor({ endpoints: [service], listener: { ...listed(), hsts: '1h' } });
    const client = new WebSocket(`wss://127.0.0.1:${port}/`, { rejectUnauthorized: false });
    let hsts: unknown;
    client.on('upgrade', ({ headers }) => {
      hsts = headers['strict-transport-security'];
    });
    const message = new Promise((resolve) => client.once('message', (text) => resolve(String(text))));
    client.on('open', () => client.send('hello'));
    expect(await message).toBe('echo hello');
    expect(hsts).toBe('max-age=3600');
    client.terminate();
    for (const each of server.clients) each.terminate();
    server.close();
  });

  it('puts another certificate in force without touching connections that stand', async () => {
    const folder = join(authority.folder, 'swap');
    mkdirSync(folder);
    const before = authority.sign('one', { folder, names: ['DNS:a.example'] });
    const gateway = await secureGateway({ tls: { certificates: folder } });
    const socket = await openTls({ port: gateway.port });
    const client = collect(socket);
    const after = authority.sign('two', { names: ['DNS:a.example'] });
    writeFileSync(before.certFile, after.cert);
    writeFileSync(before.keyFile, after.key);
    await gateway.rereadCertificates();
    expect((await askTls({ port: gateway.port, servername: 'a.example' })).subject).toBe('two');
    expect((await askTls({ port: gateway.port })).subject).toBe('two');
    socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
    expect(await client.until('hello')).toContain('200 OK');
    socket.destroy();
  });

  it('says Strict-Transport-Security in every answer, in place of what the service says', async () => {
    const answer = sayingName('hello', '200 OK', 'strict-transport-SECURITY: max-age=1\r\nX-A: 1\r\n');
    const upstream = await upstreamThat(answer);
    const hsts = { maxAge: '8760h', includeSubDomains: true };
    const { port } = await gatewayFor({ endpoints: [upstream.port], listener: { ...listed(), hsts } });
    const linesOf = (text: string) => text.split('\r\n').filter((line) => /^strict-transport/i.test(line));
    const wanted = ['Strict-Transport-Security: max-age=31536000; includeSubDomains'];
    const { text } = await askTls({ port });
    expect([linesOf(text), text.includes('X-A: 1')]).toEqual([wanted, true]);
    for (const send of ['GET / HTTP/1.1\r\n\r\n', 'GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n']) {
      const refused = await askTls({ port, send });
      expect(refused.text).toMatch(/^HTTP\/1\.1 400 /);
      expect(linesOf(refused.text)).toEqual(wanted);
    }
  });
});
