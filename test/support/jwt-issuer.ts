// An issuer of tokens with a key of its own, and the key set that it publishes.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';

export interface TokenWishes {
  readonly claims?: JWTPayload;
  /** Seconds from now; null = none. */
  readonly expiresIn?: number | null;
  readonly notBeforeIn?: number;
  readonly header?: Readonly<Record<string, unknown>>;
}

export interface JwtIssuer {
  readonly publicKey: KeyObject;
  /** Its public key, as it stands in a key set. */
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly keySet: string;
  token(wishes?: TokenWishes): Promise<string>;
}

const KINDS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS384: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

export function createJwtIssuer(alg: keyof typeof KINDS, kid: string): JwtIssuer {
  const { publicKey, privateKey } = KINDS[alg]();
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid };
  return {
    publicKey,
    jwk,
    keySet: JSON.stringify({ keys: [jwk] }),
    token: ({ claims = { sub: 'anna' }, expiresIn = 300, notBeforeIn, header = {} } = {}) => {
      const token = new SignJWT(claims).setProtectedHeader({ alg, kid, ...header });
      const nowSeconds = Math.floor(Date.now() / 1000);
      if (expiresIn !== null) token.setExpirationTime(nowSeconds + expiresIn);
      if (notBeforeIn !== undefined) token.setNotBefore(nowSeconds + notBeforeIn);
      return token.sign(privateKey);
    },
  };
}
