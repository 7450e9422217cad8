// `weir explain` against a running gateway and from the files alone: what it tells is what then happens.
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation } from '../../gateway/proxy/explain/explanation.ts';
import { createAuthority, hasOpenssl } from '../support/certificates.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { askTls } from '../support/tls-client.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const CLI = fileURLToPath(new URL('../../gateway/cli.ts', import.meta.url));
const TOKEN = 'only-for-tests-4711';

const owned = new AsyncDisposableStack();
let servers: LocalServer[] = [];
let weir: WeirProcess;
let served = 0;

/** A service that answers with its port. */
async function startServer(): Promise<LocalServer> {
  const server = await startHttpServer((request, response) => {
    served += 1;
    response.end(String(request.socket.localPort));
  });
  return owned.adopt(server, (each) => each.stop());
}

/** Runs `weir explain` in the folder of the gateway. */
function explain(args: readonly string[], environment: Record<string, string> = {}, gateway: WeirProcess = weir) {
  const { WEIR_ADMIN_TOKEN: _token, WEIR_ADMIN_URL: _url, ...inherited } = process.env;
  const env = { ...inherited, WEIR_ADMIN_URL: gateway.adminUrl, ...environment };
  const options = { cwd: gateway.folder, env, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'explain', ...args], options);
  return { status, stdout, stderr };
}

/** The document of the admin address, which `weir explain --json` prints. */
async function explained(url: string, headers: readonly string[] = []): Promise<Explanation> {
  const query = new URLSearchParams({ url });
  for (const header of headers) query.append('header', header);
  const { status, body } = await weir.admin(`/debug/explain?${query}`);
  if (status !== 200) throw new Error(`/debug/explain answered ${status}: ${body}`);
  return JSON.parse(body);
}

/** The endpoint that the gateway takes for a request. */
async function taken(path: string, headers: Record<string, string>): Promise<string> {
  const { body } = await weir.get(path, { headers });
  return `127.0.0.1:${body}`;
}

beforeAll(async () => {
  servers = [await startServer(), await startServer(), await startServer()];
  const [one = 0, two = 0, three = 0] = servers.map(({ port }) => port);
  const tagged = [
    { address: `127.0.0.1:${one}`, tags: ['stable'] },
    { address: `127.0.0.1:${two}`, tags: ['stable'] },
    { address: `127.0.0.1:${three}`, tags: ['canary'] },
  ];
  const weighted = [{ address: `127.0.0.1:${one}`, weight: 5 }, `127.0.0.1:${two}`, `127.0.0.1:${three}`];
  weir = owned.adopt(
    await startWeir({
      routes: {
        orders: {
          service: 'order-service',
          endpoints: weighted,
          match: [{ hosts: ['shop.test'], paths: ['/orders/*'], methods: ['GET', 'PUT'] }],
          rewrite: { stripPrefix: '/orders' },
          fallback: { chain: [{ respond: { body: 'sorry' } }] },
        },
        sessions: {
          service: 'session-service',
          endpoints: [one, two, three].map((port) => `127.0.0.1:${port}`),
          match: [{ hosts: ['shop.test'], paths: ['/session/*'] }],
          balance: { policy: 'consistent_hash', hash: { on: 'header', name: 'x-user-id', boundedLoad: 'off' } },
          rateLimit: [{ rate: '1000/s', key: 'header', name: 'x-user-id' }],
        },
        canary: {
          service: 'canary-service',
          endpoints: tagged,
          match: [{ hosts: ['canary.test'] }],
          split: [
            { weight: 3, tags: ['stable'] },
            { weight: 1, tags: ['canary'], when: { header: 'x-canary', equals: 'yes' } },
          ],
        },
      },
    }),
    (gateway) => gateway.close(),
  );
});
afterAll(() => owned.disposeAsync());

