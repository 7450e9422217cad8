// The order of the checks of a route, whose address they see, and what is counted and logged of who is refused.
import { describe, expect, it } from 'vitest';
import { ACCESS_REFUSALS } from '../../../gateway/shared/route-cell.ts';
import { basicLine, KEEP_OUT, startJudge, USERS } from '../../support/access-scene.ts';
import { ask, fieldOf, namedUpstream, requestsOf } from '../../support/named-upstream.ts';
import { get } from '../../support/raw-client.ts';
import { endAfterEach, gatewayFor } from '../../support/scene.ts';
import type { TestGateway, TestGatewayOptions } from '../../support/test-gateway.ts';

endAfterEach();

const SHOP = 'https://shop.test';
const BASIC = { basic: { users: 'users' } };
const NOT_HERE = { deny: ['127.0.0.0/8'] };

async function scene(options: Omit<TestGatewayOptions, 'endpoints'>) {
  const upstream = await namedUpstream('served');
  return { upstream, gateway: await gatewayFor({ endpoints: [upstream.port], users: USERS, ...options }) };
}

function preflight(fields = ''): string {
  const wanted = `Origin: ${SHOP}\r\nAccess-Control-Request-Method: PUT\r\n${fields}`;
  return `OPTIONS / HTTP/1.1\r\nHost: s\r\nConnection: close\r\n${wanted}\r\n`;
}

function refusals({ counts }: TestGateway) {
  return Object.fromEntries(ACCESS_REFUSALS.map((reason) => [reason, counts.refused(reason)]));
}

describe('the checks of a route', () => {
  it('look at the address before anything else: also of preflights, and of who has credentials', async () => {
    const route = { ...NOT_HERE, auth: BASIC, cors: { origins: [SHOP], methods: ['PUT'] } };
    const { gateway, upstream } = await scene({ route });
    for (const request of [preflight(), get('/'), get('/', basicLine()), get('/', basicLine('anna', 'wrong'))]) {
      const answer = await ask(gateway.port, request);
      expect([answer.status, fieldOf(answer, 'www-authenticate')]).toEqual([403, undefined]);
    }
    expect(requestsOf(upstream)).toBe(0);
    expect(refusals(gateway)).toEqual({ address: 4, credentials: 0, service: 0, unavailable: 0 });
  });

  it('let preflights in without credentials, and nothing else', async () => {
    const route = { auth: BASIC, cors: { origins: [SHOP], methods: ['PUT'] } };
    const { gateway, upstream } = await scene({ route });
    expect((await ask(gateway.port, preflight())).status).toBe(204);
    const plain = `OPTIONS / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nOrigin: ${SHOP}\r\n\r\n`;
    expect((await ask(gateway.port, plain)).status).toBe(401);
    expect((await ask(gateway.port, get('/', basicLine()))).content).toBe('served');
    expect(requestsOf(upstream)).toBe(1);
  });

  it('come before the limits: who is refused uses up no rate and takes no place', async () => {
    const limits = { rateLimit: [{ rate: '1/h', burst: 1, key: 'route' }], concurrency: { max: 1 } };
    const { gateway } = await scene({ route: { auth: BASIC, ...limits } });
    for (let at = 0; at < 3; at++) {
      const answer = await ask(gateway.port, get('/'));
      expect([answer.status, fieldOf(answer, 'ratelimit')]).toEqual([401, undefined]);
    }
    expect(gateway.counts.concurrency()).toEqual({ running: 0, waiting: 0 });
    expect((await ask(gateway.port, get('/', basicLine()))).status).toBe(200);
    expect((await ask(gateway.port, get('/', basicLine()))).status).toBe(429);
    expect((await ask(gateway.port, get('/'))).status).toBe(401);
  });

  it('come before the rewrite of the path, and know the request by one id', async () => {
    const judge = await startJudge({ octets: 'HTTP/1.1 204 No Content\r\n\r\n' });
    const route = { auth: judge.auth, rewrite: { stripPrefix: '/a' }, cors: { origins: [SHOP] } };
    const { gateway } = await scene({ route });
    const answer = await ask(gateway.port, get('/b', `Origin: ${SHOP}\r\n`));
    expect([answer.status, fieldOf(answer, 'access-control-allow-origin')]).toEqual([400, SHOP]);
    expect(judge.heads[0]?.toLowerCase()).toContain(`x-request-id: ${fieldOf(answer, 'x-request-id')}`);
  });
});

