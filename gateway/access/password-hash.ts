// Hashes of passwords as a users file has them: bcrypt, and scrypt in the PHC format.

export type PasswordHash =
  | { readonly kind: 'bcrypt'; readonly text: string }
  | {
      readonly kind: 'scrypt';
      /** N, r and p of RFC 7914. */
      readonly cost: number;
      readonly blockSize: number;
      readonly parallelization: number;
      readonly salt: Uint8Array;
      readonly key: Uint8Array;
    };

/** A hash, or why it is none that is taken. */
export type ReadHash =
  | { readonly ok: true; readonly hash: PasswordHash }
  | { readonly ok: false; readonly message: string };

const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** A check takes a thread for its whole time: some seconds at the most. */
const MAX_BCRYPT_COST = 14;
const MAX_SCRYPT_BYTES = 256 * 1024 * 1024;
const MAX_SCRYPT_WORK = 2 ** 22;

const OTHERS: readonly (readonly [start: string, message: string])[] = [
  ['$apr1$', 'an MD5 hash (apr1), which is too weak'],
  ['$1$', 'an MD5 hash, which is too weak'],
  ['{SHA}', 'a SHA-1 hash, which is too weak'],
  ['{SSHA}', 'a SHA-1 hash, which is too weak'],
  ['$5$', 'a SHA-256 crypt hash, which is not supported'],
  ['$6$', 'a SHA-512 crypt hash, which is not supported'],
  ['$y$', 'a yescrypt hash, which is not supported'],
  ['$argon2', 'an Argon2 hash, which is not supported'],
];

/** Reads a hash; the message never holds a part of it. */
export function readPasswordHash(text: string): ReadHash {
  if (text.startsWith('$2')) return readBcrypt(text);
  if (text.startsWith('$scrypt$')) return readScrypt(text);
  const [, message = 'not a hash of a password'] = OTHERS.find(([start]) => text.startsWith(start)) ?? [];
  return { ok: false, message };
}

function readBcrypt(text: string): ReadHash {
  const [, digits] = BCRYPT.exec(text) ?? [];
  const cost = Number(digits ?? 0);
  if (cost < 4) return { ok: false, message: 'not a whole bcrypt hash' };
  if (cost > MAX_BCRYPT_COST) return { ok: false, message: `a bcrypt cost above ${MAX_BCRYPT_COST}` };
  return { ok: true, hash: { kind: 'bcrypt', text } };
}

function readScrypt(text: string): ReadHash {
  const [, ln = '', r = '', p = '', salt = '', key = ''] = SCRYPT.exec(text) ?? [];
  const [cost, blockSize, parallelization] = [2 ** Number(ln), Number(r), Number(p)];
  const [saltOctets, keyOctets] = [octetsOf(salt), octetsOf(key)];
  const isWhole = saltOctets.length >= 8 && keyOctets.length >= 16 && keyOctets.length <= 64;
  if (!isWhole || cost < 2 || blockSize < 1 || parallelization < 1) {
    return { ok: false, message: 'not a whole scrypt hash' };
  }
  const isTooMuch = 128 * cost * blockSize > MAX_SCRYPT_BYTES || cost * blockSize * parallelization > MAX_SCRYPT_WORK;
  if (isTooMuch) return { ok: false, message: 'scrypt parameters that take more than 256 MiB or too long' };
  return { ok: true, hash: { kind: 'scrypt', cost, blockSize, parallelization, salt: saltOctets, key: keyOctets } };
}

function octetsOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}
