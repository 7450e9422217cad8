// A gateway whose gateway.yaml changes while requests of it are held: who answers by the new one, and who still works.
import type { ServerResponse } from 'node:http';
import { ConfigFiles } from './config-files.ts';
import { startHttpServer } from './local-server.ts';
import type { Answer } from './send.ts';
import { waitFor } from './wait-for.ts';
import type { UpstreamsPage } from './weir-pages.ts';
import { startWeir, type WeirProcess } from './weir-process.ts';

const LIMIT_MS = 20_000;
/** A request that is held waits longer than a test takes to answer it, and the gateway waits longer still. */
const HELD_LIMIT_MS = 80_000;
const DRAIN = '110s';
/** So many that no worker is left out: each is on a connection of its own, which the kernel gives to any of them. */
const ASKED = 40;
/** Header fields that are one too many once there may be five. */
const MANY_FIELDS = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`x-${at}`, '1']));

/** A request that the service has and has not answered. */
export interface HeldRequest {
  readonly answer: Promise<Answer>;
  end(body: string): void;
}

/** A gateway before one service that answers `/held` when the test says so. */
export class ReloadScene {
  readonly weir: WeirProcess;
  readonly files: ConfigFiles;
  readonly #held: readonly ServerResponse[];

  constructor(weir: WeirProcess, held: readonly ServerResponse[]) {
    this.weir = weir;
    this.files = new ConfigFiles(weir);
    this.#held = held;
  }

  async workers(): Promise<UpstreamsPage['gateway']['workers']> {
    return (await this.weir.upstreams()).gateway.workers;
  }

  /** Waits until the old workers are gone: new ones start at once with a reload. */
  async areReplaced(): Promise<void> {
    const areAlone = async () => (await this.workers()).length === 2;
    await waitFor(areAlone, { limitMs: LIMIT_MS, what: 'two workers' });
  }

  /** Waits until every worker answers a request with many fields so, and there are so many workers, old ones included. */
  async allAnswer(status: number, count = 2): Promise<void> {
    let last: unknown;
    const answer = () =>
      this.weir.get('/item', { headers: MANY_FIELDS }).then(
        (found) => found.status,
        () => null,
      );
    const areNew = async () => {
      const answers = await Promise.all(Array.from({ length: ASKED }, answer));
      const workers = (await this.workers()).map(({ id }) => id);
      last = { answers, workers };
      return answers.every((each) => each === status) && workers.length === count;
    };
    await waitFor(areNew, { limitMs: LIMIT_MS, what: `${status} of all ${count} workers` }).catch((error: Error) => {
      throw new Error(`${error.message}; at last: ${JSON.stringify(last)}`);
    });
  }

  /** Sends a request that is held, and waits until the service has it. */
  async hold(): Promise<HeldRequest> {
    const at = this.#held.length;
    const answer = this.weir.get('/held', { limitMs: HELD_LIMIT_MS });
    let failure: Error | undefined;
    // A test that fails before it asks for the answer leaves no rejection behind.
    answer.catch((error: Error) => {
      failure = error;
    });
    const find = () => {
      if (failure !== undefined) throw failure;
      return this.#held[at];
    };
    const response = await waitFor(find, { limitMs: LIMIT_MS, what: 'the held request' });
    return { answer, end: (body) => void response.end(body) };
  }

  /** The same for worker `id`, which has had no connection so far. */
  async holdIn(id: number): Promise<HeldRequest> {
    const hold = async () => {
      const request = await this.hold();
      if ((await this.workers()).some((worker) => worker.id === id && worker.connections > 0)) return request;
      request.end('of another worker');
      await request.answer;
      return false;
    };
    return waitFor(hold, { limitMs: LIMIT_MS, what: `a held request of worker ${id}` });
  }

  /** Whether nobody listens any more. */
  async isRefused(): Promise<boolean> {
    return this.weir.get('/item').then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
    );
  }
}

/** Starts it with two workers, whose old ones wait longer for what they have under way than any test takes. */
export async function startReloadScene(owned: AsyncDisposableStack): Promise<ReloadScene> {
  const held: ServerResponse[] = [];
  const upstream = owned.adopt(
    await startHttpServer((request, response) => {
      if (request.url === '/held') held.push(response);
      else response.end('item');
    }),
    (server) => server.stop(),
  );
  const endpoints = [`127.0.0.1:${upstream.port}`];
  const weir = owned.adopt(
    await startWeir({
      routes: { web: { service: 'web', endpoints, match: [{ paths: ['/*'] }], timeout: { response: DRAIN } } },
      gateway: { shutdown: { drain: DRAIN } },
    }),
    (gateway) => gateway.close(),
  );
  // What a test that failed has left under way would keep the gateway.
  owned.defer(() => {
    for (const response of held) response.end();
  });
  return new ReloadScene(weir, held);
}
