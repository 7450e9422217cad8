// The TLS of a real gateway as openssl s_client sees it: protocols by ALPN, resumption, renegotiation.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasOpenssl } from '../support/certificates.ts';
import { type FrontService, startFrontService } from '../support/http2-service.ts';
import { failureOf, openTls } from '../support/tls-client.ts';
import { startTlsWeir, type TlsWeir } from '../support/tls-weir.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);
const LIMIT_MS = 15_000;
/** Connections are spread by chance over two workers: so many are enough, but for one time in a million. */
const MOST_CONNECTIONS = 21;

describe.skipIf(!hasOpenssl())('openssl s_client at a listener with tls', () => {
  const owned = new AsyncDisposableStack();
  let service: FrontService;
  let front: TlsWeir;

  beforeAll(async () => {
    service = owned.adopt(await startFrontService(), (each) => each.stop());
    const endpoints = [`127.0.0.1:${service.port}`];
    front = await startTlsWeir(owned, { routes: { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }] } } });
  });
  afterAll(() => owned.disposeAsync());

  /** What it prints on both of its outputs; `input` is sent, and it goes on until the gateway ends the connection. */
  async function dial(
    args: readonly string[],
    input: string,
    waits: '-ign_eof' | '-no_ign_eof' = '-ign_eof',
  ): Promise<string> {
    const trust = ['-connect', `127.0.0.1:${front.port}`, '-CAfile', front.caFile];
    const called = run('openssl', ['s_client', ...trust, waits, ...args]);
    called.child.stdin?.end(input);
    const { stdout, stderr } = await called.catch((error: { stdout: string; stderr: string }) => error);
    return stdout + stderr;
  }

  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

  it.each([
    ['http/1.1', 'ALPN protocol: http/1.1'],
    ['http/1.0', 'ALPN protocol: http/1.0'],
    ['spdy/3,http/1.1', 'ALPN protocol: http/1.1'],
  ])('that offers %s has HTTP/1.1', async (offered, agreed) => {
    const said = await dial(['-alpn', offered], get('/'));
    expect(said).toContain(agreed);
    expect(said).toContain('HTTP/1.1 200 OK');
  });

  it('that offers nothing has HTTP/1.1', async () => {
    const said = await dial([], get('/'));
    expect(said).toContain('No ALPN negotiated');
    expect(said).toContain('HTTP/1.1 200 OK');
  });

  it.each(['h2', 'h2,http/1.1', 'http/1.1,h2'])('that offers %s has HTTP/2', async (offered) => {
    const said = await dial(['-alpn', offered], '', '-no_ign_eof');
    expect(said).toContain('ALPN protocol: h2');
    expect(said).toContain('Verify return code: 0 (ok)');
  });

  it('that offers only what the gateway does not speak is refused with the alert for it (RFC 7301)', async () => {
    const said = await dial(['-alpn', 'spdy/3'], get('/'));
    expect(said).toContain('alert no application protocol');
    expect(said).not.toContain('HTTP/1.1');
    const counted = async () =>
      (await front.weir.admin('/metrics')).body.includes('weir_tls_handshake_failures_total{reason="alpn"} 1\n');
    await waitFor(counted, { limitMs: LIMIT_MS, what: 'the failure to be counted' });
  });

  it.each(['-tls1_2', '-tls1_3'])('resumes a session of %s at both workers', async (version) => {
    const file = join(front.weir.folder, `session${version}.pem`);
    expect(await dial([version, '-sess_out', file], get('/'))).toMatch(/^New, /m);
    const workers = new Set<number>();
    for (let at = 0; workers.size < 2 && at < MOST_CONNECTIONS; at++) {
      const path = `/resumed${version}-${at}`;
      const said = await dial([version, '-sess_in', file], get(path));
      expect(said).toMatch(/^Reused, /m);
      expect(said).toContain('HTTP/1.1 200 OK');
      const find = () => front.weir.accessLog().find((line) => line.path === path);
      workers.add((await waitFor(find, { limitMs: LIMIT_MS, what: 'the access log' })).worker);
    }
    expect(workers.size).toBe(2);
  });

  it('cannot renegotiate, though it may be sure that nobody else does (RFC 5746)', async () => {
    const said = await dial(['-tls1_2'], 'R\n', '-no_ign_eof');
    expect(said).toContain('Secure Renegotiation IS supported');
    expect(said).toContain('RENEGOTIATING');
    expect(said).toContain('no renegotiation');
  });

  it.each(['-tls1', '-tls1_1'])('has no %s', async (version) => {
    const said = await dial([version, '-cipher', 'ALL:@SECLEVEL=0'], get('/'));
    expect(said).toMatch(/alert protocol version|no protocols available|unknown option/i);
    expect(said).not.toContain('HTTP/1.1');
  });

  it.each([
    ['AES128-GCM-SHA256', 'that keeps no secret for later'],
    ['ECDHE-ECDSA-AES128-SHA256', 'without AEAD'],
    ['DHE-RSA-AES128-GCM-SHA256', 'of finite fields'],
  ])('has no cipher %s, %s', async (cipher) => {
    expect(await dial(['-tls1_2', '-cipher', cipher], get('/'))).toMatch(/alert handshake failure|no cipher match/);
  });

  it('is given the cipher that the gateway likes best, but ChaCha20 where that is its own first', async () => {
    const ciphers = (...names: string[]) => [
      '-tls1_2',
      '-cipher',
      names.map((name) => `ECDHE-ECDSA-${name}`).join(':'),
    ];
    const strong = await dial(ciphers('AES256-GCM-SHA384', 'CHACHA20-POLY1305', 'AES128-GCM-SHA256'), get('/'));
    expect(strong).toContain('Cipher is ECDHE-ECDSA-AES128-GCM-SHA256');
    const phone = await dial(ciphers('CHACHA20-POLY1305', 'AES128-GCM-SHA256'), get('/'));
    expect(phone).toContain('Cipher is ECDHE-ECDSA-CHACHA20-POLY1305');
  });

  it('is beside clients that agree on keys which quantum computers would not find, and on no others than are good', async () => {
    for (const ecdhCurve of ['X25519MLKEM768', 'X25519', 'prime256v1', 'secp384r1']) {
      const socket = await openTls({ port: front.port, ecdhCurve });
      expect(socket.getProtocol()).toBe('TLSv1.3');
      socket.destroy();
    }
    expect(await failureOf({ port: front.port, ecdhCurve: 'secp521r1' })).toContain('HANDSHAKE_FAILURE');
  });
});
