// A gateway.yaml that changes: workers are replaced one by one under load, and nobody notices.
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findFreePorts } from '../support/free-ports.ts';
import { startLoad } from '../support/load.ts';
import { startHttpServer } from '../support/local-server.ts';
import { type HeldRequest, ReloadScene, startReloadScene } from '../support/reload-scene.ts';
import { unexplained } from '../support/resets.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 20_000;

describe('a gateway.yaml that changes', () => {
  const owned = new AsyncDisposableStack();
  let scene: ReloadScene;
  let weir: WeirProcess;
  let files: ReloadScene['files'];

  beforeAll(async () => {
    scene = await startReloadScene(owned);
    ({ weir, files } = scene);
  });
  afterAll(() => owned.disposeAsync());

  it('is brought into effect by new workers, without a request that fails', async () => {
    const load = startLoad({ url: `${weir.url}/item`, fresh: 4, kept: 4, pauseMs: 1 });
    try {
      for (const [limits, status] of [
        [{ headerCount: 5 }, 431],
        [{ headerCount: 100 }, 200],
      ] as const) {
        await files.gateway({ limits, timeouts: { keepAlive: `${status}s` } });
        const report = await files.reload();
        expect(report).toMatchObject({ result: 'applied', changed: [], restartKeys: [] });
        expect(report.gatewayKeys.toSorted()).toEqual(['limits', 'timeouts']);
        await scene.allAnswer(status);
      }
    } finally {
      await load.stop();
    }
    expect(unexplained(load, 4)).toEqual([]);
    expect(load.statuses.keys().toArray()).toEqual([200]);
    expect((await scene.workers()).map(({ id }) => id)).toEqual([1, 2]);
    expect((await files.page()).gateway).toMatchObject({
      limits: { headerCount: 100 },
      timeouts: { keepAliveMs: 200_000 },
    });
  });

  it('reaches every worker at once, whatever each of the old ones still has under way', async () => {
    const areIdle = async () => (await scene.workers()).every(({ connections }) => connections === 0);
    await waitFor(areIdle, { limitMs: LIMIT_MS, what: 'workers without connections' });
    const slow: HeldRequest[] = [];
    const areAllBusy = async () => {
      slow.push(await scene.hold());
      return (await scene.workers()).every(({ connections }) => connections > 0);
    };
    await waitFor(areAllBusy, { limitMs: LIMIT_MS, what: 'a held request in every worker' });
    await files.gateway({ limits: { headerCount: 5 } });
    expect(await files.reload()).toMatchObject({ gatewayKeys: ['limits'] });
    await scene.allAnswer(431, 4);
    // Whom another change replaces has to wait for the one that it replaced itself: there are no more than two of each.
    await files.gateway({ limits: { headerCount: 100 } });
    expect(await files.reload()).toMatchObject({ gatewayKeys: ['limits'] });
    expect((await scene.workers()).map(({ id }) => id)).toEqual([1, 1, 2, 2]);
    for (const { end } of slow) end('at last');
    for (const { answer } of slow) expect(await answer).toMatchObject({ status: 200, body: 'at last' });
    await scene.allAnswer(200);
  });

  it('may add a listen address and take it away, while the others go on', async () => {
    const [morePort = 0] = await findFreePorts(1);
    const more = `http://127.0.0.1:${morePort}/item`;
    const addresses = [weir.port, morePort].map((port) => ({ address: `127.0.0.1:${port}` }));
    const load = startLoad({ url: `${weir.url}/item`, fresh: 2, kept: 2, pauseMs: 1 });
    try {
      await files.gateway({ listen: addresses });
      expect(await files.reload()).toMatchObject({ result: 'applied', gatewayKeys: ['listen'] });
      const answers = () =>
        send(more).then(
          ({ status }) => status === 200,
          () => false,
        );
      await waitFor(answers, { limitMs: LIMIT_MS, what: 'the new address' });
      await files.gateway({ listen: addresses.slice(0, 1) });
      await files.reload();
      await waitFor(async () => !(await answers()), { limitMs: LIMIT_MS, what: 'the address to be closed' });
      await scene.areReplaced();
      await expect(send(more)).rejects.toThrow('ECONNREFUSED');
    } finally {
      await load.stop();
    }
    expect(unexplained(load, 4)).toEqual([]);
  });

  it('with an address that cannot be had leaves the old workers at work, until it is mended', async () => {
    const taken = owned.adopt(createServer(), (server: Server) => void server.close());
    const takenPort = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => {
        const address = taken.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const own = { address: `127.0.0.1:${weir.port}` };
    await files.gateway({ listen: [own, { address: `127.0.0.1:${takenPort}` }], limits: { headerCount: 5 } });
    await files.reload();
    const [line] = await weir.logged('worker cannot listen');
    expect(line).toMatchObject({ level: 'error', why: expect.stringContaining('EADDRINUSE') });
    // The new one is gone.
    await scene.areReplaced();
    await scene.allAnswer(200);
    expect((await weir.admin('/readyz')).status).toBe(200);
    await files.gateway({ listen: [own] });
    expect(await files.reload()).toMatchObject({ gatewayKeys: ['listen'] });
    await scene.allAnswer(431);
  });

  it('tells what only a start can change, and changes nothing of it', async () => {
    const [otherPort] = await findFreePorts(1);
    await files.gateway({ workers: 3, admin: { address: `127.0.0.1:${otherPort}`, token: 'other-token-4711' } });
    const report = await files.reload();
    expect(report).toMatchObject({ result: 'unchanged', gatewayKeys: [] });
    expect(report.restartKeys.toSorted()).toEqual(['admin', 'workers']);
    expect((await scene.workers()).length).toBe(2);
    const { gateway } = await files.page();
    expect(gateway).toMatchObject({ workers: 2, admin: { port: Number(new URL(weir.adminUrl).port), token: '' } });
    expect(JSON.stringify([weir.log(), report])).not.toContain('other-token-4711');
  });
});

describe('a gateway.yaml that changes before the gateway is ready', () => {
  it('does not keep it from being so, with the new workers', async () => {
    await using owned = new AsyncDisposableStack();
    const asked: ServerResponse[] = [];
    let isHeld = false;
    const fail = (response: ServerResponse) => void response.writeHead(500).end();
    const agent = owned.adopt(
      await startHttpServer((_request, response) => {
        if (isHeld) asked.push(response);
        else fail(response);
      }),
      (server) => server.stop(),
    );
    const consul = { agents: [`http://127.0.0.1:${agent.port}`] };
    const weir = owned.adopt(
      await startWeir({
        routes: { web: { service: 'web', match: [{ paths: ['/*'] }] } },
        gateway: { discovery: { consul } },
      }),
      (gateway) => gateway.close(),
    );
    const scene = new ReloadScene(weir, []);
    await weir.stop();
    isHeld = true;
    const started = weir.start();
    started.catch(() => undefined);
    await waitFor(() => asked.length > 0, { limitMs: LIMIT_MS, what: 'the first query' });
    await scene.files.gateway({ limits: { headerCount: 5 } });
    expect(await scene.files.reload()).toMatchObject({ gatewayKeys: ['limits'] });
    isHeld = false;
    asked.forEach(fail);
    await started;
    await scene.allAnswer(431);
  });
});

describe('a gateway.yaml that changes before the gateway is stopped', () => {
  let owned: AsyncDisposableStack;
  let scene: ReloadScene;

  beforeEach(async () => {
    owned = new AsyncDisposableStack();
    scene = await startReloadScene(owned);
  });
  afterEach(() => owned.disposeAsync());

  it('may shorten the time to drain of the process that runs', async () => {
    const { weir, files } = scene;
    await files.gateway({ shutdown: { drain: '300ms' } });
    expect(await files.reload()).toMatchObject({ gatewayKeys: ['shutdown'] });
    // The old workers have no more time than that either.
    await scene.areReplaced();
    const { answer } = await scene.hold();
    weir.signal('SIGTERM');
    // The client itself would give up before the time that it was.
    await expect(answer).rejects.toThrow(/socket hang up|ECONNRESET|aborted/);
    expect(await weir.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
  });

  // The one that is replaced first, and the one that is replaced last.
  it.each([1, 2])(
    'does not cost a request of worker %i, which is being replaced when the gateway is stopped',
    async (id) => {
      const { weir, files } = scene;
      const { answer, end } = await scene.holdIn(id);
      await files.gateway({ limits: { headerCount: 5 } });
      await files.reload();
      // Of the old workers only the one is left that has the held request.
      await scene.allAnswer(431, 3);
      weir.signal('SIGTERM');
      // The gateway waits for that one too, and says so as long as it does.
      const isLast = async () => (await scene.workers()).length === 1;
      await waitFor(isLast, { limitMs: LIMIT_MS, what: 'the old worker alone' });
      await waitFor(() => scene.isRefused(), { limitMs: LIMIT_MS, what: 'closed doors' });
      for (let time = 0; time < 50; time++) expect((await weir.admin('/readyz')).status).toBe(503);
      end('at last');
      expect(await answer).toMatchObject({ status: 200, body: 'at last' });
      expect(await weir.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
    },
  );
});
