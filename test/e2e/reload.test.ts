// Files that change under a running gateway: noticed, loaded on demand, quarantined when they are wrong.
import { utimes, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigFiles } from '../support/config-files.ts';
import { type LocalServer, startHttpServer } from '../support/local-server.ts';
import { parsePrometheusText, sumOf } from '../support/prometheus-text.ts';
import { waitFor } from '../support/wait-for.ts';
import { startCommand } from '../support/weir-command.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 15_000;
const NOTHING = { added: [], changed: [], removed: [], gatewayKeys: [], restartKeys: [] };

describe('a gateway whose files change', () => {
  const owned = new AsyncDisposableStack();
  let upstream: LocalServer;
  let weir: WeirProcess;
  let files: ConfigFiles;

  const routeTo = (path: string, more: object = {}) => {
    return { service: 'web', endpoints: [`127.0.0.1:${upstream.port}`], match: [{ paths: [path] }], ...more };
  };

  beforeAll(async () => {
    upstream = owned.adopt(await startHttpServer((_request, response) => response.end('web')), (server) =>
      server.stop(),
    );
    weir = owned.adopt(await startWeir({ routes: { a: routeTo('/a') } }), (gateway) => gateway.close());
    files = new ConfigFiles(weir);
  });
  afterAll(() => owned.disposeAsync());

  const answers = (path: string, status: number) =>
    waitFor(async () => (await weir.get(path)).status === status, { limitMs: LIMIT_MS, what: `${status} for ${path}` });

  const reloads = async (result: string) =>
    sumOf(parsePrometheusText((await weir.admin('/metrics')).body), 'weir_config_reloads_total', { result });

  it('notices an edit, a new file and one that is removed by itself', async () => {
    const why = 'the files have changed';
    await files.route('a', routeTo('/edited'));
    await answers('/edited', 200);
    expect((await weir.get('/a')).status).toBe(404);
    expect(await weir.logged('configuration reloaded')).toMatchObject([{ why, result: 'applied', changed: ['a'] }]);
    await files.route('b', routeTo('/b'));
    await answers('/b', 200);
    await files.removeRoute('b');
    await files.route('a', routeTo('/a'));
    await answers('/b', 404);
    await answers('/a', 200);
    expect(await reloads('applied')).toBeGreaterThanOrEqual(3);
  });

  it('finds nothing to change in a file that was only touched', async () => {
    const [applied, unchanged] = [await reloads('applied'), await reloads('unchanged')];
    await utimes(files.path('routes/a.yaml'), new Date(), new Date());
    await waitFor(async () => (await reloads('unchanged')) > unchanged, { limitMs: LIMIT_MS, what: 'a reload' });
    expect(await reloads('applied')).toBe(applied);
  });

  it('keeps the last good version of a file that is written by half, and shows why, until it is whole', async () => {
    await files.route('a', 'service: web\nmatch: [{ paths: [/new');
    const [quarantined] = await waitFor(
      async () => {
        const { quarantined: found } = await files.page();
        return found.length > 0 && found;
      },
      { limitMs: LIMIT_MS, what: 'the quarantine' },
    );
    expect(quarantined).toEqual({
      file: 'routes/a.yaml',
      problems: [expect.stringMatching(/^routes\/a\.yaml:2:\d+: not YAML/)],
      inForce: 'last good version',
    });
    expect((await weir.get('/a')).status).toBe(200);
    expect(await weir.logged('configuration file is quarantined')).toMatchObject([
      { level: 'error', file: 'routes/a.yaml', inForce: 'last good version', problems: quarantined?.problems },
    ]);
    await files.route('a', routeTo('/new'));
    await answers('/new', 200);
    expect((await files.page()).quarantined).toEqual([]);
    expect([await reloads('quarantined'), await reloads('failed')]).toEqual([1, 0]);
  });

  it('notices that the file of a fallback has changed, wherever it is', async () => {
    await writeFile(files.path('sorry.txt'), 'one');
    const fallback = { chain: [{ respond: { status: 503, file: '../sorry.txt' } }] };
    await files.route('f', { service: 'nothing', endpoints: ['127.0.0.1:9'], match: [{ paths: ['/f'] }], fallback });
    await answers('/f', 503);
    expect((await weir.get('/f')).body).toBe('one');
    await writeFile(files.path('sorry.txt'), 'two');
    const isNew = async () => (await weir.get('/f')).body === 'two';
    await waitFor(isNew, { limitMs: LIMIT_MS, what: 'the new text' });
  });

  it('loads them at once on SIGHUP', async () => {
    await files.route('a', routeTo('/hup'));
    weir.signal('SIGHUP');
    await answers('/hup', 200);
    expect((await weir.logged('configuration reloaded')).at(-1)).toMatchObject({ why: 'SIGHUP', changed: ['a'] });
  });

  it('loads them for an operator, and reports what came of it', async () => {
    await files.removeRoute('f');
    await files.route('a', routeTo('/a'));
    await files.route('b', routeTo('/b'));
    const changes = { ...NOTHING, added: ['b'], changed: ['a'], removed: ['f'] };
    expect(await files.reload()).toEqual({ result: 'applied', ...changes, quarantined: [] });
    expect((await weir.get('/b')).status).toBe(200);
    expect(await files.reload()).toEqual({ result: 'unchanged', ...NOTHING, quarantined: [] });
    const { routes } = await files.page();
    expect(routes.map(({ name, service, source }) => [name, service, source])).toEqual([
      ['a', 'web', 'static'],
      ['b', 'web', 'static'],
    ]);
  });

  it('refuses at a start what it quarantines at a reload (case 136)', async () => {
    await files.route('a', routeTo('/a', { fallbck: {}, retrys: 3 }));
    await files.route(
      'b',
      routeTo('/b', { timeout: { connect: 5 }, endpoints: [{ address: '127.0.0.1:9', weight: 'ten' }] }),
    );
    await files.route('c', `service: web\nservice: web\n`);
    const report = await files.reload();
    expect(report).toMatchObject({ result: 'quarantined', ...NOTHING });
    expect(report.quarantined.map(({ file, inForce }) => [file, inForce])).toEqual([
      ['routes/a.yaml', 'last good version'],
      ['routes/b.yaml', 'last good version'],
      ['routes/c.yaml', 'nothing'],
    ]);
    expect([(await weir.get('/a')).status, (await weir.get('/b')).status]).toEqual([200, 200]);
    await weir.stop();
    const args = ['start', '--config', 'config/gateway.yaml', '--routes', 'routes'];
    const second = startCommand(args, weir.folder);
    expect(await second.ended(LIMIT_MS)).toEqual({ code: 2, signal: null });
    expect(second.stderr.trimEnd().split('\n')).toEqual(report.quarantined.flatMap(({ problems }) => problems));
    expect(second.stderr).toMatch(/a\.yaml:\d+:1 fallbck: unknown key, did you mean "fallback"\?/);
    expect(second.stderr).toMatch(/a\.yaml:\d+:1 retrys: unknown key, did you mean "retry"\?/);
    expect(second.stderr).toMatch(/b\.yaml:\d+:\d+ timeout\.connect: /);
    expect(second.stderr).toMatch(/b\.yaml:\d+:\d+ endpoints\[0\]/);
    expect(second.stderr).toMatch(/c\.yaml:2:1 service: duplicate key/);
  });
});
