// Who a request comes from is Weir's word alone: what clients claim in its place reaches neither the service nor a policy.
import { describe, expect, it } from 'vitest';
import { basicLine, LET_IN, startJudge, USERS } from '../../support/access-scene.ts';
import { endpoint } from '../../support/endpoints.ts';
import { ask, namedUpstream } from '../../support/named-upstream.ts';
import { get } from '../../support/raw-client.ts';
import { answering, OK } from '../../support/raw-upstream.ts';
import { endAfterEach, gatewayFor, upstreamThat } from '../../support/scene.ts';

endAfterEach();

const BASIC = { basic: { users: 'users' } };
const FORGED =
  'X-User: root\r\nx-user: root\r\nX_User: root\r\nx_USER: root\r\nX-USER:root\r\nConnection: X-User, close\r\n';

async function scene(route: object, otherRoutes = {}, users = USERS) {
  const upstream = await upstreamThat(answering(OK));
  const gateway = await gatewayFor({ endpoints: [upstream.port], users, route: { ...route }, otherRoutes });
  return { upstream, gateway };
}

describe('a claim of a client', () => {
  it('never reaches the service on a route that tells who it is, however it is spelled', async () => {
    const { gateway, upstream } = await scene({ auth: BASIC });
    expect((await ask(gateway.port, get('/', basicLine() + FORGED))).status).toBe(200);
    expect(upstream.received()).not.toContain('root');
    expect(upstream.received().match(/^x.user:.*$/gim)).toEqual(['x-user: anna']);
  });

  it('never reaches it on an open route of the same service either', async () => {
    const open = { match: [{ paths: ['/open'] }] };
    const other = {
      match: [{ paths: ['/other'] }],
      service: 's',
      auth: { jwt: { jwks: 'keys', claims: { sub: 'x-id' } } },
    };
    const { gateway, upstream } = await scene({ auth: BASIC }, { open, other });
    expect(
      (await ask(gateway.port, get('/open', `${FORGED}X-Id: 7\r\nX_id: 7\r\nX-Idea: 1\r\n${basicLine()}`))).status,
    ).toBe(200);
    expect(upstream.received()).not.toMatch(/^x.(?:user|id):/im);
    // What is no claim stays, and what credentials mean on an open route is the service's own affair.
    expect(upstream.received()).toContain('X-Idea: 1\r\n');
    expect(upstream.received()).toContain(basicLine());
    expect(gateway.records.at(-1)).toMatchObject({ route: 'open', status: 200 });
  });

  it('never reaches it in the trailers of a request', async () => {
    const { gateway, upstream } = await scene({ auth: BASIC });
    const head = `POST / HTTP/1.1\r\nHost: s\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n${basicLine()}`;
    const trailers = 'X-User: root\r\nx_user: root\r\nAuthorization: root\r\nX-End: 1\r\n';
    await ask(gateway.port, `${head}Trailer: X-User, X-End\r\n\r\n2\r\nhi\r\n0\r\n${trailers}\r\n`);
    expect(upstream.received()).toContain('0\r\nX-End: 1\r\n\r\n');
    expect(upstream.received()).not.toContain('root');
  });

  it('never reaches it when the service for authentication says nothing of it', async () => {
    const judge = await startJudge({ octets: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' });
    const { gateway, upstream } = await scene({ auth: judge.auth });
    await ask(gateway.port, get('/', FORGED));
    expect(upstream.received()).toContain('GET / HTTP/1.1');
    expect(upstream.received()).not.toMatch(/^x.user:/im);
    // Nor does that service see it.
    expect(judge.heads[0]).not.toContain('root');
  });

  it('counts under no limit and chooses no branch: who was verified does', async () => {
    const [plain, beta] = [await namedUpstream('plain'), await namedUpstream('beta')];
    const gateway = await gatewayFor({
      endpoints: [endpoint(plain.port, { tags: ['plain'] }), endpoint(beta.port, { tags: ['beta'] })],
      users: USERS,
      route: {
        auth: BASIC,
        rateLimit: [{ rate: '2/h', burst: 2, key: 'header', name: 'X-User' }],
        split: [
          { weight: 100, tags: ['plain'] },
          { weight: 0, tags: ['beta'], when: { header: 'x-user', equals: 'root' } },
        ],
      },
    });
    const as = (name: string) => ask(gateway.port, get('/', `X-User: ${name}\r\n${basicLine()}`));
    const answers = [await as('root'), await as('1'), await as('2')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.slice(0, 2).map(({ content }) => content)).toEqual(['plain', 'plain']);
  });
});

describe('the branch of a split', () => {
  it('goes by the user that was verified', async () => {
    const [plain, beta] = [await namedUpstream('plain'), await namedUpstream('beta')];
    const gateway = await gatewayFor({
      endpoints: [endpoint(plain.port, { tags: ['plain'] }), endpoint(beta.port, { tags: ['beta'] })],
      users: USERS,
      route: {
        auth: BASIC,
        split: [
          { weight: 100, tags: ['plain'] },
          { weight: 0, tags: ['beta'], when: { header: 'x-user', equals: 'anna' } },
        ],
      },
    });
    expect((await ask(gateway.port, get('/', basicLine()))).content).toBe('beta');
  });
});

describe('credentials', () => {
  it('of a user do not reach the service', async () => {
    const { gateway, upstream } = await scene({ auth: BASIC });
    await ask(gateway.port, get('/', `${basicLine()}X-End: 1\r\n`));
    expect(upstream.received()).toContain('X-End: 1\r\n');
    expect(upstream.received()).not.toMatch(/authorization/i);
  });

  it('of a user reach it where passCredentials says so', async () => {
    const { gateway, upstream } = await scene({ auth: { basic: { users: 'users', passCredentials: true } } });
    await ask(gateway.port, get('/', basicLine()));
    expect(upstream.received()).toContain(basicLine());
    expect(upstream.received()).toContain('x-user: anna\r\n');
  });

  it('that come twice are nobody’s', async () => {
    const { gateway, upstream } = await scene({ auth: BASIC });
    expect((await ask(gateway.port, get('/', basicLine() + basicLine()))).status).toBe(401);
    expect((await ask(gateway.port, get('/', basicLine('anna', 'wrong') + basicLine()))).status).toBe(401);
    expect(upstream.received()).toBe('');
  });

  it('of a user with a name beyond ASCII are told as UTF-8', async () => {
    const { gateway, upstream } = await scene({ auth: BASIC }, {}, USERS.replace('anna', 'voilà'));
    expect((await ask(gateway.port, get('/', basicLine('voilà')))).status).toBe(200);
    expect(Buffer.from(upstream.received(), 'latin1').toString()).toContain('x-user: voilà\r\n');
  });
});

describe('what a service for authentication is told of scheme and host', () => {
  const CLAIM = 'X-Forwarded-Proto: https\r\nX-Forwarded-Host: shop.test\r\n';
  it.each([
    ['a trusted proxy', ['127.0.0.0/8'], 'https', 'shop.test'],
    ['anybody else', [], 'http', 's'],
  ])('by %s is what the service behind it is told', async (_who, trustedProxies, proto, host) => {
    const judge = await startJudge({ octets: LET_IN });
    const upstream = await upstreamThat(answering(OK));
    const gateway = await gatewayFor({
      endpoints: [upstream.port],
      route: { auth: judge.auth },
      gateway: { trustedProxies },
    });
    expect((await ask(gateway.port, get('/', CLAIM))).status).toBe(200);
    for (const head of [judge.heads[0], upstream.received()]) {
      expect(head).toMatch(new RegExp(`^x-forwarded-proto: ${proto}\r$`, 'im'));
      expect(head).toMatch(new RegExp(`^x-forwarded-host: ${host}\r$`, 'im'));
    }
  });
});
