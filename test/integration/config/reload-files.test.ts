// Reloads of real folders: what is loaded beside a gateway.yaml that is not valid, and the files of fallbacks.
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fallbackFilesOf } from '../../../gateway/config/fallback-files.ts';
import { type LoadOptions, loadConfig, loadFiles } from '../../../gateway/config/load.ts';
import { formatProblem } from '../../../gateway/config/problem.ts';
import { type InForce, isSame, planReload, type ReloadPlan, routesOf } from '../../../gateway/config/reload.ts';
import { findConflicts } from '../../../gateway/routing/conflicts.ts';

describe('a reload', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'weir-reload-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  async function write(files: Record<string, string>): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), content);
    }
  }

  const options = (): LoadOptions => ({ gatewayFile: join(home, 'config/gateway.yaml'), environment: {} });

  async function start(): Promise<InForce> {
    const { ok, ...result } = await loadConfig(options());
    if (!ok || !('gateway' in result)) throw new Error(JSON.stringify(result));
    const { gateway, folder, loaded } = result;
    return { gateway, folder, routes: new Map(loaded.map((route) => [route.document.file, route])) };
  }

  async function reload(before: InForce): Promise<ReloadPlan> {
    return planReload(before, await loadFiles({ ...options(), lastGood: before }), findConflicts);
  }

  const sources = (plan: InForce) => routesOf(plan).map(({ name, source }) => [name, source]);

  it.each([
    ['a syntax error', 'discovery: [', /not YAML/],
    ['a wrong value', 'discovery: { source: dns }\nworkers: 0\nroutes: ../other', /workers: out of range/],
    ['a missing variable', `discovery: { source: dns }\nroutes: \${NOWHERE}`, /NOWHERE/],
    [
      'a file of it that is missing',
      'discovery: { source: dns, consul: { agents: ["https://a:1"], tls: { ca: none.pem } } }\nroutes: ../other',
      /tls\.ca/,
    ],
    ['no gateway.yaml at all', null, /no such file/],
  ])('keeps the folder and the default source of the last good gateway.yaml beside %s', async (_what, now, problem) => {
    await write({
      'config/gateway.yaml': 'discovery: { source: registry }\nroutes: ../mine',
      'mine/a.yaml': 'service: a',
      'mine/b.yaml': 'service: b\nsource: etcd',
      'other/c.yaml': 'service: c',
      'routes/d.yaml': 'service: d',
    });
    const before = await start();
    if (now === null) await rm(join(home, 'config/gateway.yaml'));
    else await write({ 'config/gateway.yaml': now });
    await write({ 'mine/e.yaml': 'service: e' });
    const plan = await reload(before);
    expect(sources(plan)).toEqual([
      ['a', 'registry'],
      ['b', 'etcd'],
      ['e', 'registry'],
    ]);
    expect(plan.gateway).toEqual(before.gateway);
    for (const [file, route] of before.routes) expect(isSame(plan.routes.get(file), route)).toBe(true);
    expect(plan.quarantined).toMatchObject([{ file: join(home, 'config/gateway.yaml'), hasLastGood: true }]);
    expect(plan.quarantined[0]?.problems.map(formatProblem).join('\n')).toMatch(problem);

    // As long as it is not valid.
    expect(sources(await reload(plan))).toEqual(sources(plan));
    await write({ 'config/gateway.yaml': 'discovery: { source: dns }\nroutes: ../other' });
    const good = await reload(plan);
    expect(sources(good)).toEqual([['c', 'dns']]);
    expect(good.quarantined).toEqual([]);
  });

  it('keeps the routes while their folder is gone, whether or not gateway.yaml is valid', async () => {
    await write({ 'config/gateway.yaml': '', 'routes/a.yaml': 'service: a' });
    const before = await start();
    await rename(join(home, 'routes'), join(home, 'away'));
    for (const gateway of ['workers: 3', '[', 'workers: 3']) {
      await write({ 'config/gateway.yaml': gateway });
      const plan = await reload(before);
      expect(sources(plan)).toEqual([['a', 'consul']]);
      expect(plan.quarantined.at(-1)).toMatchObject({ file: join(home, 'routes'), hasLastGood: true });
      expect(plan.gateway.workers).toBe(gateway === '[' ? 'auto' : 3);
    }
    await rename(join(home, 'away'), join(home, 'routes'));
    expect((await reload(before)).quarantined).toEqual([]);
  });

  it('gives all routes another default source', async () => {
    await write({
      'config/gateway.yaml': '',
      'routes/a.yaml': 'service: a',
      'routes/b.yaml': 'service: b\nsource: dns',
    });
    const before = await start();
    await write({ 'config/gateway.yaml': 'discovery: { source: etcd }' });
    expect(sources(await reload(before))).toEqual([
      ['a', 'etcd'],
      ['b', 'dns'],
    ]);
  });

  it('takes the content of a fallback for a part of its route', async () => {
    const respond = (file: string) =>
      `service: a\nfallback: { chain: [{ stale: {} }, { respond: { file: ${file} } }] }`;
    await write({
      'config/gateway.yaml': '',
      'routes/a.yaml': respond('../pages/sorry.html'),
      'pages/sorry.html': 'one',
    });
    const before = await start();
    const [route] = routesOf(before);
    if (route === undefined) throw new Error('no route');
    expect(fallbackFilesOf(route)).toEqual([join(home, 'pages/sorry.html')]);
    const [file = ''] = before.routes.keys();
    expect(isSame((await reload(before)).routes.get(file), before.routes.get(file))).toBe(true);

    await write({ 'pages/sorry.html': 'two' });
    const second = await reload(before);
    expect(isSame(second.routes.get(file), before.routes.get(file))).toBe(false);
    expect(contentOf(second)).toBe('two');

    await rm(join(home, 'pages/sorry.html'));
    const third = await reload(second);
    expect(contentOf(third)).toBe('two');
    expect(third.quarantined).toMatchObject([{ file, hasLastGood: true }]);
    expect(third.quarantined[0]?.problems.map(formatProblem).join()).toMatch(/respond\.file: the file cannot be read/);
  });

  it('keeps a route whose file is written by half, and takes it when it is whole (case 136)', async () => {
    await write({ 'config/gateway.yaml': '', 'routes/a.yaml': 'service: a' });
    let inForce: InForce = await start();
    const whole = 'service: a\nmatch:\n  - paths: ["/a/*"]\nretry: { attempts: 2 }\n';
    const halves = Array.from({ length: whole.length }, (_, length) => whole.slice(0, length));
    for (const half of halves) {
      await write({ 'routes/a.yaml': half });
      inForce = await reload(inForce);
      expect(routesOf(inForce)).toHaveLength(1);
    }
    await write({ 'routes/a.yaml': whole });
    expect(routesOf(await reload(inForce))).toMatchObject([{ service: 'a', retry: { attempts: 2 } }]);
  });
});

function contentOf(plan: InForce): string | undefined {
  const link = routesOf(plan)[0]?.fallback?.chain[1];
  return link?.kind === 'respond' ? new TextDecoder().decode(link.content) : undefined;
}
