// A gateway that is started while Consul is down: from its snapshot file, without one, and with a broken one.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasConsul, startConsul } from '../support/real-consul.ts';
import { registrationOf, startInstances } from '../support/sample-service.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const RESPOND = { status: 503, contentType: 'text/plain', body: 'later' };

describe.skipIf(!hasConsul())('a gateway that starts while Consul is down', () => {
  const owned = new AsyncDisposableStack();
  let weir: WeirProcess;
  let snapshotFile: string;

  beforeAll(async () => {
    const consul = owned.adopt(await startConsul(), (agent) => agent.stop());
    const [instance] = await startInstances('one');
    if (instance === undefined) throw new Error('no instance');
    owned.adopt(instance, () => instance.kill());
    await consul.register(registrationOf('web', instance, 3));
    weir = owned.adopt(
      await startWeir({
        routes: {
          web: { service: 'web', match: [{ paths: ['/web/*'] }], fallback: { chain: [{ respond: RESPOND }] } },
          other: { service: 'other', match: [{ paths: ['/other'] }] },
        },
        gateway: { discovery: { consul: { agents: [consul.url] } } },
      }),
      (gateway) => gateway.close(),
    );
    snapshotFile = join(weir.folder, 'data/snapshot.json');
    await weir.activePorts('web', [instance.port]);
    await weir.stop();
    await consul.stop();
  });
  afterAll(() => owned.disposeAsync());

  it('is ready and serves from its snapshot file, and says that the pool is stale', async () => {
    await weir.start();
    const { status, headers } = await weir.get('/web/item');
    expect([status, headers['x-instance']]).toEqual([200, 'one']);
    expect(await weir.service('web')).toMatchObject({
      state: 'stale',
      lastError: expect.any(String),
      ageSeconds: expect.any(Number),
      endpoints: [{ state: 'active', weight: 3 }],
    });
    // A service that never had an instance is no reason to wait.
    expect((await weir.get('/other')).status).toBe(503);
    expect(await weir.logged('pools restored from the snapshot file')).toHaveLength(1);
    expect(await weir.logged('ready')).toMatchObject([{ unconfirmed: expect.arrayContaining(['web', 'other']) }]);
  });

  it('keeps the age of the pool over further restarts, and takes a changed file for broken', async () => {
    await weir.start();
    const first = await weir.service('web');
    await weir.stop();
    await weir.start();
    expect((await weir.service('web')).lastSuccess).toBe(first.lastSuccess);
    await weir.stop();

    const text = await readFile(snapshotFile, 'utf8');
    const broken = [text.slice(0, text.length / 2), text.replace('"weight":3', '"weight":4'), '', '{"format":1}'];
    for (const content of broken) {
      await writeFile(snapshotFile, content);
      await weir.start();
      expect(await weir.logged('the snapshot file is not used')).toMatchObject([
        { level: 'error', why: expect.stringMatching(/./) },
      ]);
      expect(await weir.get('/web/item')).toMatchObject({ status: 503, body: 'later' });
      await weir.stop();
    }
  });

  it('is ready without a snapshot file too, and answers from its fallback', async () => {
    await rm(snapshotFile);
    await weir.start();
    const { status, headers, body } = await weir.get('/web/item');
    expect({ status, body }).toEqual({ status: 503, body: 'later' });
    expect(headers['x-degraded']).toMatch(/^empty; source=respond; since=/);
    expect(await weir.service('web')).toMatchObject({
      state: 'empty',
      lastSuccess: null,
      lastError: expect.any(String),
    });
  });
});
