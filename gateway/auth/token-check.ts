// Whether a token is good: signature, issuer, audience, times.
import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { JwtRules } from '../access/access-rules.ts';
import { fittingKeys, type VerificationKey } from '../access/key-set.ts';

export type TokenVerdict =
  | { readonly kind: 'good'; readonly claims: JWTPayload; readonly expiresMs: number }
  | { readonly kind: 'bad' }
  /** The token is verified with a key that is not among these. */
  | { readonly kind: 'unknown key' };

/** The header of a token, as far as it says which keys it may be verified with. */
export interface TokenHeader {
  readonly alg: string;
  readonly kid: string | undefined;
}

/** Clocks differ by so much. */
const TOLERANCE_SECONDS = 30;

const BAD: TokenVerdict = { kind: 'bad' };

/** The header of a token whose algorithm is one of `algorithms`; undefined for any other. */
export function tokenHeader(token: string, algorithms: readonly string[]): TokenHeader | undefined {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    if (alg === undefined || !algorithms.includes(alg)) return undefined;
    return kid === undefined || typeof kid === 'string' ? { alg, kid } : undefined;
  } catch {
    return undefined;
  }
}

export interface TokenCheck {
  readonly token: string;
  readonly header: TokenHeader;
  readonly keys: readonly VerificationKey[];
  readonly wallMs: number;
}

/** Checks a token with the keys that fit it. A token that never expires is not good. */
export async function checkToken(check: TokenCheck, rules: JwtRules): Promise<TokenVerdict> {
  const { token, header, keys, wallMs } = check;
  const fitting = fittingKeys(keys, header);
  if (fitting.length === 0) return { kind: 'unknown key' };
  const options: JWTVerifyOptions = {
    algorithms: [...rules.algorithms],
    ...(rules.issuer !== null && { issuer: rules.issuer }),
    ...(rules.audience !== null && { audience: rules.audience }),
    clockTolerance: TOLERANCE_SECONDS,
    requiredClaims: ['exp'],
    currentDate: new Date(wallMs),
  };
  for (const { key } of fitting) {
    try {
      const { payload } = await jwtVerify(token, key, options);
      return { kind: 'good', claims: payload, expiresMs: Number(payload.exp) * 1000 };
    } catch (error) {
      // Another key without a name may be the one.
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) return BAD;
    }
  }
  return BAD;
}
