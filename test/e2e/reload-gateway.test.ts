// A gateway.yaml that changes: workers are replaced one by one under load, and nobody notices.
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigFiles } from '../support/config-files.ts';
import { findFreePorts } from '../support/free-ports.ts';
import { startLoad } from '../support/load.ts';
import { startHttpServer } from '../support/local-server.ts';
import { unexplained } from '../support/resets.ts';
import { send } from '../support/send.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const LIMIT_MS = 20_000;
/** Header fields that are one too many once there may be five. */
const MANY_FIELDS = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`x-${at}`, '1']));

describe('a gateway.yaml that changes', () => {
  const owned = new AsyncDisposableStack();
  let scene: Scene;
  let weir: WeirProcess;
  let files: ConfigFiles;

  beforeAll(async () => {
    scene = await startScene(owned);
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
      await waitFor(async () => (await scene.workers()).length === 2, { limitMs: LIMIT_MS, what: 'two workers' });
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
    await waitFor(async () => (await scene.workers()).length === 2, {
      limitMs: LIMIT_MS,
      what: 'the new worker to be gone',
    });
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

describe('a gateway.yaml that changes before the gateway is stopped', () => {
  let owned: AsyncDisposableStack;
  let scene: Scene;

  beforeEach(async () => {
    owned = new AsyncDisposableStack();
    scene = await startScene(owned);
  });
  afterEach(() => owned.disposeAsync());

  it('may shorten the time to drain of the process that runs', async () => {
    const { weir, files, held } = scene;
    await files.gateway({ shutdown: { drain: '300ms' } });
    expect(await files.reload()).toMatchObject({ gatewayKeys: ['shutdown'] });
    const slow = weir.get('/held').catch((error: Error) => error);
    await waitFor(() => held[0], { limitMs: LIMIT_MS, what: 'the held request' });
    weir.signal('SIGTERM');
    // It was a minute before; the client itself would wait for twenty seconds.
    expect(String(await slow)).toMatch(/socket hang up|ECONNRESET|aborted/);
    expect(await weir.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
  });

  it('does not cost a request of a worker that is being replaced when the gateway is stopped', async () => {
    const { weir, files, held } = scene;
    const slow = weir.get('/held');
    await waitFor(() => held[0], { limitMs: LIMIT_MS, what: 'the held request' });
    await files.gateway({ limits: { headerCount: 5 } });
    await files.reload();
    // Of the old workers only the one is left that has the held request.
    await scene.allAnswer(431, 3);
    weir.signal('SIGTERM');
    // The gateway waits for that one too, and says so as long as it does.
    const isLast = async () => (await scene.workers()).length === 1;
    await waitFor(isLast, { limitMs: LIMIT_MS, what: 'the old worker alone' });
    await expect(weir.get('/item')).rejects.toThrow('ECONNREFUSED');
    for (let time = 0; time < 50; time++) expect((await weir.admin('/readyz')).status).toBe(503);
    held[0]?.end('at last');
    expect(await slow).toMatchObject({ status: 200, body: 'at last' });
    expect(await weir.ended(LIMIT_MS)).toEqual({ code: 0, signal: null });
  });
});

/** A gateway before one service, and the requests that the service has and has not answered. */
interface Scene {
  readonly weir: WeirProcess;
  readonly files: ConfigFiles;
  readonly held: readonly ServerResponse[];
  workers(): Promise<readonly { readonly id: number }[]>;
  /** Waits until every worker answers a request with many fields so, and there are so many workers, old ones included. */
  allAnswer(status: number, count?: number): Promise<void>;
}

async function startScene(owned: AsyncDisposableStack): Promise<Scene> {
  const held: ServerResponse[] = [];
  const upstream = owned.adopt(
    await startHttpServer((request, response) => {
      if (request.url === '/held') held.push(response);
      else response.end('item');
    }),
    (server) => server.stop(),
  );
  const weir = owned.adopt(
    await startWeir({
      routes: { web: { service: 'web', endpoints: [`127.0.0.1:${upstream.port}`], match: [{ paths: ['/*'] }] } },
      gateway: { shutdown: { drain: '60s' } },
    }),
    (gateway) => gateway.close(),
  );
  const workers = async () => (await weir.upstreams()).gateway.workers;
  const answer = () =>
    weir.get('/item', { headers: MANY_FIELDS }).then(
      ({ status }) => status,
      () => null,
    );
  const allAnswer = async (status: number, count = 2): Promise<void> => {
    const areNew = async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, answer));
      return answers.every((each) => each === status) && (await workers()).length === count;
    };
    await waitFor(areNew, { limitMs: LIMIT_MS, what: `${status} of all workers` });
  };
  return { weir, files: new ConfigFiles(weir), held, workers, allAnswer };
}