describe('weir explain', () => {
  it('names the endpoint that the next request gets, turn by turn and over both workers', async () => {
    const told: string[] = [];
    const got: string[] = [];
    for (let turn = 0; turn < 14; turn++) {
      told.push((await explained('http://shop.test/orders/1')).pick?.endpoint ?? '');
      got.push(await taken('/orders/1', { host: 'shop.test' }));
    }
    expect(told).toEqual(got);
    expect(new Set(told)).toHaveLength(3);
  });

  it('names the endpoint of a key', async () => {
    const told: string[] = [];
    const got: string[] = [];
    for (const user of Array.from({ length: 20 }, (_, at) => `user-${at}`)) {
      const { pick, key, rateLimits } = await explained('http://shop.test/session/', [`X-User-Id: ${user}`]);
      expect([key?.value, rateLimits[0]?.key]).toEqual([user, user]);
      told.push(pick?.endpoint ?? '');
      got.push(await taken('/session/', { host: 'shop.test', 'x-user-id': user }));
    }
    expect(told).toEqual(got);
    expect(new Set(told).size).toBeGreaterThan(1);
  });

  it('names the branch of a split and its endpoint, by the weights and by a rule', async () => {
    const branches: string[] = [];
    for (let turn = 0; turn < 8; turn++) {
      const { split, pick } = await explained('http://canary.test/');
      branches.push(`${split?.branch} by ${split?.by}`);
      expect(await taken('/', { host: 'canary.test' })).toBe(pick?.endpoint);
    }
    expect(branches.filter((branch) => branch === 'stable by weight')).toHaveLength(6);
    expect(branches.filter((branch) => branch === 'canary by weight')).toHaveLength(2);
    const ruled = await explained('http://canary.test/', ['X-Canary: yes']);
    expect(ruled.split).toMatchObject({ branch: 'canary', by: 'rule', why: 'header x-canary is "yes"' });
    expect(await taken('/', { host: 'canary.test', 'x-canary': 'yes' })).toBe(ruled.pick?.endpoint);
  });

  it('tells people the same as text, and sends nothing to the service', () => {
    const before = served;
    const { status, stdout, stderr } = explain([
      'GET',
      '/orders/17?x=1',
      '-H',
      'Host: shop.test',
      '--client',
      '192.0.2.1',
    ]);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^GET shop\.test\/orders\/17\?x=1 goes to 127\.0\.0\.1:\d+ of order-service by route orders\n/,
    );
    expect(stdout).toContain('\nrequest      from 192.0.2.1\n');
    expect(stdout).toContain('\nforwarded    GET /17?x=1, without /orders\n');
    expect(stdout).toContain('weighted round robin, the same for all workers: the next turn is its own');
    expect(served).toBe(before);
  });

  it('prints the document of /debug/explain as JSON', async () => {
    const args = ['GET', 'http://shop.test/session/', '-H', 'X-User-Id: 7', '-H', 'x-other: 1', '--json'];
    const { status, stdout, stderr } = explain(args);
    expect([status, stderr]).toEqual([0, '']);
    const document = await explained('http://shop.test/session/', ['X-User-Id: 7', 'x-other: 1']);
    expect(Object.keys(JSON.parse(stdout))).toEqual(Object.keys(document));
    const { key, pick, route } = document;
    expect(JSON.parse(stdout)).toMatchObject({ basis: 'gateway', key, pick, route });
  });

  it('tells which routes come close to a request that none takes', () => {
    const { status, stdout } = explain(['POST', 'http://shop.test/orders/1']);
    expect(stdout).toContain('\nothers       orders wants another method: GET, PUT\n');
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining(' is answered 404 by Weir itself: no route matches\n'),
    ]);
  });

  it('tells what operators have said', async () => {
    const drained = `127.0.0.1:${servers[1]?.port}`;
    const post = (path: string, body?: string) => {
      return weir.admin(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body }),
      });
    };
    await post(`/debug/upstreams/order-service/${drained}/drain`);
    const { endpoints } = await explained('http://shop.test/orders/1');
    expect(endpoints.find(({ endpoint }) => endpoint === drained)).toMatchObject({
      isCandidate: false,
      why: 'an operator lets it drain',
    });
    await post(`/debug/upstreams/order-service/${drained}/undrain`);
    await post('/debug/services/order-service/degraded', '{"on": true, "reason": "new disks"}');
    const { outcome, service, summary } = await explained('http://shop.test/orders/1');
    expect(outcome).toEqual({ kind: 'fallback', reason: 'maintenance' });
    expect(service?.maintenance).toMatchObject({ reason: 'new disks' });
    expect(summary).toContain('is answered by the fallback of route orders: the service is in maintenance');
    expect((await weir.get('/orders/1', { headers: { host: 'shop.test' } })).body).toBe('sorry');
    await post('/debug/services/order-service/degraded', '{"on": false}');
    expect((await explained('http://shop.test/orders/1')).outcome.kind).toBe('endpoint');
  });

  it.each([
    [['GET'], 'a method and a URL are needed'],
    [['GET', 'http://a/', 'more'], 'too many arguments: more'],
    [['GET', 'http://a/', '--unknown'], "Unknown option '--unknown'"],
    [['GET', 'http://a/', '--config', 'x'], '--config and --routes have an effect with --offline only'],
    [['GET', 'http://a/', '--offline', '--admin', 'http://a'], '--admin has no effect with --offline'],
    [['GET', 'http://a/', '--admin', '127.0.0.1:1'], '--admin must be a URL like http://127.0.0.1:9901'],
    [['GET', '/path'], 'a path alone does not say which host'],
    [['GET', 'shop.test/'], 'the URL must begin with http:// or /'],
    [['GET', 'http://a/', '-H', 'nonsense'], 'a header is "name: value", not "nonsense"'],
    [['GET', 'http://a/', '--client', 'me'], 'the client must be an IP address, not "me"'],
  ])('refuses %j, and exits 2', (args, why) => {
    const { status, stdout, stderr } = explain(args);
    expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining(`weir explain: ${why}`)]);
  });

  it('answers --help', () => {
    expect(explain(['--help'])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringContaining('usage: weir explain'),
    });
  });

  it('says in a sentence that no gateway answers, and exits 1', async () => {
    const [port = 0] = await findFreePorts(1);
    expect(explain(['GET', 'http://a/', '--admin', `http://127.0.0.1:${port}`])).toEqual({
      status: 1,
      stdout: '',
      stderr: `weir explain: no gateway answers at http://127.0.0.1:${port}: connection refused; --offline tells what the files say\n`,
    });
  });
});

