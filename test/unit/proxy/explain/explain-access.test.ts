import { describe, expect, it } from 'vitest';
import { explanationText } from '../../../../gateway/proxy/explain/explanation-text.ts';
import { endpoint } from '../../../support/endpoints.ts';
import { ExplainScene } from './explain-scene.ts';

const SHOP = 'https://shop.test';
const CORS = { origins: [SHOP], methods: ['PUT'] };
const PREFLIGHT = { method: 'OPTIONS', headers: [`Origin: ${SHOP}`, 'Access-Control-Request-Method: PUT'] };

function sceneOf(route: object, others: Readonly<Record<string, object>> = {}): ExplainScene {
  return new ExplainScene({ routes: { r: { service: 's', ...route }, ...others }, pools: { s: [endpoint(1)] } });
}

describe('who may come in', () => {
  it('is everybody where nothing is asked for', () => {
    expect(sceneOf({}).explain().access).toBeNull();
  });

  it('is told in the order of the checks, and the outcome says what an address is refused for', () => {
    const scene = sceneOf({ allow: ['10.0.0.0/8'], auth: { basic: { users: 'users' } }, cors: CORS });
    const { access, outcome } = scene.explain();
    expect(access).toEqual({
      checks: ['address: only 10.0.0.0/8', `cors: pages of ${SHOP}`, 'basic: users of users, told in x-user'],
      isWelcome: false,
      isPreflight: false,
      needs: 'a user name and its password',
      verified: [],
    });
    expect(outcome).toEqual({ kind: 'answer', status: 403, why: 'the address of the client may not come in' });
    expect(scene.explain(PREFLIGHT).outcome).toMatchObject({ status: 403 });
    expect(scene.explain({ client: '10.1.2.3' }).outcome).toMatchObject({ kind: 'endpoint' });
  });

  it('goes by the address that a trusted proxy names', () => {
    const made = new ExplainScene({
      routes: { r: { service: 's', deny: ['192.0.2.1'] } },
      pools: { s: [endpoint(1)] },
      gateway: { trustedProxies: ['203.0.113.7'] },
    });
    expect(made.explain({ headers: ['X-Forwarded-For: 192.0.2.1'] }).outcome).toMatchObject({ status: 403 });
    expect(made.explain({ headers: ['X-Forwarded-For: 192.0.2.2'] }).outcome).toMatchObject({ kind: 'endpoint' });
  });

  it.each([
    [{ basic: { users: 'users' } }, 'a user name and its password'],
    [{ jwt: { jwks: 'keys.json' } }, 'a bearer token'],
    [{ forward: { url: 'http://127.0.0.1:9/auth?key=secret' } }, 'the consent of http://127.0.0.1:9/auth'],
  ])('is who has what %j asks for', (auth, needs) => {
    const { access, summary } = sceneOf({ auth }).explain({ url: 'http://shop.test/a' });
    expect(access?.needs).toBe(needs);
    expect(summary).toBe(`GET shop.test/a with ${needs} goes to 127.0.0.1:1 of s by route r`);
  });

  it('includes preflights, which belong to the route of the request that they ask for', () => {
    const put = { service: 's', match: [{ methods: ['PUT'] }], cors: CORS, auth: { basic: { users: 'users' } } };
    const { route, access, outcome } = sceneOf({}, { put }).explain(PREFLIGHT);
    expect([route?.name, access?.isPreflight, access?.needs]).toEqual(['put', true, null]);
    expect(outcome).toEqual({ kind: 'answer', status: 204, why: 'a preflight, which needs no service' });
    const plain = sceneOf({}, { put }).explain({ ...PREFLIGHT, headers: [`Origin: ${SHOP}`] });
    expect([plain.route?.name, plain.outcome.kind]).toEqual(['r', 'endpoint']);
  });

  it('is not what the request says of itself: neither limits nor branches go by it', () => {
    const scene = sceneOf({
      auth: { basic: { users: 'users' } },
      rateLimit: [{ rate: '1/s', key: 'header', name: 'X-User' }],
    });
    const explanation = scene.explain({ headers: ['X-User: root'] });
    expect(explanation.access?.verified).toEqual(['x-user']);
    expect(explanation.rateLimits).toMatchObject([{ by: 'header x-user', key: null }]);
    expect(explanationText(explanation)).not.toContain('root');
  });
});

describe('the text', () => {
  it('has a section for it', () => {
    const scene = sceneOf({
      deny: ['203.0.113.7'],
      auth: { basic: { users: 'users' } },
      rateLimit: [{ rate: '1/s', key: 'header', name: 'X-User' }],
    });
    const text = explanationText(scene.explain());
    expect(text.slice(text.indexOf('access'), text.indexOf('forwarded'))).toMatchInlineSnapshot(`
      "access       address: everybody, but not 203.0.113.7/32
                   basic: users of users, told in x-user
                   203.0.113.7 may not come in
                   it needs a user name and its password, which is not checked here
                   what goes by x-user goes by what is verified, unknown here
      "
    `);
  });
});
