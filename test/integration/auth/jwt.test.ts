// Tokens that are really signed, against the keys of a file: what comes in, and every way in which one is no good.
import { createHmac } from 'node:crypto';
import { base64url, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import type { JwtRules } from '../../../gateway/access/access-rules.ts';
import { PUBLIC_KEY_ALGORITHMS } from '../../../gateway/access/key-set.ts';
import { JwtAuthenticator } from '../../../gateway/auth/jwt-authenticator.ts';
import { keysOfFile } from '../../../gateway/auth/key-holder.ts';
import type { Clock } from '../../../gateway/core/clock.ts';
import { createJwtIssuer, type TokenWishes } from '../../support/jwt-issuer.ts';
import { verdictAtOnce, verdictOf } from '../../support/request-facts.ts';

const MISSING = { kind: 'refuse', situation: 'unauthorized', lines: 'WWW-Authenticate: Bearer realm="shop"\r\n' };
const INVALID = { ...MISSING, lines: 'WWW-Authenticate: Bearer realm="shop", error="invalid_token"\r\n' };
const PASS = { kind: 'pass', lines: 'x-user-id: anna\r\n', user: 'anna' };

const issuer = createJwtIssuer('RS256', 'one');
const secret = Buffer.alloc(64, 3);
const OCT = { kty: 'oct', k: secret.toString('base64url'), kid: 'secret' };

interface Setting extends Partial<JwtRules> {
  readonly keySet?: string;
}

function create({ keySet = issuer.keySet, ...changes }: Setting = {}) {
  let shiftMs = 0;
  const clock: Clock = { nowMs: () => shiftMs, wallMs: () => Date.now() + shiftMs, random: () => 0.5 };
  const content = new Uint8Array(Buffer.from(keySet));
  const rules: JwtRules = {
    kind: 'jwt',
    jwks: { kind: 'file', file: 'keys.json', content },
    realm: 'shop',
    issuer: null,
    audience: null,
    algorithms: PUBLIC_KEY_ALGORITHMS,
    claims: { sub: 'x-user-id' },
    ...changes,
  };
  const jwt = new JwtAuthenticator(rules, { keys: keysOfFile(content, rules.algorithms), clock });
  const shift = (ms: number): void => {
    shiftMs += ms;
  };
  return { jwt, shift };
}

const bearing = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const encoded = (value: unknown) => base64url.encode(JSON.stringify(value));
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

describe('a token', () => {
  it.each(['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA'] as const)('with %s comes in', async (alg) => {
    const other = createJwtIssuer(alg, 'two');
    const { jwt } = create({ keySet: JSON.stringify({ keys: [issuer.jwk, other.jwk] }) });
    expect(await verdictOf(jwt, bearing(await other.token()))).toEqual(PASS);
    expect(await verdictOf(jwt, bearing(await issuer.token()))).toEqual(PASS);
  });

  it('with HS256 comes in where a file has the secret and the route names the algorithm', async () => {
    const token = await new SignJWT({ sub: 'anna' })
      .setProtectedHeader({ alg: 'HS256', kid: 'secret' })
      .setExpirationTime('5m')
      .sign(secret);
    const keySet = JSON.stringify({ keys: [OCT, issuer.jwk] });
    expect(await verdictOf(create({ keySet, algorithms: ['HS256'] }).jwt, bearing(token))).toEqual(PASS);
    expect(await verdictOf(create({ keySet }).jwt, bearing(token))).toEqual(INVALID);
  });

  it('that names no key is tried with all that fit', async () => {
    const keys = [createJwtIssuer('RS256', 'a').jwk, createJwtIssuer('ES256', 'b').jwk, issuer.jwk];
    const { jwt } = create({ keySet: JSON.stringify({ keys }) });
    expect(await verdictOf(jwt, bearing(await issuer.token({ header: { kid: undefined } })))).toEqual(PASS);
  });

  it('tells its claims to the service', async () => {
    const { jwt } = create({ claims: { sub: 'x-user-id', roles: 'x-roles', admin: 'x-admin', none: 'x-none' } });
    const token = await issuer.token({ claims: { sub: 'anna', roles: ['a', 'b'], admin: false } });
    expect(await verdictOf(jwt, bearing(token))).toEqual({
      kind: 'pass',
      lines: 'x-user-id: anna\r\nx-roles: a,b\r\nx-admin: false\r\n',
      user: 'anna',
    });
    expect(jwt.ownFields.has('x_user_id')).toBe(true);
    expect(jwt.ownFields.has('authorization')).toBe(false);
  });

  const me = { issuer: 'https://id.example', audience: 'shop' };
  const mine = { sub: 'anna', iss: 'https://id.example', aud: ['other', 'shop'] };

  it('of the wanted issuer for the wanted audience comes in', async () => {
    expect(await verdictOf(create(me).jwt, bearing(await issuer.token({ claims: mine })))).toEqual(PASS);
  });

  it.each<[string, TokenWishes]>([
    ['has expired', { expiresIn: -60 }],
    ['never expires', { expiresIn: null }],
    ['is not valid yet', { notBeforeIn: 60 }],
    ['is of another issuer', { claims: { ...mine, iss: 'https://evil.example' } }],
    ['is of nobody', { claims: { sub: 'anna', aud: 'shop' } }],
    ['is for somebody else', { claims: { ...mine, aud: 'other' } }],
    ['is for nobody', { claims: { sub: 'anna', iss: 'https://id.example' } }],
    ['is for what only begins so', { claims: { ...mine, aud: 'shopping' } }],
    ['has a claim that would break a field', { claims: { ...mine, sub: 'anna\r\nx-admin: 1' } }],
    ['has a claim that is a structure', { claims: { ...mine, sub: JSON.parse('{"a":1}') } }],
    ['names a key that there is not', { claims: mine, header: { kid: 'two' } }],
    ['has a name of a key that is none', { claims: mine, header: { kid: 1 } }],
  ])('that %s does not come in', async (_what, wishes) => {
    expect(await verdictOf(create(me).jwt, bearing(await issuer.token({ claims: mine, ...wishes })))).toEqual(INVALID);
  });

  it.each([
    ['expired less than 30 s ago', { expiresIn: -20 }],
    ['becomes valid within 30 s', { notBeforeIn: 20 }],
  ])('that %s comes in: clocks differ', async (_what, wishes) => {
    expect(await verdictOf(create().jwt, bearing(await issuer.token(wishes)))).toEqual(PASS);
  });

  it('with a crit that nobody understands does not come in', async () => {
    const header = encoded({ alg: 'RS256', kid: 'one', crit: ['urn:x'], 'urn:x': true });
    const [, payload = ''] = (await issuer.token()).split('.');
    expect(await verdictOf(create().jwt, bearing(`${header}.${payload}.AAAA`))).toEqual(INVALID);
  });

  it('without signature does not come in, however none is spelt', async () => {
    const payload = encoded({ sub: 'anna', exp: inSeconds(300) });
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      for (const signature of ['', 'AA']) {
        const token = `${encoded({ alg, kid: 'one' })}.${payload}.${signature}`;
        expect(await verdictOf(create().jwt, bearing(token))).toEqual(INVALID);
      }
    }
  });

  it('signed by HMAC with the public key as its secret does not come in', async () => {
    const { publicKey } = issuer;
    const secrets = [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      Buffer.from(JSON.stringify(issuer.jwk)),
    ];
    const signed = `${encoded({ alg: 'HS256', kid: 'one' })}.${encoded({ sub: 'root', exp: inSeconds(300) })}`;
    for (const algorithms of [PUBLIC_KEY_ALGORITHMS, ['HS256', 'RS256']]) {
      const { jwt } = create({ algorithms, keySet: JSON.stringify({ keys: [issuer.jwk, { ...OCT, kid: 'secret' }] }) });
      for (const key of secrets) {
        const signature = createHmac('sha256', key).update(signed).digest('base64url');
        expect(await verdictOf(jwt, bearing(`${signed}.${signature}`))).toEqual(INVALID);
      }
    }
  });

  it('signed with another key, or changed afterwards, does not come in', async () => {
    const { jwt } = create();
    const forged = await createJwtIssuer('RS256', 'one').token();
    expect(await verdictOf(jwt, bearing(forged))).toEqual(INVALID);
    const [header, , signature] = (await issuer.token()).split('.');
    const changed = `${header}.${encoded({ sub: 'root', exp: inSeconds(300) })}.${signature}`;
    expect(await verdictOf(jwt, bearing(changed))).toEqual(INVALID);
  });

  it('with another algorithm than the route names does not come in', async () => {
    expect(
      await verdictOf(create({ algorithms: ['ES256', 'PS256'] }).jwt, bearing(await issuer.token())),
    ).toMatchObject({
      kind: 'refuse',
    });
  });

  it('that carries its own key is not verified with it', async () => {
    const evil = createJwtIssuer('RS256', 'evil');
    for (const header of [{ jwk: evil.jwk }, { jku: 'http://127.0.0.1:1/keys' }, { x5u: 'http://127.0.0.1:1/' }]) {
      expect(await verdictOf(create().jwt, bearing(await evil.token({ header })))).toEqual(INVALID);
      const asOne = await evil.token({ header: { ...header, kid: 'one' } });
      expect(await verdictOf(create().jwt, bearing(asOne))).toEqual(INVALID);
    }
  });

  it('that is too long, or no token at all, is refused at once', async () => {
    const { jwt } = create();
    const huge = await issuer.token({ claims: { sub: 'anna', pad: 'x'.repeat(20_000) } });
    for (const field of [
      `Bearer ${huge}`,
      'Bearer x',
      'Bearer a.b.c',
      'Basic YTpi',
      '',
      'Bearer ..',
      'Bearer e30.e30.e30',
    ]) {
      expect(verdictAtOnce(jwt, { headers: { authorization: field } })).toEqual(INVALID);
    }
    expect(verdictAtOnce(jwt)).toEqual(MISSING);
  });

  it('without keys is neither good nor bad', async () => {
    const { jwt } = create({ keySet: '{"keys":[]}' });
    expect(await verdictOf(jwt, bearing(await issuer.token()))).toMatchObject({ situation: 'auth_unavailable' });
  });
});

