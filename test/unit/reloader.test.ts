import { describe, expect, it } from 'vitest';
import type { LoadedFiles } from '../../gateway/config/load.ts';
import { routesOf } from '../../gateway/config/reload.ts';
import type { Log } from '../../gateway/core/log.ts';
import { type Changes, liveGateway, RELOAD_RESULTS, Reloader } from '../../gateway/reloader.ts';
import { findConflicts } from '../../gateway/routing/conflicts.ts';
import { checkGateway, valid } from './config/checking.ts';
import { inForceFrom, loadedFrom, type Texts } from './config/loading.ts';

const ROUTE = 'service: a\nmatch: [{ paths: [/a] }]';

/** A reloader over texts in place of files. */
class Scene {
  now: Texts;
  loads = 0;
  readonly applied: Changes[] = [];
  readonly lines: [string, object][] = [];
  readonly reloader: Reloader;
  /** What goes wrong in the next load or when its outcome is put in force. */
  loadFault: Error | undefined;
  applyFault: Error | undefined;
  /** What a load waits for. */
  gate: Promise<void> = Promise.resolve();

  constructor(texts: Texts) {
    this.now = texts;
    this.reloader = new Reloader({
      inForce: inForceFrom(texts),
      load: () => this.#load(),
      checkRoutes: findConflicts,
      log: this.#log(),
      apply: async (_plan, changes) => {
        if (this.applyFault !== undefined) throw this.applyFault;
        this.applied.push(changes);
      },
    });
  }

  counts(): Record<string, number> {
    return Object.fromEntries(RELOAD_RESULTS.map((result) => [result, this.reloader.count(result)]));
  }

  async #load(): Promise<LoadedFiles> {
    this.loads++;
    const texts = this.now;
    await this.gate;
    if (this.loadFault !== undefined) throw this.loadFault;
    return loadedFrom(texts);
  }

  #log(): Log {
    const write = (fields: object, message: string) => void this.lines.push([message, fields]);
    return { debug: write, info: write, warn: write, error: write };
  }
}

const NOTHING = { added: [], changed: [], removed: [], gatewayKeys: [], restartKeys: [] };

