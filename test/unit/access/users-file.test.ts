// Users files: which lines are users, and what is said of the others.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPasswordHash } from '../../../gateway/access/password-hash.ts';
import { readUsers } from '../../../gateway/access/users-file.ts';
import { hasControls } from '../../support/request-facts.ts';

const BCRYPT = '$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC';
// The example of the passlib documentation.
const SCRYPT = '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E';

const read = (text: string | Uint8Array) => readUsers(Buffer.from(text));
const names = (text: string) => {
  const users = read(text);
  return users.ok ? [...users.users.keys()] : users.faults;
};

describe('a users file', () => {
  it('has a user a line; empty lines and comments are passed over', () => {
    const text = `# people\n\nanna:${BCRYPT}\r\nbob:${SCRYPT}:a comment\nZo\u0065\u0308: ${BCRYPT} \n`;
    expect(names(text)).toEqual(['anna', 'bob', 'Zo\u00eb']);
  });

  it('tells every line that is wrong, and nothing of what stands in it', () => {
    const text = [
      'anna',
      `:${BCRYPT}`,
      `a\tb:${BCRYPT}`,
      ` bob:${BCRYPT}`,
      'carl:$apr1$ad8l3$dFVJ8IXsecret',
      'dora:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
      'emil:secret',
      `fred:${BCRYPT}`,
      `fred:${SCRYPT}`,
      'gina:',
    ].join('\n');
    const users = read(text);
    if (users.ok) throw new Error('it is taken');
    expect(users.faults.map(({ line, message }) => [line, message])).toEqual([
      [1, 'no colon'],
      [2, 'not a user name'],
      [3, 'not a user name'],
      [4, 'not a user name'],
      [5, 'an MD5 hash (apr1), which is too weak'],
      [6, 'a SHA-1 hash, which is too weak'],
      [7, 'not a hash of a password'],
      [9, 'the same user name as in a line above'],
      [10, 'not a hash of a password'],
    ]);
    expect(JSON.stringify(users)).not.toMatch(/secret|anna|W6ph/);
  });

  it.each([
    ['', 'no users in this file'],
    ['# nobody\n', 'no users in this file'],
    [new Uint8Array([0x61, 0x3a, 0xff]), 'not UTF-8 text'],
  ])('%j as a whole is %s', (text, message) => {
    expect(read(text)).toEqual({ ok: false, faults: [{ line: 0, message }] });
  });

  it('is read without a throw, whatever stands in it, and no name breaks a field line', () => {
    const line = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(BCRYPT, SCRYPT, ':', '\n', '#'));
    fc.assert(
      fc.property(fc.array(line), (parts) => {
        const users = read(parts.join(''));
        if (users.ok)
          for (const name of users.users.keys())
            expect([name, hasControls(name), name.includes(':')]).toEqual([name, false, false]);
      }),
    );
  });
});

describe('a hash', () => {
  it.each([
    ['$2a$04$', 4],
    ['$2b$10$', 10],
    ['$2y$14$', 14],
  ])('of bcrypt is taken: %s', (start) => {
    const text = start + BCRYPT.slice(7);
    expect(readPasswordHash(text)).toEqual({ ok: true, hash: { kind: 'bcrypt', text } });
  });

  it('of scrypt is taken with its parameters', () => {
    const hash = readPasswordHash(SCRYPT);
    expect(hash).toMatchObject({ ok: true, hash: { kind: 'scrypt', cost: 65_536, blockSize: 8, parallelization: 1 } });
  });

  it.each([
    [`$2y$15$${BCRYPT.slice(7)}`, 'a bcrypt cost above 14'],
    [`$2y$03$${BCRYPT.slice(7)}`, 'not a whole bcrypt hash'],
    [BCRYPT.slice(0, -1), 'not a whole bcrypt hash'],
    [`${BCRYPT}x`, 'not a whole bcrypt hash'],
    [`$2x$05$${BCRYPT.slice(7)}`, 'not a whole bcrypt hash'],
    ['$2', 'not a whole bcrypt hash'],
    ['$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$', 'not a whole scrypt hash'],
    ['$scrypt$ln=16,r=8,p=1$YWJj$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E', 'not a whole scrypt hash'],
    [SCRYPT.replace('ln=16', 'ln=0'), 'not a whole scrypt hash'],
    [SCRYPT.replace('r=8', 'r=0'), 'not a whole scrypt hash'],
    [SCRYPT.replace('ln=16', 'ln=21'), 'scrypt parameters that take more than 256 MiB or too long'],
    [SCRYPT.replace('ln=16', 'ln=99'), 'scrypt parameters that take more than 256 MiB or too long'],
    [SCRYPT.replace('p=1', 'p=999'), 'scrypt parameters that take more than 256 MiB or too long'],
    ['$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA', 'an Argon2 hash, which is not supported'],
    ['$6$salt$hash', 'a SHA-512 crypt hash, which is not supported'],
    ['$5$salt$hash', 'a SHA-256 crypt hash, which is not supported'],
    ['rl.3StKT.4T8M', 'not a hash of a password'],
  ])('%s is refused: %s', (text, message) => {
    expect(readPasswordHash(text)).toEqual({ ok: false, message });
  });
});
