// A JSON Web Key Set (RFC 7517) as keys that can verify, and which of them a token may be verified with.
import { createPublicKey, createSecretKey, type KeyObject, type webcrypto } from 'node:crypto';

export interface VerificationKey {
  /** The key's name; null when it has none. */
  readonly kid: string | null;
  /** The algorithms (RFC 7518) that it may be used with. */
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
}

/** The keys for at least one of the algorithms; or why there is none. */
export type ReadKeySet =
  | { readonly ok: true; readonly keys: readonly VerificationKey[] }
  | { readonly ok: false; readonly message: string };

export interface KeySetRules {
  readonly algorithms: readonly string[];
  /** A file is the operator's own: private keys in it are a mistake, and keys for HMAC may be used. */
  readonly isFile: boolean;
}

/** Algorithms whose keys are public: the default. */
export const PUBLIC_KEY_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

/** Algorithms whose key signs as well as it verifies. */
export const SECRET_KEY_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;

const CURVES: Readonly<Record<string, readonly string[]>> = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
  Ed25519: ['EdDSA', 'Ed25519'],
};
const RSA: readonly string[] = PUBLIC_KEY_ALGORITHMS.slice(0, 6);
const MIN_RSA_BITS = 2048;

type Jwk = webcrypto.JsonWebKey & { readonly kid?: unknown };

/** So many keys are tried for a token that does not name its key. */
const MOST_TRIED = 4;

/** Reads a key set. Keys for other purposes, of other kinds or too short are passed over. */
export function readKeySet(text: string, rules: KeySetRules): ReadKeySet {
  const listed = keysIn(text);
  if (listed === undefined) return { ok: false, message: 'not a JSON Web Key Set' };
  if (rules.isFile && listed.some((jwk) => jwk.kty !== 'oct' && jwk.d !== undefined)) {
    return { ok: false, message: 'a private key, which only the issuer of the tokens may have' };
  }
  const keys = listed.flatMap((jwk) => {
    const algorithms = algorithmsOf(jwk).filter((name) => rules.algorithms.includes(name));
    const key = algorithms.length === 0 || (jwk.kty === 'oct' && !rules.isFile) ? undefined : keyOf(jwk);
    return key === undefined ? [] : [{ kid: textOf(jwk.kid), algorithms, key }];
  });
  if (keys.length > 0) return { ok: true, keys };
  return { ok: false, message: 'no key that can be used with these algorithms' };
}

/** The keys that a token with this header may be verified with; a token that names its key is verified with no other. */
export function fittingKeys(
  keys: readonly VerificationKey[],
  { alg, kid }: { readonly alg: string; readonly kid: string | undefined },
): readonly VerificationKey[] {
  const fitting = keys.filter((key) => key.algorithms.includes(alg) && (kid === undefined || key.kid === kid));
  return fitting.slice(0, MOST_TRIED);
}

function keysIn(text: string): Jwk[] | undefined {
  try {
    const set: unknown = JSON.parse(text);
    if (!isObject(set) || !Array.isArray(set.keys)) return undefined;
    return set.keys.every(isObject) ? set.keys : undefined;
  } catch {
    return undefined;
  }
}

/** What the key may be used with by its kind, its size and its own words. */
function algorithmsOf(jwk: Jwk): readonly string[] {
  if (jwk.use !== undefined && jwk.use !== 'sig') return [];
  if (Array.isArray(jwk.key_ops) && !jwk.key_ops.includes('verify')) return [];
  const possible = possibleAlgorithms(jwk);
  return jwk.alg === undefined ? possible : possible.filter((name) => name === jwk.alg);
}

function possibleAlgorithms(jwk: Jwk): readonly string[] {
  switch (jwk.kty) {
    case 'RSA':
      return RSA;
    case 'EC':
    case 'OKP':
      return typeof jwk.crv === 'string' && Object.hasOwn(CURVES, jwk.crv) ? (CURVES[jwk.crv] ?? []) : [];
    case 'oct': {
      const bits = typeof jwk.k === 'string' ? Buffer.from(jwk.k, 'base64url').length * 8 : 0;
      // RFC 7518 section 3.2: a key at least as long as the hash.
      return SECRET_KEY_ALGORITHMS.filter((name) => bits >= Number(name.slice(2)));
    }
    default:
      return [];
  }
}

function keyOf(jwk: Jwk): KeyObject | undefined {
  try {
    if (jwk.kty === 'oct') return createSecretKey(Buffer.from(String(jwk.k), 'base64url'));
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const bits = key.asymmetricKeyDetails?.modulusLength;
    return bits !== undefined && bits < MIN_RSA_BITS ? undefined : key;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
