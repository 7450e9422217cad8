// Configuration from real folders: which files are read, and what only shows when all are looked at.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LoadOptions, loadConfig } from '../../../gateway/config/load.ts';
import { formatProblem } from '../../../gateway/config/problem.ts';

let home = '';

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'weir-config-'));
});

afterEach(async () => {
  await rm(home, { recursive: true });
});

describe('loadConfig', () => {
  it('gives the gateway and its routes, with an absolute folder and the default source', async () => {
    await write({
      'config/gateway.yaml': 'discovery: { source: registry }',
      'routes/b.yml': 'service: b\nsource: consul',
      'routes/a.yaml': 'service: a',
      'routes/c.yaml': 'service: c\nendpoints: [c:1]',
    });
    const result = await load();
    if (!result.ok) throw new Error('not valid');
    expect(result.gateway.routes).toBe(join(home, 'routes'));
    expect(result.routes.map(({ name, file, source }) => [name, file, source])).toEqual([
      ['a', join(home, 'routes/a.yaml'), 'registry'],
      ['b', join(home, 'routes/b.yml'), 'consul'],
      ['c', join(home, 'routes/c.yaml'), 'static'],
    ]);
    // This is what workers get.
    const { gateway, routes } = result;
    expect(structuredClone({ gateway, routes })).toEqual({ gateway, routes });
  });

  it('reads only visible *.yaml and *.yml files, links among them, directly in the folder', async () => {
    await write({
      'config/gateway.yaml': '',
      'elsewhere/real': 'service: linked',
      'routes/README.md': 'not YAML: [',
      'routes/.hidden.yaml': '[',
      'routes/a.yaml.bak': '[',
      'routes/deeper/b.yaml': '[',
      'routes/folder.yaml/c.yaml': '[',
    });
    await symlink(join(home, 'elsewhere/real'), join(home, 'routes/linked.yaml'));
    expect(await load()).toMatchObject({ ok: true, routes: [{ name: 'linked' }] });
  });

  it('takes another folder of routes instead', async () => {
    await write({ 'config/gateway.yaml': 'routes: nowhere', 'other/a.yaml': 'service: a' });
    const result = await load({ routesFolder: join(home, 'other') });
    expect(result).toMatchObject({ ok: true, gateway: { routes: join(home, 'other') }, routes: [{ name: 'a' }] });
  });

  it('finds a folder that the gateway file names absolutely or by a variable', async () => {
    await write({ 'config/gateway.yaml': `routes: \${ROUTES}`, 'other/a.yaml': 'service: a' });
    expect(await load({ environment: { ROUTES: join(home, 'other') } })).toMatchObject({ routes: [{ name: 'a' }] });
    expect(await load({ environment: { ROUTES: '../other' } })).toMatchObject({ routes: [{ name: 'a' }] });
  });

  it('is content with a folder without routes', async () => {
    await write({ 'config/gateway.yaml': '', 'routes/README.md': '' });
    expect(await load()).toMatchObject({ ok: true, routes: [] });
  });
});