describe('weir explain with a token', () => {
  it('takes it from the environment, and says so when it is missing or another', async () => {
    const guarded = owned.adopt(await startWeir({ routes: {}, adminToken: TOKEN }), (gateway) => gateway.close());
    const ask = (environment: Record<string, string>) => explain(['GET', 'http://a/'], environment, guarded);
    expect(ask({ WEIR_ADMIN_TOKEN: TOKEN })).toMatchObject({ status: 0, stderr: '' });
    const wants = `weir explain: the gateway at ${guarded.adminUrl} wants the token of its admin address`;
    expect(ask({})).toEqual({ status: 1, stdout: '', stderr: `${wants}: set WEIR_ADMIN_TOKEN\n` });
    expect(ask({ WEIR_ADMIN_TOKEN: 'other' })).toEqual({
      status: 1,
      stdout: '',
      stderr: `${wants}: the one in WEIR_ADMIN_TOKEN is another\n`,
    });
  });
});

describe.skipIf(!hasOpenssl())('weir explain for listeners with TLS and a redirect', () => {
  it('tells the certificate that clients are really shown and where they are really sent, live and from the files', async () => {
    await using own = new AsyncDisposableStack();
    const authority = own.adopt(createAuthority(), (each) => each.remove());
    const pairs = [
      authority.sign('shop', { names: ['DNS:shop.test'] }),
      authority.sign('wild', { names: ['DNS:*.shop.test'] }),
    ];
    const certificates = pairs.map(({ certFile, keyFile }) => ({ cert: certFile, key: keyFile }));
    const [secure = 0, plain = 0] = await findFreePorts(2);
    const listen = [
      { address: `127.0.0.1:${secure}`, tls: { certificates } },
      { address: `127.0.0.1:${plain}`, redirect: { to: 'https', port: secure } },
    ];
    const routes = { web: { service: 'web', endpoints: ['127.0.0.1:1'], match: [{}] } };
    const gateway = own.adopt(await startWeir({ routes, gateway: { listen } }), (each) => each.close());
    for (const name of ['shop.test', 'a.shop.test', 'other.test']) {
      const { subject } = await askTls({ port: secure, servername: name });
      const told = [[], ['--offline', '--config', 'config/gateway.yaml', '--routes', 'routes']].map((options) => {
        const { stdout } = explain(['GET', `https://${name}:${secure}/`, '--json', ...options], {}, gateway);
        const document: Explanation = JSON.parse(stdout);
        return document.entry.listeners.map(({ tls }) => tls?.certificates.map(({ file }) => file));
      });
      const file = pairs.find(({ certFile }) => certFile.endsWith(`/${subject}.pem`))?.certFile;
      expect(told).toEqual([[[file]], [[file]]]);
    }
    const answer = await fetch(`http://127.0.0.1:${plain}/x?y=1`, { redirect: 'manual' });
    const { stdout } = explain(['GET', `http://127.0.0.1:${plain}/x?y=1`], {}, gateway);
    expect(answer.status).toBe(308);
    expect(stdout).toContain(
      `answered 308 by Weir itself: the listener sends it to ${answer.headers.get('location')}\n`,
    );
  });
});