describe('a reloader', () => {
  it('changes nothing for files that say the same, however they are written', async () => {
    const scene = new Scene({ gateway: 'workers: 2', routes: { 'a.yaml': ROUTE } });
    scene.now = {
      gateway: '# two\nworkers: 2\ntimeouts: { write: 60s }',
      routes: { 'a.yaml': `${ROUTE}\nbreaker: off` },
    };
    expect(await scene.reloader.reload('a test')).toEqual({ result: 'unchanged', ...NOTHING, quarantined: [] });
    expect(scene.applied).toEqual([]);
    expect(scene.counts()).toEqual({ applied: 0, unchanged: 1, quarantined: 0, failed: 0 });
  });

  it('tells the routes that were added, changed and removed by their names', async () => {
    const scene = new Scene({ routes: { 'a.yaml': ROUTE, 'b.yaml': 'service: b', 'c.yaml': 'service: c' } });
    scene.now = { routes: { 'a.yaml': ROUTE, 'b.yml': 'service: b', 'c.yaml': 'service: c\nwebsocket: false' } };
    const changes = { ...NOTHING, added: ['b'], changed: ['c'], removed: ['b'] };
    expect(await scene.reloader.reload('a test')).toEqual({ result: 'applied', ...changes, quarantined: [] });
    expect(scene.applied).toEqual([changes]);
  });

  it.each([
    ['limits: { body: 1MiB }', ['limits']],
    ['limits: { body: off }', ['limits']],
    ['timeouts: { keepAlive: 1s }\nshutdown: { drain: 1s }', ['timeouts', 'shutdown']],
    ['listen: [{ address: 127.0.0.1:1 }]', ['listen']],
    ['trustedProxies: [10.0.0.0/8]\ndegradedCache: { maxBytes: 1MiB }', ['trustedProxies', 'degradedCache']],
    ['discovery: { source: registry }', ['discovery.source']],
    ['discovery: { consul: { wait: 9s }, confirmEmpty: 9s }', ['discovery.consul', 'discovery.confirmEmpty']],
  ])('tells the keys of gateway.yaml that new workers bring into effect: %s', async (gateway, keys) => {
    const scene = new Scene({ routes: {} });
    scene.now = { gateway, routes: {} };
    const report = await scene.reloader.reload('a test');
    expect(report).toMatchObject({ result: 'applied', restartKeys: [] });
    expect(report.gatewayKeys.toSorted()).toEqual(keys.toSorted());
  });

  it.each([
    ['admin: { address: 127.0.0.1:1 }', ['admin']],
    ['admin: { token: abc }', ['admin']],
    ['workers: 7', ['workers']],
    ['log: { level: debug }', ['log']],
    [
      'discovery: { snapshot: { maxAge: 1h }, embeddedRegistry: {} }',
      ['discovery.snapshot', 'discovery.embeddedRegistry'],
    ],
  ])('tells the keys that wait for a start, in every report until then: %s', async (gateway, keys) => {
    const scene = new Scene({ routes: {} });
    scene.now = { gateway, routes: {} };
    for (let time = 0; time < 2; time++) {
      const report = await scene.reloader.reload('a test');
      expect(report).toMatchObject({ result: 'unchanged', gatewayKeys: [] });
      expect(report.restartKeys.toSorted()).toEqual(keys.toSorted());
    }
    expect(scene.applied).toEqual([]);
    scene.now = { routes: {} };
    expect(await scene.reloader.reload('a test')).toMatchObject({ restartKeys: [] });
  });

  it('names what is quarantined until the file is good again', async () => {
    const scene = new Scene({ routes: { 'a.yaml': ROUTE } });
    scene.now = { routes: { 'a.yaml': `${ROUTE}\nfallbck: {}`, 'b.yaml': 'service: [' } };
    const report = await scene.reloader.reload('a test');
    expect(report).toMatchObject({ result: 'quarantined', ...NOTHING });
    expect(scene.reloader.quarantined).toEqual(report.quarantined);
    expect(report.quarantined).toMatchObject([
      {
        file: 'routes/a.yaml',
        inForce: 'last good version',
        problems: [expect.stringContaining('did you mean "fallback"?')],
      },
      { file: 'routes/b.yaml', inForce: 'nothing' },
    ]);
    const logged = scene.lines.filter(([message]) => message === 'configuration file is quarantined');
    expect(logged.map(([, fields]) => fields)).toEqual(report.quarantined);
    scene.now = { routes: { 'a.yaml': `${ROUTE}\nfallback: { chain: [{ respond: {} }] }` } };
    expect(await scene.reloader.reload('a test')).toMatchObject({ result: 'applied', changed: ['a'], quarantined: [] });
    expect(scene.reloader.quarantined).toEqual([]);
  });

  it('applies again what could not be put in force the first time', async () => {
    const scene = new Scene({ routes: { 'a.yaml': ROUTE } });
    scene.now = { routes: { 'a.yaml': `${ROUTE}\nwebsocket: false` } };
    scene.applyFault = new Error('no');
    await expect(scene.reloader.reload('a test')).rejects.toThrow('no');
    expect(routesOf(scene.reloader.inForce)[0]?.websocket).toBe(true);
    scene.applyFault = undefined;
    expect(await scene.reloader.reload('a test')).toMatchObject({ result: 'applied', changed: ['a'] });
    expect(scene.counts()).toEqual({ applied: 1, unchanged: 0, quarantined: 0, failed: 1 });
  });

  it('stays as it was when the files cannot be loaded at all', async () => {
    const scene = new Scene({ routes: { 'a.yaml': ROUTE } });
    scene.loadFault = new Error('out of handles');
    await expect(scene.reloader.reload('a test')).rejects.toThrow('out of handles');
    scene.loadFault = undefined;
    expect(await scene.reloader.reload('a test')).toMatchObject({ result: 'unchanged' });
    expect(scene.counts()).toEqual({ applied: 0, unchanged: 1, quarantined: 0, failed: 1 });
  });

  it('reloads one after another, each with the files of its own time', async () => {
    const scene = new Scene({ routes: { 'a.yaml': ROUTE } });
    const gate = Promise.withResolvers<void>();
    scene.gate = gate.promise;
    const reloads = [scene.reloader.reload('first'), scene.reloader.reload('second')];
    await Promise.resolve();
    expect(scene.loads).toBe(1);
    scene.now = { routes: {} };
    gate.resolve();
    expect((await Promise.all(reloads)).map(({ result }) => result)).toEqual(['unchanged', 'applied']);
    expect(scene.applied).toMatchObject([{ removed: ['a'] }]);
  });
});

describe('the gateway.yaml in force after a reload', () => {
  it('keeps what only a start can change, and takes the rest', () => {
    const before = valid(checkGateway('workers: 2\nadmin: { token: old }\nlog: { level: warn }'));
    const after = valid(
      checkGateway(
        'workers: 3\nadmin: { token: new }\nlog: { level: info }\nlimits: { headerCount: 9 }\n' +
          'discovery: { source: registry, snapshot: { path: x }, embeddedRegistry: {} }',
      ),
    );
    const live = liveGateway(before, after);
    expect(live).toMatchObject({
      workers: 2,
      admin: { token: 'old' },
      log: { level: 'warn' },
      limits: { headerCount: 9 },
    });
    expect(live.discovery).toEqual({ ...before.discovery, source: 'registry' });
  });
});
