// The users and key files of routes: read with their route, checked, and a part of what a reload compares.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig, loadFiles } from '../../../gateway/config/load.ts';
import { formatProblem } from '../../../gateway/config/problem.ts';
import { type InForce, isSame, planReload, routesOf } from '../../../gateway/config/reload.ts';
import { routeFilesOf } from '../../../gateway/config/route-files.ts';
import { createJwtIssuer } from '../../support/jwt-issuer.ts';

const HASH = '$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC';
const BASIC = 'service: a\nauth: { basic: { users: ../auth/users } }';
const JWT = 'service: a\nauth: { jwt: { jwks: ../auth/keys.json } }';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'weir-access-'));
});
afterEach(() => rm(home, { recursive: true }));

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries({ 'config/gateway.yaml': '', ...files })) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), content);
  }
}

const options = () => ({ gatewayFile: join(home, 'config/gateway.yaml'), environment: {} });

async function problems(): Promise<string[]> {
  const result = await loadConfig(options());
  return result.ok ? [] : result.problems.map((problem) => formatProblem(problem).replaceAll(home, '~'));
}

async function start(): Promise<InForce> {
  const result = await loadConfig(options());
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const { gateway, folder, loaded } = result;
  return { gateway, folder, routes: new Map(loaded.map((route) => [route.document.file, route])) };
}

describe('a route', () => {
  it('has the content of its users file, as data that can be given to workers', async () => {
    await write({ 'routes/a.yaml': BASIC, 'auth/users': `anna:${HASH}\n` });
    const [route] = routesOf(await start());
    if (route?.auth?.kind !== 'basic') throw new Error('no users');
    expect(Buffer.from(route.auth.users.content).toString()).toBe(`anna:${HASH}\n`);
    expect(structuredClone(route)).toEqual(route);
    expect(routeFilesOf(route)).toEqual([join(home, 'auth/users')]);
  });

  it('has the content of its key file, and names none where its keys are fetched', async () => {
    const { keySet } = createJwtIssuer('ES256', 'one');
    await write({
      'routes/a.yaml': JWT,
      'auth/keys.json': keySet,
      'routes/b.yaml': 'service: b\nauth: { jwt: { jwks: "http://127.0.0.1:1/keys" } }',
      'routes/c.yaml': 'service: c',
    });
    const routes = routesOf(await start());
    expect(routes.map(routeFilesOf)).toEqual([[join(home, 'auth/keys.json')], [], []]);
  });

  it('is refused with every line of its users that is wrong, in the words of no line', async () => {
    await write({ 'routes/a.yaml': BASIC, 'auth/users': `anna:${HASH}\n\nbob:secret\ncarl:$apr1$secret$x\n` });
    const lines = await problems();
    const expected = 'expected bcrypt (as htpasswd -B writes it) or $scrypt$ln=…,r=…,p=…$salt$hash';
    expect(lines).toEqual([
      `~/auth/users:3:1: not a hash of a password, ${expected}`,
      `~/auth/users:4:1: an MD5 hash (apr1), which is too weak, ${expected}`,
    ]);
    expect(lines.join()).not.toContain('secret');
  });

  it.each([
    ['users that are missing', { 'routes/a.yaml': BASIC }, 'auth.basic.users: the file cannot be read (ENOENT)'],
    ['keys that are missing', { 'routes/a.yaml': JWT }, 'auth.jwt.jwks: the file cannot be read (ENOENT)'],
    ['no users', { 'routes/a.yaml': BASIC, 'auth/users': '#\n' }, 'no users in this file'],
    ['no key set', { 'routes/a.yaml': JWT, 'auth/keys.json': '{}' }, 'auth.jwt.jwks: not a JSON Web Key Set'],
    [
      'no key of use',
      { 'routes/a.yaml': JWT, 'auth/keys.json': '{"keys":[]}' },
      'auth.jwt.jwks: no key that can be used with these algorithms',
    ],
    [
      'users that are a folder',
      { 'routes/a.yaml': BASIC, 'auth/users/x': '' },
      'auth.basic.users: the file cannot be read (EISDIR)',
    ],
  ])('is refused with %s', async (_what, files, problem) => {
    await write(files);
    expect(await problems()).toEqual([expect.stringContaining(problem)]);
  });

  it('changes with its users, and keeps the last good ones when they are broken', async () => {
    await write({ 'routes/a.yaml': BASIC, 'auth/users': `anna:${HASH}\n` });
    const before = await start();
    const [file = ''] = before.routes.keys();
    const reload = async () => planReload(before, await loadFiles({ ...options(), lastGood: before }), () => []);
    expect(isSame((await reload()).routes.get(file), before.routes.get(file))).toBe(true);

    await write({ 'auth/users': `bob:${HASH}\n` });
    expect(isSame((await reload()).routes.get(file), before.routes.get(file))).toBe(false);

    await write({ 'auth/users': 'bob:plain\n' });
    const broken = await reload();
    expect(isSame(broken.routes.get(file), before.routes.get(file))).toBe(true);
    expect(broken.quarantined).toMatchObject([{ file, hasLastGood: true }]);
  });
});