describe('weir explain --offline', () => {
  it('tells what a gateway would do that has just started', () => {
    const { status, stdout, stderr } = explain(['GET', 'http://shop.test/orders/1', '--offline']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`goes to 127.0.0.1:${servers[0]?.port} of order-service by route orders\n`);
    expect(stdout).toContain('told from the files alone: as a gateway would act that has just started\n');
    expect(stdout).toContain('service      order-service from its route file: healthy\n');
  });

  it('knows no endpoints of a source, and says so', async () => {
    const route = 'service: elsewhere\nmatch: [{ paths: [/elsewhere] }]\n';
    const file = join(weir.folder, 'routes/elsewhere.yaml');
    await writeFile(file, route);
    const { stdout } = explain(['GET', 'http://a/elsewhere', '--offline', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      basis: 'files',
      outcome: { kind: 'unknown', why: 'the endpoints come from consul, and only a running gateway knows them' },
      route: { name: 'elsewhere', file: 'routes/elsewhere.yaml' },
      endpoints: [],
      pick: null,
    });
  });

  it('prints the problems of invalid files, and exits 2', async () => {
    await writeFile(join(weir.folder, 'other.yaml'), 'workrs: 1\n');
    const { status, stdout, stderr } = explain([
      'GET',
      'http://a/',
      '--offline',
      '--config',
      'other.yaml',
      '--routes',
      'routes',
    ]);
    expect([status, stdout, stderr]).toEqual([2, '', 'other.yaml:1:1 workrs: unknown key, did you mean "workers"?\n']);
  });
});

describe('/debug/explain', () => {
  const QUERY = '?method=GET&url=http://shop.test/orders/1&header=x-a:%201&client=192.0.2.1';

  it('answers with the document, or with text to those who want it', async () => {
    const document = await weir.admin(`/debug/explain${QUERY}`);
    expect([document.status, document.headers['content-type']]).toEqual([200, 'application/json']);
    expect(JSON.parse(document.body)).toMatchObject({ basis: 'gateway', request: { client: '192.0.2.1' } });
    const text = await weir.admin(`/debug/explain${QUERY}`, { headers: { accept: 'text/plain' } });
    expect(text.body).toMatch(/^GET shop\.test\/orders\/1 goes to /);
  });

  it('answers 400 with what is wrong, and 405 to others than GET', async () => {
    const { status, body } = await weir.admin('/debug/explain?url=shop.test');
    expect([status, JSON.parse(body)]).toMatchObject([
      400,
      { detail: 'the URL must begin with http:// or /, not "shop.test"' },
    ]);
    expect((await weir.admin(`/debug/explain${QUERY}`, { method: 'POST' })).status).toBe(405);
  });

  it('is not on the public listener', async () => {
    expect((await weir.get(`/debug/explain${QUERY}`)).status).toBe(404);
  });
});
