// Key sets: which keys are of use, and which of them a token may be verified with.
import { generateKeyPairSync, type JsonWebKeyInput, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  fittingKeys,
  PUBLIC_KEY_ALGORITHMS,
  readKeySet,
  SECRET_KEY_ALGORITHMS,
} from '../../../gateway/access/key-set.ts';

const ALL = [...PUBLIC_KEY_ALGORITHMS, ...SECRET_KEY_ALGORITHMS];
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const short = generateKeyPairSync('rsa', { modulusLength: 1024 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');

type Jwk = JsonWebKeyInput['key'] & { kid?: string };
const publicJwk = (pair: { readonly publicKey: KeyObject }): Jwk => pair.publicKey.export({ format: 'jwk' });
const [RSA, SHORT, EC, ED] = [rsa, short, ec, ed].map(publicJwk);
const OCT = { kty: 'oct', k: Buffer.alloc(32, 7).toString('base64url') };

const read = (keys: unknown, { isFile = false, algorithms = ALL as readonly string[] } = {}) =>
  readKeySet(JSON.stringify({ keys }), { algorithms, isFile });

describe('a key', () => {
  it.each([
    ['RSA', RSA, ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']],
    ['P-256', EC, ['ES256']],
    ['Ed25519', ED, ['EdDSA', 'Ed25519']],
    ['RSA for one algorithm', { ...RSA, alg: 'PS256' }, ['PS256']],
    ['for signatures', { ...EC, use: 'sig', key_ops: ['verify'] }, ['ES256']],
  ])('of kind %s is used with what it can', (_kind, jwk, algorithms) => {
    const set = read([jwk]);
    if (!set.ok) throw new Error(set.message);
    expect(set.keys.map((key) => key.algorithms)).toEqual([algorithms]);
  });

  it.each([
    ['for encryption', { ...RSA, use: 'enc' }],
    ['that may only sign', { ...RSA, key_ops: ['sign'] }],
    ['that is too short', SHORT],
    ['for an algorithm of another kind', { ...RSA, alg: 'ES256' }],
    ['of an unknown kind', { kty: 'AKP', pub: 'aa' }],
    ['of an unknown curve', { ...EC, crv: 'secp256k1' }],
    ['with a curve that every object has', { ...EC, crv: 'constructor' }],
    ['that is broken', { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }],
    ['that is secret but was fetched', OCT],
    ['that is nothing', {}],
  ])('%s is passed over', (_what, jwk) => {
    expect(read([jwk])).toEqual({ ok: false, message: 'no key that can be used with these algorithms' });
    expect(read([jwk, EC])).toMatchObject({ ok: true, keys: [{ algorithms: ['ES256'] }] });
  });

  it('that is secret is used from a file, with the hashes that it is long enough for', () => {
    expect(read([OCT], { isFile: true })).toMatchObject({ ok: true, keys: [{ algorithms: ['HS256'] }] });
    expect(read([OCT], { isFile: true, algorithms: PUBLIC_KEY_ALGORITHMS }).ok).toBe(false);
    expect(read([{ kty: 'oct', k: 'c2hvcnQ' }], { isFile: true }).ok).toBe(false);
  });

  it('that is private has no place in a file', () => {
    const jwk = rsa.privateKey.export({ format: 'jwk' });
    expect(read([EC, jwk], { isFile: true })).toEqual({
      ok: false,
      message: 'a private key, which only the issuer of the tokens may have',
    });
    expect(read([EC, jwk])).toMatchObject({ ok: true });
  });

  it.each(['', '[]', '{}', '{"keys":{}}', '{"keys":[1]}', '{"keys":[null]}', 'null', '{"keys":'])(
    '%j is no key set',
    (text) => {
      expect(readKeySet(text, { algorithms: ALL, isFile: false })).toEqual({
        ok: false,
        message: 'not a JSON Web Key Set',
      });
    },
  );
});

describe('the keys for a token', () => {
  const set = read([
    { ...RSA, kid: 'one' },
    { ...RSA, kid: 'two' },
    { ...EC, kid: 'one' },
    ...Array.from({ length: 6 }, () => ED),
  ]);
  const fitting = (alg: string, kid?: string) =>
    fittingKeys(set.ok ? set.keys : [], { alg, kid }).map((key) => `${key.kid} ${key.key.asymmetricKeyType}`);

  it.each([
    ['RS256', 'one', ['one rsa']],
    ['ES256', 'one', ['one ec']],
    ['ES256', 'two', []],
    ['RS256', 'three', []],
    ['RS256', undefined, ['one rsa', 'two rsa']],
    ['EdDSA', 'one', []],
    ['EdDSA', undefined, Array(4).fill('null ed25519')],
    ['HS256', 'one', []],
    ['none', undefined, []],
  ])('with %s and kid %s are %j', (alg, kid, keys) => {
    expect(fitting(alg, kid)).toEqual(keys);
  });
});