describe('the address', () => {
  const allow = ['192.0.2.0/24'];

  it('is that of the peer, whatever it says', async () => {
    const { gateway } = await scene({ route: { allow } });
    const answer = await ask(gateway.port, get('/', 'X-Forwarded-For: 192.0.2.1\r\nX-Real-IP: 192.0.2.1\r\n'));
    expect(answer.status).toBe(403);
  });

  it.each([
    ['X-Forwarded-For: 192.0.2.1\r\n', 200],
    ['X-Forwarded-For: 203.0.113.9, 192.0.2.1\r\n', 200],
    ['X-Forwarded-For: 192.0.2.1, 203.0.113.9\r\n', 403],
    ['X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 203.0.113.9\r\n', 403],
    ['X-Forwarded-For: ::ffff:192.0.2.1\r\n', 200],
    ['X-Forwarded-For: 192.0.2.1, nonsense\r\n', 403],
    ['', 403],
  ])('behind a trusted proxy is the one that it names: %j', async (fields, status) => {
    const { gateway } = await scene({ route: { allow }, gateway: { trustedProxies: ['127.0.0.0/8'] } });
    expect((await ask(gateway.port, get('/', fields))).status).toBe(status);
  });

  it('is refused by deny although allow has it', async () => {
    const trusting = { trustedProxies: ['127.0.0.0/8'] };
    const { gateway } = await scene({ route: { allow, deny: ['192.0.2.66'] }, gateway: trusting });
    expect((await ask(gateway.port, get('/', 'X-Forwarded-For: 192.0.2.66\r\n'))).status).toBe(403);
    expect((await ask(gateway.port, get('/', 'X-Forwarded-For: 192.0.2.65\r\n'))).status).toBe(200);
    expect(gateway.records.map(({ client, status }) => [client, status])).toEqual([
      ['192.0.2.66', 403],
      ['192.0.2.65', 200],
    ]);
  });
});

describe('a request that is refused', () => {
  it('is a request of its route, in the log and in the counts', async () => {
    const judge = await startJudge({ octets: KEEP_OUT });
    const broken = await startJudge({ octets: 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n' });
    const otherRoutes = {
      basic: { match: [{ paths: ['/basic'] }], auth: BASIC },
      judged: { match: [{ paths: ['/judged'] }], auth: judge.auth },
      broken: { match: [{ paths: ['/broken'] }], auth: broken.auth },
    };
    const { gateway, upstream } = await scene({ route: NOT_HERE, otherRoutes });
    for (const path of ['/x?secret=1', '/basic', '/judged', '/broken']) {
      await ask(gateway.port, get(path, 'User-Agent: t\r\n'));
    }
    const told = { service: 's', attempts: [], branch: null, degraded: null, userAgent: 't', client: '127.0.0.1' };
    expect(gateway.records).toMatchObject([
      { ...told, route: 'r', path: '/x', status: 403, error: 'forbidden' },
      { ...told, route: 'basic', status: 401, error: 'unauthorized' },
      { ...told, route: 'judged', status: 401, error: null, bytes: 2 },
      { ...told, route: 'broken', status: 503, error: 'auth_unavailable' },
    ]);
    expect(gateway.counts.requests(0, 3)).toBe(1);
    expect(gateway.counts.inFlight()).toBe(0);
    expect(requestsOf(upstream)).toBe(0);
    expect(gateway.endpoints()).toMatchObject([{ requests: 0, failures: 0, inFlight: 0 }]);
  });

  it('is counted by its reason', async () => {
    const judge = await startJudge({ octets: KEEP_OUT });
    const { gateway } = await scene({ route: { auth: judge.auth, cors: { origins: [SHOP], methods: ['PUT'] } } });
    await ask(gateway.port, get('/'));
    await ask(gateway.port, preflight());
    expect(refusals(gateway)).toEqual({ address: 0, credentials: 0, service: 1, unavailable: 0 });
  });
});
