// HTTP/2 at the public listener of a real gateway, as curl, node:http2 and a browser speak it.
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type ClientHttp2Stream, constants } from 'node:http2';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, startBrowser } from '../support/browser.ts';
import { hasOpenssl } from '../support/certificates.ts';
import { answerOf, ask, endHttp2AfterEach, secureSessionTo } from '../support/http2-scene.ts';
import { digestOf, distinctOctets, type FrontService, startFrontService } from '../support/http2-service.ts';
import { startTlsWeir, type TlsWeir } from '../support/tls-weir.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);
const LIMIT_MS = 20_000;
const LARGE_BYTES = 32 * 1024 * 1024;
const IMAGES = 50;

function hasCurl(): boolean {
  if (String(spawnSync('curl', ['--version']).stdout).includes('HTTP2')) return true;
  console.warn('SKIPPED: curl is missing, or has no HTTP/2');
  return false;
}

endHttp2AfterEach();

describe.skipIf(!hasOpenssl())('a public listener with tls speaks HTTP/2', () => {
  const owned = new AsyncDisposableStack();
  let service: FrontService;
  let front: TlsWeir;

  beforeAll(async () => {
    service = owned.adopt(await startFrontService(), (each) => each.stop());
    const endpoints = [`127.0.0.1:${service.port}`];
    front = await startTlsWeir(owned, {
      routes: { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }], body: '100MiB' } },
    });
  });
  afterAll(() => owned.disposeAsync());

  const session = () => secureSessionTo(front.port, front.ca);
  const curl = async (...args: string[]) => (await run('curl', ['-sS', '--cacert', front.caFile, ...args])).stdout;

  describe.skipIf(!hasCurl())('to curl', () => {
    it.each([
      ['--http2', '2'],
      ['--http1.1', '1.1'],
    ])('%s', async (flag, version) => {
      const path = `/curl-${version}`;
      const written = await curl(
        flag,
        '-w',
        ' %{http_version} %{response_code}',
        `https://localhost:${front.port}${path}`,
      );
      expect(written).toBe(`ok ${version} 200`);
      const line = await waitFor(() => front.weir.accessLog().find((each) => each.path === path), {
        limitMs: LIMIT_MS,
        what: 'the access log',
      });
      expect(line).toMatchObject({ version, status: 200, host: `localhost:${front.port}` });
    });

    it('that sends and takes a lot', async () => {
      const octets = distinctOctets(LARGE_BYTES);
      const file = join(front.weir.folder, 'upload');
      writeFileSync(file, octets);
      const url = `https://localhost:${front.port}`;
      expect(await curl('--http2', '-T', file, `${url}/digest`)).toBe(digestOf(octets));
      const down = join(front.weir.folder, 'download');
      const measured = await curl('--http2', '-o', down, '-w', '%{size_download}', `${url}/octets?${LARGE_BYTES}`);
      expect(measured).toBe(String(LARGE_BYTES));
      expect(String(spawnSync('cmp', [file, down]).status)).toBe('0');
    });

    it('that asks for thirty things at once, over one connection', async () => {
      const url = `https://localhost:${front.port}/parallel-[1-30]`;
      const file = join(front.weir.folder, 'parallel-#1');
      const written = await curl('--http2', '-Z', '-o', file, '-w', '%{http_version} %{size_download}\\n', url);
      expect(written.trim().split('\n')).toEqual(Array.from({ length: 30 }, () => '2 2'));
    });
  });

  it('to undici, on which fetch stands', async () => {
    const agent = new Agent({ allowH2: true, connections: 1, connect: { ca: front.ca } });
    owned.defer(() => agent.destroy());
    const ask = async (at: number) => {
      const body = `upload ${at}`;
      const answer = await request(`https://localhost:${front.port}/digest?undici`, {
        dispatcher: agent,
        method: 'POST',
        body,
      });
      return [answer.statusCode, await answer.body.text(), digestOf(Buffer.from(body))];
    };
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => ask(at)));
    expect(answers.filter(([status, digest, expected]) => status !== 200 || digest !== expected)).toEqual([]);
    const lines = () => front.weir.accessLog().filter(({ path, version }) => path === '/digest' && version === '2');
    await waitFor(() => lines().length >= 50, { limitMs: LIMIT_MS, what: 'fifty lines of the access log' });
  });

  it('with a hundred requests under way at once, and tells services that it was https', async () => {
    const client = session();
    const answers = Array.from({ length: 100 }, () => ask(client, { ':path': '/held' }));
    await waitFor(() => service.held.length === 100, { limitMs: LIMIT_MS, what: 'a hundred requests at once' });
    service.release();
    const ended = await Promise.all(answers);
    expect(ended.map(({ status, content }) => `${status} ${content}`)).toEqual(ended.map(() => '200 at last'));
    const fields = JSON.parse((await ask(client, { ':path': '/fields' })).content);
    expect(fields).toMatchObject({ 'x-forwarded-proto': 'https', host: `localhost:${front.port}` });
    const isLogged = () =>
      front.weir.accessLog().filter(({ path, version }) => path === '/held' && version === '2').length === 100;
    await waitFor(isLogged, { limitMs: LIMIT_MS, what: 'a hundred lines of the access log' });
  });

  it('both ways at the same time, piece by piece', async () => {
    const stream = session().request({ ':method': 'POST', ':path': '/echo' });
    const answer = answerOf(stream);
    let echoed = '';
    stream.on('data', (piece: Buffer) => {
      echoed += piece.toString('latin1');
    });
    let sent = '';
    for (let at = 0; at < 20; at++) {
      stream.write(`piece ${at} `);
      sent += `piece ${at} `;
      await waitFor(() => echoed === sent, { limitMs: LIMIT_MS, what: `the echo of piece ${at}` });
    }
    stream.end();
    expect(await answer).toMatchObject({ status: 200, content: sent, resetCode: 0 });
  });

  it('with trailers both ways', async () => {
    const stream = session().request(
      { ':method': 'POST', ':path': '/trailers', te: 'trailers' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '42' }));
    const answer = answerOf(stream);
    stream.end('content');
    expect(await answer).toMatchObject({ status: 200, content: 'content', trailers: { 'x-checked': '42' } });
  });

  it('with large content both ways on many streams of one session', async () => {
    const client = session();
    const octets = distinctOctets(LARGE_BYTES / 4);
    const upload = async () => {
      const stream = client.request({ ':method': 'POST', ':path': '/digest' });
      const answer = answerOf(stream);
      stream.end(octets);
      return (await answer).content;
    };
    const download = async () => {
      const { content } = await ask(client, { ':path': `/octets?${octets.length}` });
      return digestOf(Buffer.from(content, 'latin1'));
    };
    const digests = await Promise.all([upload(), download(), upload(), download(), upload(), download()]);
    expect(digests).toEqual(digests.map(() => digestOf(octets)));
  });

  it('with a hundred downloads at a time on one session, and more behind them', async () => {
    // Windows that hold all of what comes.
    const client = secureSessionTo(front.port, front.ca, { initialWindowSize: 2 ** 24 });
    client.on('connect', () => client.setLocalWindowSize(2 ** 30));
    const outcomes: string[] = [];
    let left = 300;
    const one = async () => {
      while (left-- > 0) {
        const { status, content, resetCode } = await ask(client, { ':path': '/octets?1000000' });
        outcomes.push(`${status} ${content.length} ${resetCode}`);
      }
    };
    await Promise.all(Array.from({ length: 100 }, one));
    expect(outcomes).toEqual(outcomes.map(() => '200 1000000 0'));
  });

  it('and frees the service of what its client gives up, without harm to the session', async () => {
    const client = session();
    const before = service.given.up;
    const streams = Array.from({ length: 50 }, () => client.request({ ':path': '/held' }));
    const ended = streams.map((stream) =>
      once(
        stream.on('error', () => undefined),
        'close',
      ),
    );
    await waitFor(() => service.held.length === streams.length, { limitMs: LIMIT_MS, what: 'fifty requests' });
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
    await Promise.all(ended);
    await waitFor(() => service.given.up === before + streams.length, {
      limitMs: LIMIT_MS,
      what: 'the service to be free',
    });
    service.held.length = 0;
    expect(await ask(client, { ':path': '/' })).toMatchObject({ status: 200, content: 'ok' });
  });

  it('and never ends well what its service breaks off', async () => {
    const client = session();
    const stream: ClientHttp2Stream = client.request({ ':path': '/held' });
    const answer = answerOf(stream);
    const response = await waitFor(() => service.held.shift(), { limitMs: LIMIT_MS, what: 'the request' });
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('the beginning');
    await once(stream, 'data');
    response.destroy();
    expect(await answer).toMatchObject({ status: 200, resetCode: constants.NGHTTP2_INTERNAL_ERROR });
    expect(await ask(client, { ':path': '/' })).toMatchObject({ status: 200 });
  });

  it.skipIf(!hasChromium())(`to a browser, which has ${IMAGES} images and as many fetches of it`, async () => {
    const browser = owned.adopt(await startBrowser(), (each) => each.close());
    const { page, complaints } = await browser.open({ ignoreHTTPSErrors: true });
    // `load` is when all images are there.
    await page.goto(`https://localhost:${front.port}/page?${IMAGES}`, { waitUntil: 'load' });
    const texts = Array.from({ length: IMAGES }, () => 'ok').join(' ');
    await page.waitForFunction(`document.title === ${JSON.stringify(texts)}`);
    const protocols = await page.evaluate(() => {
      const entries = performance.getEntries().filter((each) => 'nextHopProtocol' in each);
      return entries.map(({ name, nextHopProtocol }) => `${nextHopProtocol} ${new URL(name).pathname}`);
    });
    expect(protocols.filter((each) => each === 'h2 /fetched')).toHaveLength(IMAGES);
    expect(protocols.filter((each) => each === 'h2 /image')).toHaveLength(IMAGES);
    expect(protocols).toContain('h2 /page');
    expect(complaints).toEqual([]);
    const lines = () => front.weir.accessLog().filter(({ userAgent }) => userAgent?.includes('Chrome') === true);
    await waitFor(() => lines().length > 2 * IMAGES, { limitMs: LIMIT_MS, what: 'the access log of the browser' });
    expect(lines().filter(({ version }) => version !== '2')).toEqual([]);
  });
});
