// Long-lived streams over reloads: those of an untouched route notice nothing, those of a changed one end in peace.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigFiles } from '../support/config-files.ts';
import { type LongStreams, openStreams, type StreamService, startStreamService } from '../support/long-streams.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const RELOADS = 21;

describe('streams over reloads', () => {
  const owned = new AsyncDisposableStack();
  let services: StreamService[];
  let weir: WeirProcess;
  let files: ConfigFiles;

  const routeTo = (service: string, at: number, more: object = {}) => {
    const endpoints = [`127.0.0.1:${services[at]?.port}`];
    return { service, endpoints, match: [{ paths: [`/${service}/*`] }], ...more };
  };

  beforeAll(async () => {
    services = await Promise.all(['one', 'two', 'three'].map(startStreamService));
    for (const service of services) owned.adopt(service, (server) => server.stop());
    weir = owned.adopt(
      await startWeir({
        routes: { s1: routeTo('s1', 0), s2: routeTo('s2', 1) },
        gateway: { shutdown: { drain: '60s' } },
      }),
      (gateway) => gateway.close(),
    );
    files = new ConfigFiles(weir);
  });
  afterAll(() => owned.disposeAsync());

  const open = async (path: string): Promise<LongStreams> =>
    owned.adopt(await openStreams(weir.port, path), (streams) => streams.close());

  it('of an untouched route live on while another is added, edited and removed (case 132)', async () => {
    // Several of them, so that each worker has some.
    const streams = await Promise.all(Array.from({ length: 4 }, () => open('/s1')));
    const edits = [
      () => files.route('s2', routeTo('s2', 1, { timeout: { response: '9s' } })),
      () => files.route('s3', routeTo('s3', 2)),
      () => files.route('s2', 'service: ['),
      () => files.removeRoute('s3'),
      () => files.route('s2', routeTo('s2', 2)),
      () => files.removeRoute('s2'),
      () => files.route('s2', routeTo('s2', 1)),
    ];
    for (let time = 0; time < RELOADS; time++) {
      await edits[time % edits.length]?.();
      expect((await files.reload()).result).not.toBe('unchanged');
      for (const stream of streams) await stream.step();
    }
    expect(streams.map((stream) => stream.areOpen())).toEqual(streams.map(() => true));
    services[0]?.endEvents();
    for (const stream of streams) expect(await stream.finish()).toEqual([]);
    // The same workers as before, and the pool as it was.
    const { gateway } = await weir.upstreams();
    expect(gateway.workers.map(({ id }) => id)).toEqual([1, 2]);
    expect((await weir.admin('/metrics')).body).toContain('weir_worker_restarts_total 0\n');
  });

  it('of an edited route go on as they began, and new requests go by the new file', async () => {
    const old = await open('/s2');
    // Another instance, and another service.
    await files.route('s2', { ...routeTo('s2', 2), service: 's2-next' });
    expect(await files.reload()).toMatchObject({ result: 'applied', changed: ['s2'] });
    for (let time = 0; time < RELOADS; time++) {
      expect((await weir.get('/s2/item')).headers['x-instance']).toBe('three');
      await old.step();
    }
    await files.removeRoute('s2');
    expect(await files.reload()).toMatchObject({ result: 'applied', removed: ['s2'] });
    expect((await weir.get('/s2/item')).status).toBe(404);
    await old.step();
    expect(old.areOpen()).toBe(true);
    services[1]?.endEvents();
    expect(await old.finish()).toEqual([]);
  });
});
