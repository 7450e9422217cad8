// User names and passwords against real hashes, in the real password thread.
import { scryptSync } from 'node:crypto';
import { hashSync } from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BasicRules } from '../../../gateway/access/access-rules.ts';
import type { Verdict } from '../../../gateway/access/gatekeeper.ts';
import { BasicAuthenticator } from '../../../gateway/auth/basic-authenticator.ts';
import { PasswordThread } from '../../../gateway/auth/password-thread.ts';
import { basicField, requestFacts, verdictAtOnce, verdictOf } from '../../support/request-facts.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const REFUSED = {
  kind: 'refuse',
  situation: 'unauthorized',
  lines: 'WWW-Authenticate: Basic realm="shop", charset="UTF-8"\r\n',
};

function scryptHash(password: string): string {
  const salt = Buffer.from('0123456789abcdef');
  const key = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 });
  const base64 = (octets: Buffer) => octets.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=10,r=8,p=1$${base64(salt)}$${base64(key)}`;
}

const USERS = [
  `anna:${hashSync('opensesame', 4)}`,
  `bob:${hashSync('b:o:b', 4).replace('$2b$', '$2y$')}`,
  `carl:${scryptHash('grüße')}`,
  `Zoë:${scryptHash('x')}`,
  // The example of the passlib documentation.
  'dora:$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
].join('\n');

let passwords: PasswordThread;
beforeAll(() => {
  passwords = new PasswordThread();
});
afterAll(() => passwords.stop());

function create(changes: Partial<BasicRules> = {}) {
  const clock = createScriptedClock();
  const users = { file: 'users', content: new Uint8Array(Buffer.from(USERS)) };
  const rules = { kind: 'basic' as const, users, realm: 'shop', userHeader: 'x-user', passCredentials: false };
  return { clock, basic: new BasicAuthenticator({ ...rules, ...changes }, { passwords, clock }) };
}

const asked = (name: string, password: string) => ({ headers: { authorization: basicField(name, password) } });

describe('a user', () => {
  it.each([
    ['anna', 'opensesame', 'anna'],
    ['bob', 'b:o:b', 'bob'],
    ['carl', 'grüße', 'carl'],
    ['carl', 'gru\u0308ße', 'carl'],
    ['Zoë', 'x', Buffer.from('Zoë').toString('latin1')],
    ['dora', 'password', 'dora'],
  ])('%s comes in with %s', async (name, password, told) => {
    const { basic } = create();
    expect(await verdictOf(basic, asked(name, password))).toEqual({
      kind: 'pass',
      lines: `x-user: ${told}\r\n`,
      user: name.normalize('NFC'),
    });
  });

  it.each([
    ['anna', 'wrong'],
    ['anna', ''],
    ['anna', 'opensesame '],
    ['carl', 'wrong'],
    ['nobody', 'opensesame'],
    ['', ''],
    ['ANNA', 'opensesame'],
    ['__proto__', 'x'],
  ])('%j does not come in with %j', async (name, password) => {
    expect(await verdictOf(create().basic, asked(name, password))).toEqual(REFUSED);
  });

  it.each([undefined, '', 'Basic', 'Basic !!', 'Bearer a.b.c', `Basic ${'YTpi'.repeat(2000)}`])(
    'who sends %s is asked for credentials at once',
    (field) => {
      const headers = field === undefined ? {} : { authorization: field };
      expect(verdictAtOnce(create().basic, { headers })).toEqual(REFUSED);
    },
  );

  it('that there is not takes its time as one that there is', async () => {
    const { basic } = create();
    for (const name of ['anna', 'nobody']) {
      const verdict = new Promise((resolve) => {
        expect(basic.check(requestFacts(asked(name, 'wrong')), resolve)).not.toBeNull();
      });
      expect(await verdict).toEqual(REFUSED);
    }
  });

  it('is remembered for some minutes, and no longer', async () => {
    const { basic, clock } = create();
    const verdict = await verdictOf(basic, asked('anna', 'opensesame'));
    expect(verdictAtOnce(basic, asked('anna', 'opensesame'))).toBe(verdict);
    clock.advance(5 * 60_000 + 1);
    expect(() => verdictAtOnce(basic, asked('anna', 'opensesame'))).toThrow('takes its time');
    expect(await verdictOf(basic, asked('anna', 'opensesame'))).toEqual(verdict);
  });

  it('is not remembered for a wrong password, nor with another one', async () => {
    const { basic } = create();
    await verdictOf(basic, asked('anna', 'opensesame'));
    for (let round = 0; round < 2; round++) {
      expect(() => verdictAtOnce(basic, asked('anna', 'wrong'))).toThrow('takes its time');
      expect(await verdictOf(basic, asked('anna', 'wrong'))).toEqual(REFUSED);
    }
  });

  it('keeps the credentials to the gateway, unless the route passes them on', () => {
    expect([...create().basic.ownFields].sort()).toEqual(['authorization', 'x-user', 'x_user']);
    expect([...create({ passCredentials: true, userHeader: 'remote' }).basic.ownFields]).toEqual(['remote']);
  });

  it('of a file that is not valid does not come in', () => {
    const users = { file: 'users', content: new Uint8Array(Buffer.from('anna:plain')) };
    expect(verdictAtOnce(create({ users }).basic, asked('anna', 'plain'))).toEqual(REFUSED);
  });
});

describe('many at the same time', () => {
  it('wait in a bounded queue, and the rest are told at once that it cannot be found out', async () => {
    const { basic } = create();
    const verdicts: Promise<Verdict>[] = [];
    let atOnce = 0;
    for (let at = 0; at < 2000; at++) {
      const facts = requestFacts({ client: `192.0.2.${at % 250}`, ...asked('anna', `wrong ${at}`) });
      verdicts.push(
        new Promise((resolve) => {
          if (basic.check(facts, resolve) === null) atOnce++;
        }),
      );
      expect(passwords.waiting).toBeLessThanOrEqual(32);
    }
    // One is with the thread.
    expect(atOnce).toBe(2000 - 33);
    const situations = (await Promise.all(verdicts)).map((verdict) => verdict.kind === 'refuse' && verdict.situation);
    expect(situations.filter((situation) => situation === 'auth_unavailable')).toHaveLength(2000 - 33);
    expect(situations.filter((situation) => situation === 'unauthorized')).toHaveLength(33);
  });

  it('from one client leave places for others', async () => {
    const { basic } = create();
    const flood = Array.from({ length: 50 }, (_, at) => verdictOf(basic, asked('anna', `wrong ${at}`)));
    const other = verdictOf(basic, { client: '198.51.100.1', ...asked('anna', 'opensesame') });
    expect(await other).toMatchObject({ kind: 'pass' });
    const verdicts = await Promise.all(flood);
    expect(
      verdicts.filter((verdict) => verdict.kind === 'refuse' && verdict.situation === 'unauthorized'),
    ).toHaveLength(8);
  });

  it('from one network of IPv6 (/64) are one client', async () => {
    const { basic } = create();
    const networks = ['2001:db8:0:1', '2001:db8:0:2'];
    const verdicts = networks.map((network) => {
      const asks = Array.from({ length: 16 }, (_, at) => {
        const client = at % 2 === 0 ? `${network}::${at}` : `${network}:a:b:c:${at}`;
        return verdictOf(basic, { client, ...asked('anna', `wrong ${network} ${at}`) });
      });
      return Promise.all(asks);
    });
    for (const each of await Promise.all(verdicts)) {
      const checked = each.filter((verdict) => verdict.kind === 'refuse' && verdict.situation === 'unauthorized');
      expect(checked).toHaveLength(8);
    }
  });

  it('with the same credentials are one check', async () => {
    const { basic } = create();
    const verdicts = Array.from({ length: 500 }, () => verdictOf(basic, asked('anna', 'wrong')));
    expect(passwords.waiting).toBe(0);
    expect(new Set(await Promise.all(verdicts)).size).toBe(1);
  });

  it('leave the queue when their clients leave', async () => {
    const { basic } = create();
    const heard: Verdict[] = [];
    const checks = Array.from({ length: 8 }, (_, at) =>
      basic.check(requestFacts(asked('dora', `wrong ${at}`)), (verdict) => heard.push(verdict)),
    );
    expect(passwords.waiting).toBe(7);
    for (const check of checks) check?.cancel();
    expect(passwords.waiting).toBe(0);
    expect(await verdictOf(basic, asked('anna', 'wrong'))).toEqual(REFUSED);
    expect(heard).toEqual([]);
  });

  it('are told that it cannot be found out when the thread ends, and it starts again', async () => {
    const own = new PasswordThread();
    const users = { file: 'users', content: new Uint8Array(Buffer.from(USERS)) };
    const rules = { kind: 'basic' as const, users, realm: 'shop', userHeader: 'x-user', passCredentials: false };
    const basic = new BasicAuthenticator(rules, { passwords: own, clock: createScriptedClock() });
    const verdicts = Array.from({ length: 4 }, (_, at) => verdictOf(basic, asked('dora', `wrong ${at}`)));
    await own.stop();
    for (const verdict of await Promise.all(verdicts)) expect(verdict).toMatchObject({ situation: 'auth_unavailable' });
    expect(await verdictOf(basic, asked('anna', 'opensesame'))).toMatchObject({ kind: 'pass' });
    await own.stop();
  });
});
