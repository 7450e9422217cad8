// Pages of other origins: preflights that Weir answers, and its fields on every answer of the route and on no other.
import { describe, expect, it } from 'vitest';
import { startJudge, USERS } from '../../support/access-scene.ts';
import { findFreePorts } from '../../support/free-ports.ts';
import { ask, fieldOf, namedUpstream, requestsOf, type TextAnswer } from '../../support/named-upstream.ts';
import { get } from '../../support/raw-client.ts';
import { answering } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';

endAfterEach();

const SHOP = 'https://shop.test';
const FROM_SHOP = `Origin: ${SHOP}\r\n`;
const CORS = { origins: [SHOP], methods: ['PUT'], headers: ['x-a'], exposeHeaders: ['x-b'], credentials: true };

function preflight(method: string, { path = '/', origin = SHOP } = {}): string {
  const wanted = `Origin: ${origin}\r\nAccess-Control-Request-Method: ${method}\r\nAccess-Control-Request-Headers: x-a\r\n`;
  return `OPTIONS ${path} HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${wanted}\r\n`;
}

/** The fields of CORS that an answer has, and what it varies by. */
function corsOf(answer: TextAnswer) {
  const names = [...answer.head.matchAll(/^(access-control-[a-z-]+|vary):/gim)].map(([, name = '']) =>
    name.toLowerCase(),
  );
  return Object.fromEntries(names.map((name) => [name, fieldOf(answer, name)]));
}

const ALLOWED = {
  'access-control-allow-origin': SHOP,
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'x-b',
  vary: 'Origin',
};

describe('a preflight', () => {
  it('is answered without the service, counted and logged', async () => {
    const upstream = await namedUpstream('served');
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { cors: CORS } });
    const answer = await ask(gateway.port, preflight('PUT'));
    expect([answer.status, answer.content, fieldOf(answer, 'content-length')]).toEqual([204, '', undefined]);
    expect(corsOf(answer)).toEqual({
      ...ALLOWED,
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'x-a',
      'access-control-max-age': '600',
      vary: 'Access-Control-Request-Method, Access-Control-Request-Headers, Origin',
    });
    const { requestId = '' } = gateway.records[0] ?? {};
    expect(fieldOf(answer, 'x-request-id')).toBe(requestId);
    expect(gateway.records).toMatchObject([{ route: 'r', method: 'OPTIONS', status: 204, error: null, attempts: [] }]);
    expect(gateway.counts.requests(6, 1)).toBe(1);
    expect(requestsOf(upstream)).toBe(0);
  });

  it('of an origin that is not allowed is told nothing', async () => {
    const upstream = await namedUpstream('served');
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { cors: CORS } });
    const answer = await ask(gateway.port, preflight('PUT', { origin: 'https://evil.test' }));
    expect([answer.status, Object.keys(corsOf(answer))]).toEqual([204, ['vary']]);
    expect(requestsOf(upstream)).toBe(0);
  });

  it('belongs to the route of the request that it asks for, also where that route takes no OPTIONS', async () => {
    const upstream = await namedUpstream('served');
    const otherRoutes = {
      writes: { match: [{ paths: ['/x'], methods: ['PUT'] }], cors: CORS },
      reads: { match: [{ paths: ['/x'], methods: ['GET'] }] },
    };
    const gateway = await gatewayFor({ endpoints: [upstream.port], otherRoutes });
    expect((await ask(gateway.port, preflight('PUT', { path: '/x' }))).status).toBe(204);
    // Where that route leaves CORS to the service, the service gets it by the route that takes it.
    expect((await ask(gateway.port, preflight('GET', { path: '/x' }))).content).toBe('served');
    expect(gateway.records.map(({ route }) => route)).toEqual(['writes', 'r']);
  });
});

describe('an answer to a page of another origin', () => {
  it('of the service has Weir’s fields in place of the service’s own', async () => {
    const own = 'Access-Control-Allow-Origin: *\r\naccess-control-max-age: 1\r\nAccess-Control-Expose-Headers: x-c\r\n';
    const upstream = await upstreamThat(
      answering(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\nVary: Accept\r\n${own}\r\n`),
    );
    const otherRoutes = { plain: { match: [{ paths: ['/plain'] }] } };
    const gateway = await gatewayFor({ endpoints: [upstream.port], route: { cors: CORS }, otherRoutes });
    expect(corsOf(await ask(gateway.port, get('/', FROM_SHOP)))).toEqual({ ...ALLOWED, vary: 'Accept, Origin' });
    expect(corsOf(await ask(gateway.port, get('/')))).toEqual({ vary: 'Accept, Origin' });
    expect(corsOf(await ask(gateway.port, get('/', 'Origin: https://evil.test\r\n')))).toEqual({
      vary: 'Accept, Origin',
    });
    // Elsewhere they are the service's own affair.
    expect(corsOf(await ask(gateway.port, get('/plain', FROM_SHOP)))).toEqual({
      'access-control-allow-origin': '*',
      'access-control-max-age': '1',
      'access-control-expose-headers': 'x-c',
      vary: 'Accept',
    });
  });

  it.each([
    [401, { auth: { basic: { users: 'users' } } }],
    [403, { deny: ['0.0.0.0/0'] }],
    [413, { body: '1B' }],
    [429, { rateLimit: [{ rate: '1/h', burst: 1 }] }],
    [502, {}],
    [503, { auth: 'broken' }],
    [200, { fallback: { chain: [{ respond: { status: 200, body: 'sorry' } }] } }],
  ])('of Weir itself has them too: %i', async (status, route) => {
    const [dead = 0] = await findFreePorts(1);
    const judge = await startJudge({ octets: 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n' });
    const { auth } = judge;
    const whole = { ...route, ...('auth' in route && route.auth === 'broken' && { auth }), cors: CORS };
    const gateway = await gatewayFor({ endpoints: [dead], users: USERS, route: whole });
    const request = `POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${FROM_SHOP}Content-Length: 2\r\n\r\nhi`;
    const answers = [await ask(gateway.port, request), await ask(gateway.port, request)];
    expect(answers[1]?.status).toBe(status);
    for (const answer of answers) expect(corsOf(answer)).toEqual(ALLOWED);
  });

  it('of Weir itself has none on a route without origins, and where there is no route', async () => {
    const gateway = await gatewayFor({ endpoints: [], route: { match: [{ paths: ['/a'] }] } });
    expect(corsOf(await ask(gateway.port, get('/a', FROM_SHOP)))).toEqual({});
    expect(corsOf(await ask(gateway.port, get('/b', FROM_SHOP)))).toEqual({});
  });

  it('of the service for authentication has them, so that the page can read where to go', async () => {
    const judge = await startJudge({
      octets: 'HTTP/1.1 401 No\r\nWWW-Authenticate: Token\r\nContent-Length: 0\r\n\r\n',
    });
    const gateway = await gatewayFor({ endpoints: [], route: { auth: judge.auth, cors: CORS } });
    const answer = await ask(gateway.port, get('/', FROM_SHOP));
    expect([answer.status, corsOf(answer)]).toEqual([401, ALLOWED]);
  });
});
