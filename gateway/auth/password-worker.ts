// The script of the password thread: a hash and a password come in, whether they go together goes out.
import { scryptSync, timingSafeEqual } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { PasswordHash } from '../access/password-hash.ts';

parentPort?.on('message', ({ hash, password }: { hash: PasswordHash; password: string }) => {
  parentPort?.postMessage(isRight(hash, password));
});

function isRight(hash: PasswordHash, password: string): boolean {
  if (hash.kind === 'bcrypt') return compareSync(password, hash.text);
  const { cost, blockSize, parallelization, salt, key } = hash;
  // OpenSSL wants somewhat more than the 128 · N · r octets of the algorithm.
  const maxmem = 128 * cost * blockSize + 128 * blockSize * parallelization + 1024 * 1024;
  const options = { N: cost, r: blockSize, p: parallelization, maxmem };
  return timingSafeEqual(scryptSync(password, salt, key.length, options), key);
}
