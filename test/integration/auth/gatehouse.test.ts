// The gatekeepers of routes: the order of their checks, and what they keep over a change of the routes.
import { hashSync } from 'bcryptjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AccessRules } from '../../../gateway/access/access-rules.ts';
import type { Gatekeeper } from '../../../gateway/access/gatekeeper.ts';
import { Gatehouse } from '../../../gateway/auth/gatehouse.ts';
import { systemClock as clock } from '../../../gateway/core/clock.ts';
import { createJwtIssuer } from '../../support/jwt-issuer.ts';
import { startHttpServer } from '../../support/local-server.ts';
import { createRecordedLog } from '../../support/recorded-log.ts';
import { basicField, fieldsOf, verdictAtOnce, verdictOf } from '../../support/request-facts.ts';
import { waitFor } from '../../support/wait-for.ts';

let gatehouse: Gatehouse;
beforeEach(() => {
  gatehouse = new Gatehouse({ clock, log: createRecordedLog() });
});
afterEach(() => gatehouse.stop());

const OPEN: AccessRules & { service: string } = { service: 's', allow: [], deny: [], auth: null, cors: null };
const SHOP = 'https://shop.example.com';
const CORS = {
  origins: [SHOP],
  methods: ['PUT'],
  requestHeaders: [],
  exposeHeaders: [],
  credentials: true,
  maxAgeMs: 600_000,
};
const users = (text: string) => ({ file: 'users', content: new Uint8Array(Buffer.from(text)) });
const BASIC = {
  kind: 'basic' as const,
  users: users(`anna:${hashSync('opensesame', 4)}`),
  realm: 'shop',
  userHeader: 'x-user',
  passCredentials: false,
};
const ANNA = { headers: { authorization: basicField('anna', 'opensesame') } };

function keep(rules: Partial<AccessRules>, name = 'a'): Gatekeeper {
  const gatekeeper = gatehouse.prepare([{ ...OPEN, ...rules, name }]).get(name);
  if (gatekeeper === undefined) throw new Error('no gatekeeper');
  return gatekeeper;
}

describe('a gatekeeper', () => {
  it('is not there for a route that lets everybody in', () => {
    expect(gatehouse.prepare([{ ...OPEN, name: 'a' }]).size).toBe(0);
  });

  it('looks at the address first, then at preflights, then at credentials', async () => {
    const gatekeeper = keep({ deny: ['192.0.2.1/32'], cors: CORS, auth: BASIC });
    const preflight = { method: 'OPTIONS', headers: { origin: SHOP, 'access-control-request-method': 'PUT' } };
    expect(verdictAtOnce(gatekeeper, preflight)).toEqual({ kind: 'refuse', situation: 'forbidden', lines: '' });
    expect(verdictAtOnce(gatekeeper, ANNA)).toMatchObject({ situation: 'forbidden' });
    const client = '192.0.2.2';
    expect(verdictAtOnce(gatekeeper, { ...preflight, client })).toMatchObject({ kind: 'answer', status: 204 });
    expect(verdictAtOnce(gatekeeper, { method: 'OPTIONS', client })).toMatchObject({ situation: 'unauthorized' });
    expect(await verdictOf(gatekeeper, { ...ANNA, client })).toEqual({
      kind: 'pass',
      lines: 'x-user: anna\r\n',
      user: 'anna',
    });
    expect(gatekeeper.ownFields).toEqual(new Set(['x-user', 'x_user', 'authorization']));
  });

  it('with networks alone answers at once and takes no field out', () => {
    const gatekeeper = keep({ allow: ['10.0.0.0/8'] });
    expect(verdictAtOnce(gatekeeper, { client: '10.1.2.3' })).toEqual({ kind: 'pass', lines: '', user: null });
    expect(verdictAtOnce(gatekeeper)).toMatchObject({ situation: 'forbidden' });
    expect(gatekeeper.ownFields.size).toBe(0);
    expect(gatekeeper.cors).toBeNull();
  });

  it('of an open route takes out what other routes of its service tell, and checks nobody', () => {
    const routes = [
      { ...OPEN, name: 'open' },
      { ...OPEN, auth: BASIC, name: 'basic' },
      { ...OPEN, name: 'elsewhere', service: 'other' },
    ];
    const gatekeepers = gatehouse.prepare(routes);
    expect(gatekeepers.get('open')).toMatchObject({ isOpen: true, ownFields: new Set(['x-user', 'x_user']) });
    expect(gatekeepers.get('basic')).toMatchObject({ isOpen: false });
    expect(gatekeepers.has('elsewhere')).toBe(false);
  });

  it('gives what every answer says about origins apart from the answer to a preflight', () => {
    const gatekeeper = keep({ cors: CORS });
    const headers = { origin: SHOP, 'access-control-request-method': 'PUT' };
    const verdict = verdictAtOnce(gatekeeper, { method: 'OPTIONS', headers });
    const names = fieldsOf(verdict.lines + (gatekeeper.cors?.linesFor(SHOP) ?? '')).map(([name]) => name);
    expect(names.filter((name) => name !== 'Vary')).toEqual([...new Set(names)].filter((name) => name !== 'Vary'));
    expect(names).toEqual(expect.arrayContaining(['Access-Control-Allow-Origin', 'Access-Control-Allow-Methods']));
  });
});

describe('a change of the routes', () => {
  it('leaves the memory of routes with the same rules', async () => {
    await verdictOf(keep({ auth: BASIC }), ANNA);
    expect(verdictAtOnce(keep({ auth: structuredClone(BASIC), allow: ['192.0.2.0/24'] }, 'b'), ANNA)).toMatchObject({
      kind: 'pass',
    });
  });

  it('forgets passwords when the users are others', async () => {
    await verdictOf(keep({ auth: BASIC }), ANNA);
    const others = { ...BASIC, users: users(`anna:${hashSync('other', 4)}`) };
    expect(await verdictOf(keep({ auth: others }), ANNA)).toMatchObject({ situation: 'unauthorized' });
  });

  it('lets a question to another service end that was on its way', async () => {
    const answers: (() => void)[] = [];
    const server = await startHttpServer((_request, response) => void answers.push(() => response.end()));
    const url = `http://127.0.0.1:${server.port}/`;
    const auth = { kind: 'forward' as const, url, timeoutMs: 20_000, requestHeaders: [], responseHeaders: [] };
    const verdict = verdictOf(keep({ auth }));
    await waitFor(() => answers.length === 1, { limitMs: 5000, what: 'the question' });
    gatehouse.prepare([]);
    answers[0]?.();
    expect(await verdict).toEqual({ kind: 'pass', lines: '', user: null });
    await server.stop();
  });

  it('has the keys behind a URL before somebody comes', async () => {
    const issuer = createJwtIssuer('ES256', 'one');
    let asked = 0;
    const server = await startHttpServer((_request, response) => {
      asked++;
      response.end(issuer.keySet);
    });
    const jwks = { kind: 'url' as const, url: `http://127.0.0.1:${server.port}/` };
    const auth = { kind: 'jwt' as const, jwks, realm: 'a', issuer: null, audience: null, claims: {} };
    const gatekeeper = keep({ auth: { ...auth, algorithms: ['ES256'] } });
    await waitFor(() => asked === 1, { limitMs: 5000, what: 'the keys' });
    const headers = { authorization: `Bearer ${await issuer.token()}` };
    expect(await verdictOf(gatekeeper, { headers })).toEqual({ kind: 'pass', lines: '', user: 'anna' });
    expect(asked).toBe(1);
    await server.stop();
  });
});