describe('problems', () => {
  it('of all files come at once, in the order of files and lines; broken YAML hides nothing elsewhere', async () => {
    await write({
      'config/gateway.yaml': 'workers: 0\nlimts: {}',
      'routes/a.yaml': 'service: a\nretry: { attempts: 0 }\nbody: 5',
      'routes/b.yaml': 'service: [',
      'routes/c.yaml': 'service: a\nretrys: {}',
    });
    expect(await problems()).toEqual([
      'config/gateway.yaml:1:10 workers: out of range, expected a whole number from 1 to 1024',
      'config/gateway.yaml:2:1 limts: unknown key, did you mean "limits"?',
      'routes/a.yaml:2:20 retry.attempts: out of range, expected a whole number from 1 to 10',
      'routes/a.yaml:3:7 body: wrong type (a number), expected a size like 64KiB or 10MiB, or off',
      'routes/b.yaml:1:11: not YAML: flow sequence in block collection must be sufficiently indented and end with a ]',
      'routes/c.yaml:2:1 retrys: unknown key, did you mean "retry"?',
    ]);
  });

  it('of a missing gateway file come with those of the routes beside it', async () => {
    await write({ 'routes/a.yaml': 'service: a\nx: 1' });
    expect(await problems()).toEqual(['config/gateway.yaml:1:1: no such file', 'routes/a.yaml:2:1 x: unknown key']);
    await rm(join(home, 'routes'), { recursive: true });
    expect(await problems()).toEqual(['config/gateway.yaml:1:1: no such file']);
  });

  it('of a missing folder stand where the folder is named', async () => {
    await write({ 'config/gateway.yaml': '\nroutes: ../nowhere' });
    expect(await problems()).toEqual(['config/gateway.yaml:2:9 routes: no such folder']);
    await write({ 'config/gateway.yaml': '' });
    expect(await problems()).toEqual(['config/gateway.yaml:1:1 routes: no such folder']);
    expect(await problems({ routesFolder: join(home, 'config/gateway.yaml') })).toEqual([
      'config/gateway.yaml:1:1: not a folder',
    ]);
  });

  it('of files that cannot be read say why', async () => {
    await write({ 'config/gateway.yaml': '', 'routes/a.yaml': Buffer.from('service: \xff', 'latin1') });
    await symlink(home, join(home, 'routes/b.yaml'));
    await symlink(join(home, 'nowhere'), join(home, 'routes/c.yaml'));
    expect(await problems()).toEqual([
      'routes/a.yaml:1:1: not UTF-8 text',
      'routes/b.yaml:1:1: not a file',
      'routes/c.yaml:1:1: no such file',
    ]);
  });

  it('of two files with one route name stand in both', async () => {
    await write({ 'config/gateway.yaml': '', 'routes/a.yaml': 'service: a', 'routes/a.yml': 'service: b' });
    expect(await problems()).toEqual([
      `routes/a.yaml:1:1: the same route name as routes/a.yml`,
      `routes/a.yml:1:1: the same route name as routes/a.yaml`,
    ]);
  });

  it('of one service with several sources stand in all its routes; the default source counts', async () => {
    await write({
      'config/gateway.yaml': '',
      'routes/a.yaml': 'service: x',
      'routes/b.yaml': 'service: x\nsource: consul',
      'routes/c.yaml': 'body: off\nservice: y\nendpoints: [y:1]',
      'routes/d.yaml': 'service: y\nendpoints: [y:1, y:2]',
      'routes/e.yaml': 'service: z\nendpoints: [y:1]',
    });
    const wrong = 'the same service has another source or other endpoints in';
    expect(await problems()).toEqual([
      `routes/c.yaml:2:10 service: ${wrong} routes/d.yaml`,
      `routes/d.yaml:1:10 service: ${wrong} routes/c.yaml`,
    ]);
  });

  it('of rules that tie are placed at the rule, also when another route is invalid', async () => {
    await write({
      'config/gateway.yaml': '',
      'routes/a.yaml': 'service: a\nmatch:\n  - paths: [/a]\n  - paths: [/b]',
      'routes/b.yaml': 'service: b\nx: 1',
    });
    const seen: string[] = [];
    const checkRoutes: LoadOptions['checkRoutes'] = (routes) => {
      seen.push(...routes.map(({ name }) => name));
      return [{ route: 'a', rule: 1, rival: 'a', message: 'ties with itself' }];
    };
    expect(await problems({ checkRoutes })).toEqual([
      'routes/a.yaml:4:5 match[1]: ties with itself',
      'routes/b.yaml:2:1 x: unknown key',
    ]);
    expect(seen).toEqual(['a']);
  });
});

async function write(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true });
    await writeFile(join(home, name), content);
  }
}

function load(options: Partial<LoadOptions> = {}) {
  return loadConfig({ gatewayFile: join(home, 'config/gateway.yaml'), environment: {}, ...options });
}

/** The problems as lines, with paths from the test's folder on. */
async function problems(options: Partial<LoadOptions> = {}): Promise<string[]> {
  const result = await load(options);
  return result.ok ? [] : result.problems.map((problem) => formatProblem(problem).replaceAll(`${home}/`, ''));
}