describe('a token that was good', () => {
  it('is remembered until it expires', async () => {
    const { jwt, shift } = create();
    const token = await issuer.token({ expiresIn: 100 });
    const verdict = await verdictOf(jwt, bearing(token));
    expect(verdictAtOnce(jwt, bearing(token))).toBe(verdict);
    shift(99_000);
    expect(verdictAtOnce(jwt, bearing(token))).toBe(verdict);
    shift(32_000);
    expect(await verdictOf(jwt, bearing(token))).toEqual(INVALID);
  });

  it('is remembered for five minutes at most', async () => {
    const { jwt, shift } = create();
    const token = await issuer.token({ expiresIn: 3600 });
    await verdictOf(jwt, bearing(token));
    shift(5 * 60_000 + 1000);
    expect(() => verdictAtOnce(jwt, bearing(token))).toThrow('takes its time');
    expect(await verdictOf(jwt, bearing(token))).toEqual(PASS);
  });

  it('is verified once for all who come with it at the same time', async () => {
    const { jwt } = create();
    const token = await issuer.token();
    const verdicts = await Promise.all(Array.from({ length: 100 }, () => verdictOf(jwt, bearing(token))));
    expect(new Set(verdicts).size).toBe(1);
    expect(verdicts[0]).toEqual(PASS);
  });
});

describe('more distinct tokens than can be verified at a time', () => {
  it('are told that it cannot be found out', async () => {
    const { jwt } = create();
    const [header, payload] = (await issuer.token()).split('.');
    const verdicts = await Promise.all(
      Array.from({ length: 2000 }, (_, at) =>
        verdictOf(jwt, bearing(`${header}.${payload}.${base64url.encode(`${at}`)}`)),
      ),
    );
    const bad = verdicts.filter((verdict) => verdict.kind === 'refuse' && verdict.situation === 'unauthorized');
    expect(bad).toHaveLength(500);
    expect(await verdictOf(jwt, bearing(await issuer.token()))).toEqual(PASS);
  });
});
