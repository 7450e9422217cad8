// The access log names who was verified and how the request came in: for every kind of authentication and every way in.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicLine, KEEP_OUT, LET_IN, startJudge, USERS } from '../../support/access-scene.ts';
import { type Authority, createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { ask as askHttp2, endHttp2AfterEach, secureSessionTo, sessionTo } from '../../support/http2-scene.ts';
import { createJwtIssuer } from '../../support/jwt-issuer.ts';
import { type LocalServer, startHttpServer } from '../../support/local-server.ts';
import { ask, sayingName } from '../../support/named-upstream.ts';
import { get, RawClient } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';
import { connectStream } from '../../support/stream-websocket.ts';
import type { TestGatewayOptions } from '../../support/test-gateway.ts';
import { askTls, collect, openTls } from '../../support/tls-client.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();
endHttp2AfterEach();

const limitMs = 5000;
const OPENED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n<open>';
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';
const BASIC = { basic: { users: 'users' } };

const issuer = createJwtIssuer('ES256', 'one');
let keys: LocalServer;
let authority: Authority | undefined;
let secure: Readonly<Record<string, unknown>> = {};
let ca = '';

beforeAll(async () => {
  keys = await startHttpServer((_request, response) => response.end(issuer.keySet));
  if (!hasOpenssl()) return;
  authority = createAuthority();
  const { certFile, keyFile } = authority.sign('local', { names: ['DNS:localhost'] });
  secure = { tls: { certificates: [{ cert: certFile, key: keyFile }] } };
  ca = authority.ca;
});
afterAll(async () => {
  authority?.remove();
  await keys.stop();
});

async function scene(route: Readonly<Record<string, unknown>>, more: Partial<TestGatewayOptions> = {}) {
  const upstream = await upstreamThat((connection, head) => {
    if (/^upgrade:/im.test(head)) connection.socket.write(OPENED);
    else sayingName('served')(connection);
  });
  return gatewayFor({ endpoints: [upstream.port], users: USERS, route, ...more });
}

const KINDS = {
  basic: async () => ({ auth: BASIC, authorization: basicLine().slice(15, -2) }),
  jwt: async () => ({
    auth: { jwt: { jwks: `http://127.0.0.1:${keys.port}/keys` } },
    authorization: `Bearer ${await issuer.token()}`,
  }),
  forward: async () => ({ auth: (await startJudge({ octets: LET_IN })).auth, authorization: 'Its own' }),
};

/** What a client claims: none of it may be logged as the user. */
const claimed = { 'x-user': 'root', 'x-forwarded-proto': 'gopher', forwarded: 'proto=gopher' };

/** A way in: sends one request with these credentials, and ends what it opened. */
interface Way {
  readonly name: string;
  readonly scheme: 'http' | 'https';
  readonly version: string;
  readonly status: number;
  send(port: number, authorization: string): Promise<unknown>;
}

const linesOf = (authorization: string) =>
  Object.entries({ ...claimed, authorization })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
const upgrade = (authorization: string) =>
  `GET / HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${KEY}${linesOf(authorization)}\r\n`;

async function tunnelOver(session: ReturnType<typeof sessionTo>, authorization: string): Promise<void> {
  const stream = await connectStream(session, '/', { ...claimed, authorization });
  await once(stream, 'response');
  stream.close();
}

const WAYS: readonly Way[] = [
  {
    name: 'HTTP/1.1',
    scheme: 'http',
    version: '1.1',
    status: 200,
    send: (port, authorization) => ask(port, get('/', linesOf(authorization))),
  },
  {
    name: 'HTTP/2',
    scheme: 'http',
    version: '2',
    status: 200,
    send: (port, authorization) => askHttp2(sessionTo(port), { ':path': '/', ...claimed, authorization }),
  },
  {
    name: 'a tunnel',
    scheme: 'http',
    version: '1.1',
    status: 101,
    send: async (port, authorization) => {
      const client = await RawClient.connect(port);
      client.send(upgrade(authorization));
      await client.until('<open>');
      client.close();
    },
  },
  {
    name: 'a tunnel of HTTP/2',
    scheme: 'http',
    version: '2',
    status: 101,
    send: (port, authorization) => tunnelOver(sessionTo(port), authorization),
  },
];

const SECURE_WAYS: readonly Way[] = [
  {
    name: 'HTTP/1.1 over TLS',
    scheme: 'https',
    version: '1.1',
    status: 200,
    send: (port, authorization) => askTls({ port, send: get('/', linesOf(authorization)) }),
  },
  {
    name: 'HTTP/2 over TLS',
    scheme: 'https',
    version: '2',
    status: 200,
    send: (port, authorization) => askHttp2(secureSessionTo(port, ca), { ':path': '/', ...claimed, authorization }),
  },
  {
    name: 'a tunnel over TLS',
    scheme: 'https',
    version: '1.1',
    status: 101,
    send: async (port, authorization) => {
      const socket = await openTls({ port });
      const { until } = collect(socket);
      socket.write(upgrade(authorization));
      await until('<open>');
      socket.destroy();
    },
  },
  {
    name: 'a tunnel of HTTP/2 over TLS',
    scheme: 'https',
    version: '2',
    status: 101,
    send: (port, authorization) => tunnelOver(secureSessionTo(port, ca), authorization),
  },
];

const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
const all = kinds.flatMap((kind) => [...WAYS, ...SECURE_WAYS].map((way) => ({ kind, way, name: way.name })));

describe('the record of a request', () => {
  it.each(all)('names the user of $kind that came by $name', async ({ kind, way }) => {
    if (way.scheme === 'https' && authority === undefined) return;
    const { auth, authorization } = await KINDS[kind]();
    const listener = way.scheme === 'https' ? secure : { http2: true };
    const gateway = await scene({ auth }, { listener });
    await way.send(gateway.port, authorization);
    await waitFor(() => gateway.records.length === 1, { limitMs, what: 'the record' });
    const { scheme, version, status } = way;
    expect(gateway.records).toMatchObject([{ route: 'r', user: 'anna', scheme, version, status }]);
  });
});

describe('the scheme of a record', () => {
  it('is that of the listener, whatever a trusted proxy or a stream says', async () => {
    const gateway = await scene({}, { gateway: { trustedProxies: ['127.0.0.0/8'] }, listener: { http2: true } });
    const said = { 'x-forwarded-proto': 'https' };
    await ask(gateway.port, get('/', 'X-Forwarded-Proto: https\r\n'));
    await askHttp2(sessionTo(gateway.port), { ':path': '/', ':scheme': 'https', ...said });
    await ask(gateway.port, 'OPTIONS * HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n');
    expect(gateway.records).toMatchObject([
      { version: '1.1', status: 200, scheme: 'http' },
      { version: '2', status: 200, scheme: 'http' },
      { route: null, status: 204, scheme: 'http', user: null },
    ]);
  });
});

describe('the record names nobody', () => {
  it.each([
    ['an empty subject', { sub: '' }],
    ['no subject', {}],
  ])('whose token has %s', async (_what, claims) => {
    const gateway = await scene({ auth: { jwt: { jwks: `http://127.0.0.1:${keys.port}/keys` } } });
    const token = await issuer.token({ claims });
    expect((await ask(gateway.port, get('/', `Authorization: Bearer ${token}\r\n`))).status).toBe(200);
    expect(gateway.records).toMatchObject([{ status: 200, user: null }]);
  });

  it('who is refused by another service, whatever that says of the user', async () => {
    const judge = await startJudge({ octets: KEEP_OUT.replace('\r\nC', '\r\nX-User: anna\r\nC') });
    const gateway = await scene({ auth: judge.auth });
    expect((await ask(gateway.port, get('/'))).status).toBe(401);
    expect(gateway.records).toMatchObject([{ status: 401, user: null }]);
  });

  it('who asks by a preflight, before the credentials', async () => {
    const gateway = await scene({ auth: BASIC, cors: { origins: ['https://shop.test'], methods: ['PUT'] } });
    const wanted = 'Origin: https://shop.test\r\nAccess-Control-Request-Method: PUT\r\n';
    const preflight = `OPTIONS / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${wanted}${basicLine()}\r\n`;
    expect((await ask(gateway.port, preflight)).status).toBe(204);
    expect(gateway.records).toMatchObject([{ status: 204, user: null, scheme: 'http' }]);
  });

  it('who leaves during the check', async () => {
    const judge = await startJudge();
    const gateway = await scene({ auth: judge.auth });
    const client = await RawClient.connect(gateway.port);
    client.send(get('/'));
    await judge.asked(1);
    client.reset();
    await waitFor(() => gateway.records.length === 1, { limitMs, what: 'the record' });
    expect(gateway.records).toMatchObject([{ status: 0, user: null, scheme: 'http' }]);
  });

  it('where the other service names several things, or credentials', async () => {
    for (const responseHeaders of [['x-user', 'x-roles'], ['authorization'], []]) {
      const judge = await startJudge({ octets: LET_IN.replace('\r\n', '\r\nAuthorization: Bearer secret\r\n') });
      const forward = { ...Object.values(judge.auth)[0], responseHeaders };
      const gateway = await scene({ auth: { forward } });
      expect((await ask(gateway.port, get('/'))).status).toBe(200);
      expect(gateway.records).toMatchObject([{ status: 200, user: null }]);
      expect(JSON.stringify(gateway.records)).not.toContain('secret');
    }
  });
});
