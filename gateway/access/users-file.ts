// A users file: one `name:hash` a line, as htpasswd writes it.
import { identityText } from './identity-text.ts';
import { type PasswordHash, readPasswordHash } from './password-hash.ts';

export type Users = ReadonlyMap<string, PasswordHash>;

/** What is wrong with a line, from 1; 0 is the file as a whole. No message holds a part of the file. */
export interface UsersFault {
  readonly line: number;
  readonly message: string;
  readonly expected?: string;
}

/** All users; or every line that is not one. Empty lines and those that begin with # are passed over. */
export type ReadUsers =
  | { readonly ok: true; readonly users: Users }
  | { readonly ok: false; readonly faults: readonly UsersFault[] };

const EXPECTED_HASH = 'bcrypt (as htpasswd -B writes it) or $scrypt$ln=…,r=…,p=…$salt$hash';

/** Reads the content of a users file (UTF-8); what follows a second colon of a line is a comment. */
export function readUsers(content: Uint8Array): ReadUsers {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return { ok: false, faults: [{ line: 0, message: 'not UTF-8 text' }] };
  }
  const users = new Map<string, PasswordHash>();
  const faults: UsersFault[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const fault = addUser(users, line);
    if (fault !== undefined) faults.push({ line: at + 1, ...fault });
  }
  if (users.size === 0 && faults.length === 0) faults.push({ line: 0, message: 'no users in this file' });
  return faults.length > 0 ? { ok: false, faults } : { ok: true, users };
}

function addUser(users: Map<string, PasswordHash>, line: string): Omit<UsersFault, 'line'> | undefined {
  const [written = '', hash] = line.split(':');
  const name = written.normalize('NFC');
  if (hash === undefined) return { message: 'no colon', expected: 'name:hash' };
  if (name === '' || identityText(name) === undefined) {
    return { message: 'not a user name', expected: 'text without control characters and outer spaces' };
  }
  if (users.has(name)) return { message: 'the same user name as in a line above' };
  const read = readPasswordHash(hash.trim());
  if (!read.ok) return { message: read.message, expected: EXPECTED_HASH };
  users.set(name, read.hash);
  return undefined;
}
