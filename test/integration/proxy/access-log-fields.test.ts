// What the access log says of how a request came in, and of who was verified, where the request goes no further.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicLine, USERS } from '../../support/access-scene.ts';
import { type Authority, createAuthority, hasOpenssl } from '../../support/certificates.ts';
import { createJwtIssuer } from '../../support/jwt-issuer.ts';
import { startHttpServer } from '../../support/local-server.ts';
import { ask, namedUpstream } from '../../support/named-upstream.ts';
import { get } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import type { TestGateway, TestGatewayOptions } from '../../support/test-gateway.ts';
import { askTls } from '../../support/tls-client.ts';
import { waitFor } from '../../support/wait-for.ts';

endAfterEach();

const BASIC = { basic: { users: 'users' } };

async function scene(options: Omit<TestGatewayOptions, 'endpoints'>): Promise<TestGateway> {
  const upstream = await namedUpstream('served');
  return gatewayFor({ endpoints: [upstream.port], users: USERS, ...options });
}

describe.skipIf(!hasOpenssl())('the scheme', () => {
  let authority: Authority;
  let tls: object;
  beforeAll(() => {
    authority = createAuthority();
    const { certFile, keyFile } = authority.sign('localhost');
    tls = { certificates: [{ cert: certFile, key: keyFile }] };
  });
  afterAll(() => authority.remove());

  it('is there for requests that a route refuses, and for those that none has', async () => {
    const match = [{ paths: ['/in'] }];
    const gateway = await scene({ route: { match, auth: BASIC }, listener: { tls } });
    await askTls({ port: gateway.port, send: get('/in') });
    await askTls({ port: gateway.port, send: get('/elsewhere') });
    expect(gateway.records).toMatchObject([
      { status: 401, scheme: 'https', user: null },
      { status: 404, scheme: 'https', user: null },
    ]);
  });

  it('is there for heads that are refused before there is a route, and of plain HTTP that came to TLS', async () => {
    const [secure, plain] = [await scene({ listener: { tls } }), await scene({})];
    const broken = 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n';
    await askTls({ port: secure.port, send: broken });
    await ask(secure.port, get('/'));
    await ask(plain.port, broken);
    await waitFor(() => secure.records.length === 2 && plain.records.length === 1, {
      limitMs: 2000,
      what: 'the records',
    });
    expect([...secure.records, ...plain.records].map(({ status, error, scheme }) => [status, error, scheme])).toEqual([
      [400, 'bad_request', 'https'],
      [400, 'plain_http', 'http'],
      [400, 'bad_request', 'http'],
    ]);
  });
});

describe('the user', () => {
  it('is who has the password, not who claims a name', async () => {
    const gateway = await scene({ route: { auth: BASIC } });
    await ask(gateway.port, get('/', `${basicLine()}X-User: root\r\n`));
    await ask(gateway.port, get('/', basicLine('anna', 'wrong')));
    await ask(gateway.port, get('/', 'X-User: root\r\n'));
    expect(gateway.records).toMatchObject([
      { status: 200, user: 'anna' },
      { status: 401, user: null },
      { status: 401, user: null },
    ]);
  });

  it('is the subject of a token, also of one that is remembered, and nobody for a token without one', async () => {
    await using owned = new AsyncDisposableStack();
    const issuer = createJwtIssuer('ES256', 'one');
    const serve = () => startHttpServer((_request, response) => response.end(issuer.keySet));
    const keys = owned.adopt(await serve(), (server) => server.stop());
    const jwt = { jwks: `http://127.0.0.1:${keys.port}/keys`, claims: { email: 'x-email' } };
    const gateway = await scene({ route: { auth: { jwt } } });
    const bearing = (token: string) => get('/', `Authorization: Bearer ${token}\r\n`);
    const zoe = bearing(await issuer.token({ claims: { sub: 'zoë', email: 'z@shop.test' } }));
    await ask(gateway.port, zoe);
    await ask(gateway.port, zoe);
    await ask(gateway.port, bearing(await issuer.token({ claims: { email: 'z@shop.test' } })));
    await ask(gateway.port, bearing(await createJwtIssuer('ES256', 'one').token({ claims: { sub: 'root' } })));
    expect(gateway.records).toMatchObject([
      { status: 200, user: 'zoë' },
      { status: 200, user: 'zoë' },
      { status: 200, user: null },
      { status: 401, user: null },
    ]);
  });

  it('is nobody where the route lets everybody in, whatever credentials come', async () => {
    const gateway = await scene({ otherRoutes: { in: { match: [{ paths: ['/in'] }], auth: BASIC } } });
    await ask(gateway.port, get('/', basicLine()));
    expect(gateway.records).toMatchObject([{ route: 'r', status: 200, user: null }]);
  });

  it('is there for requests that a route lets in and does not carry out', async () => {
    const limits = { rateLimit: [{ rate: '1/h', burst: 1, key: 'route' }], rewrite: { stripPrefix: '/a' } };
    const gateway = await scene({ route: { auth: BASIC, ...limits } });
    for (const path of ['/b', '/a/1', '/a/2']) await ask(gateway.port, get(path, basicLine()));
    expect(gateway.records).toMatchObject([
      { status: 400, user: 'anna' },
      { status: 200, user: 'anna' },
      { status: 429, user: 'anna' },
    ]);
  });
});
