// TLS at the public listener of a real gateway: what tools see, and certificates that change while it serves.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority, hasOpenssl } from '../support/certificates.ts';
import { ConfigFiles } from '../support/config-files.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { startHttpServer } from '../support/local-server.ts';
import { send } from '../support/send.ts';
import { askTls, failureOf, openTls } from '../support/tls-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const run = promisify(execFile);
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const LIMIT = { limitMs: 15_000 };
const ROTATIONS = 50;

interface ListenerPage {
  readonly address: string;
  readonly tls: boolean;
  readonly certificates: readonly { certificate: string; names: string[]; notAfter: string; problem: string | null }[];
}

describe.skipIf(!hasOpenssl())('a public listener with tls', () => {
  const owned = new AsyncDisposableStack();
  let authority: Authority;
  let weir: WeirProcess;
  let port: number;
  let plainPort: number;
  let folder: string;

  beforeAll(async () => {
    authority = createAuthority();
    owned.defer(() => authority.remove());
    for (const version of ['one', 'two']) {
      const versioned = join(authority.folder, version);
      mkdirSync(versioned);
      authority.sign('site', {
        folder: versioned,
        subject: `/CN=${version}`,
        names: ['DNS:localhost', 'DNS:a.example'],
      });
    }
    folder = join(authority.folder, 'current');
    symlinkSync('one', folder);
    const service = owned.adopt(
      await startHttpServer((request, response) => response.end(`secure ${request.url}`)),
      (each) => each.stop(),
    );
    [port = 0, plainPort = 0] = await findFreePorts(2);
    const listen = [
      { address: `127.0.0.1:${port}`, tls: { certificates: folder } },
      { address: `127.0.0.1:${plainPort}`, redirect: { to: 'https', port } },
    ];
    const route = { service: 'web', endpoints: [`127.0.0.1:${service.port}`], match: [{ paths: ['/*'] }] };
    weir = owned.adopt(await startWeir({ gateway: { listen }, routes: { web: route } }), (each) => each.close());
  });
  afterAll(() => owned.disposeAsync());

  /** Swaps the folder in one step, as certbot and Kubernetes do. */
  function swapTo(version: string): void {
    symlinkSync(version, `${folder}.new`);
    renameSync(`${folder}.new`, folder);
  }

  const shown = async () => (await askTls({ port, servername: 'a.example' })).subject;
  const shows = (subject: string) =>
    waitFor(async () => (await shown()) === subject, { ...LIMIT, what: `the certificate ${subject}` });

  async function listeners(): Promise<readonly ListenerPage[]> {
    const { body } = await weir.admin('/debug/upstreams');
    const { gateway }: { gateway: { listeners: ListenerPage[] } } = JSON.parse(body);
    return gateway.listeners;
  }

  async function metric(series: string): Promise<number> {
    const { body } = await weir.admin('/metrics');
    const line = body.split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length));
  }

  it.skipIf(!hasCurl)('is a web server to curl, which finds it by the plain port too', async () => {
    const follow = ['-sS', '--http1.1', '--cacert', authority.caFile, '-L'];
    const { stdout } = await run('curl', [
      ...follow,
      `https://localhost:${port}/a`,
      `http://localhost:${plainPort}/b?c=d`,
    ]);
    expect(stdout).toBe('secure /asecure /b?c=d');
  });

  it.each([
    ['-tls1_2', 'TLSv1.2'],
    ['-tls1_3', 'TLSv1.3'],
  ])('is found good by openssl s_client %s', async (flag, version) => {
    const options = ['-connect', `127.0.0.1:${port}`, '-servername', 'a.example', '-verify_hostname', 'a.example'];
    const called = run('openssl', ['s_client', flag, ...options, '-CAfile', authority.caFile, '-alpn', 'http/1.1']);
    called.child.stdin?.end('GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n');
    const { stdout } = await called;
    expect(stdout).toContain('Verify return code: 0 (ok)');
    expect(stdout).toContain(version);
    expect(stdout).toContain('ALPN protocol: http/1.1');
  });

  it('refuses TLS 1.1', async () => {
    const old = ['s_client', '-tls1_1', '-cipher', 'ALL:@SECLEVEL=0', '-connect', `127.0.0.1:${port}`];
    await expect(run('openssl', old)).rejects.toThrow(/alert protocol version|no protocols available/);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('resumes a session of %s at every worker', async (maxVersion) => {
    const { session } = await askTls({ port, maxVersion });
    const workers = new Set<number>();
    for (let at = 0; workers.size < 2 && at < 200; at++) {
      const path = `/resumed-${maxVersion}-${at}`;
      const sent = `GET ${path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`;
      expect((await askTls({ port, maxVersion, session, send: sent })).isResumed).toBe(true);
      const find = () => weir.accessLog().find((line) => line.path === path);
      workers.add((await waitFor(find, { ...LIMIT, what: 'the access log' })).worker);
    }
    expect(workers.size).toBe(2);
    expect(await metric(`weir_tls_handshakes_total{version="${maxVersion.slice(4)}",resumed="true"}`)).toBeGreaterThan(
      1,
    );
  });

  it('shows its certificates, and never their keys', async () => {
    const [secure, plain] = await listeners();
    expect(plain).toMatchObject({ tls: false, certificates: [] });
    expect(secure).toEqual({
      address: `127.0.0.1:${port}`,
      tls: true,
      certificates: [
        {
          certificate: join(folder, 'site.pem'),
          names: ['localhost', 'a.example'],
          notAfter: expect.stringMatching(/^2\d{3}-/),
          problem: null,
        },
      ],
    });
    const expiry = await metric(`weir_tls_certificate_not_after_seconds{certificate="${join(folder, 'site.pem')}"}`);
    expect(expiry * 1000).toBe(Date.parse(secure?.certificates[0]?.notAfter ?? ''));
    // Two days are less than two weeks.
    expect(await weir.logged('certificate expires soon')).toHaveLength(1);
    const pages = await Promise.all(['/debug/upstreams', '/debug/config', '/metrics'].map((path) => weir.admin(path)));
    const secret = readFileSync(join(folder, 'site.key'), 'utf8').split('\n')[1] ?? '';
    expect(secret.length).toBeGreaterThan(40);
    expect(pages.map(({ body }) => body).join() + JSON.stringify(weir.log())).not.toContain(secret);
  });

  it(`changes its certificate ${ROTATIONS} times under load, and no request fails`, async () => {
    const load = { answered: 0, failures: [] as string[], isOver: false };
    const fresh = async () => {
      while (!load.isOver) {
        try {
          const { text } = await askTls({ port, servername: 'a.example' });
          if (text.endsWith('secure /')) load.answered++;
          else load.failures.push(text);
        } catch (error) {
          load.failures.push(String(error));
        }
      }
    };
    const kept = await openTls({ port });
    let keptText = '';
    kept.on('data', (chunk: Buffer) => {
      keptText += chunk.toString('latin1');
    });
    kept.on('close', () => {
      if (!load.isOver) load.failures.push('the connection that is kept was closed');
    });
    const clients = [fresh(), fresh(), fresh(), fresh()];
    for (let at = 1; at <= ROTATIONS; at++) {
      swapTo(at % 2 === 0 ? 'one' : 'two');
      expect((await weir.admin('/debug/reload', { method: 'POST' })).status).toBe(200);
      kept.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
      await waitFor(() => keptText.split('secure /').length === at + 1, {
        ...LIMIT,
        what: 'the kept connection to be answered',
      });
      // Messages reach workers in order, but not before the answer to the reload.
      await shows(at % 2 === 0 ? 'one' : 'two');
    }
    load.isOver = true;
    await Promise.all(clients);
    kept.destroy();
    expect(load.failures).toEqual([]);
    expect(load.answered).toBeGreaterThan(ROTATIONS);
    expect(await metric('weir_tls_certificate_reloads_total{result="applied"}')).toBeGreaterThanOrEqual(ROTATIONS);
  });

  it('notices by itself that files have changed, and gives them to workers that come later', async () => {
    const before = await shown();
    const after = before === 'one' ? 'two' : 'one';
    swapTo(after);
    await shows(after);
    const [first] = (await weir.upstreams()).gateway.workers;
    await weir.killWorker(first?.id ?? 0);
    await weir.logged('worker is gone and will be replaced');
    await waitFor(async () => (await weir.admin('/readyz')).status === 200, {
      ...LIMIT,
      what: 'the gateway to be ready',
    });
    for (let at = 0; at < 10; at++) expect(await shown()).toBe(after);
  });

  it('keeps the certificate whose files are broken, says so once, and takes the next good ones', async () => {
    const before = await shown();
    const key = join(authority.folder, before, 'site.key');
    const good = readFileSync(key, 'utf8');
    writeFileSync(key, 'no key');
    const [line] = await weir.logged('certificate file cannot be used');
    expect(line).toMatchObject({
      file: join(folder, 'site.key'),
      why: expect.stringMatching(/^not valid, expected a file with a private key/),
    });
    for (let at = 0; at < 3; at++) await weir.admin('/debug/reload', { method: 'POST' });
    expect(await weir.logged('certificate file cannot be used')).toHaveLength(1);
    expect((await listeners())[0]?.certificates).toMatchObject([
      { problem: expect.stringContaining('site.key: not valid') },
    ]);
    expect(await metric('weir_tls_certificates_broken')).toBe(1);
    expect(await shown()).toBe(before);
    writeFileSync(key, good);
    await waitFor(async () => (await metric('weir_tls_certificates_broken')) === 0, {
      ...LIMIT,
      what: 'the repair to be noticed',
    });
    expect(await shown()).toBe(before);
  });

  it('puts other keys of a listener in force at a reload, and none whose certificate is broken', async () => {
    const files = new ConfigFiles(weir);
    const plain = { address: `127.0.0.1:${plainPort}`, redirect: { to: 'https', port } };
    const secure = { address: `127.0.0.1:${port}`, tls: { certificates: folder, minVersion: '1.3' } };
    await files.gateway({ listen: [{ ...secure, tls: { ...secure.tls, certificates: '/nowhere' } }, plain] });
    const refused = await files.reload();
    expect(refused).toMatchObject({ result: 'quarantined', gatewayKeys: [] });
    expect(refused.quarantined[0]?.problems).toEqual([
      expect.stringMatching(/listen\[0\]\.tls\.certificates: the folder cannot be read/),
    ]);
    expect((await askTls({ port, maxVersion: 'TLSv1.2' })).protocol).toBe('TLSv1.2');
    await files.gateway({ listen: [secure, plain] });
    expect(await files.reload()).toMatchObject({ result: 'applied', gatewayKeys: ['listen'] });
    const isNew = async () =>
      (await failureOf({ port, maxVersion: 'TLSv1.2' })) === 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION';
    for (let inARow = 0; inARow < 20; inARow++) {
      await waitFor(isNew, { ...LIMIT, what: 'workers that speak only TLS 1.3' });
    }
    expect((await askTls({ port })).protocol).toBe('TLSv1.3');
  });

  it('says what the port is for to who speaks plain HTTP to it', async () => {
    const { status, body } = await send(`http://127.0.0.1:${port}/`);
    expect([status, JSON.parse(body).detail]).toEqual([400, expect.stringContaining('This port speaks HTTPS')]);
    expect(await metric('weir_tls_handshake_failures_total{reason="plain_http"}')).toBe(1);
  });
});
