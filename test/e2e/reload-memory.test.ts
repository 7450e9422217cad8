// Many reloads beside streams that live long: no old configuration is kept for them.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ConfigFiles } from '../support/config-files.ts';
import { type StreamService, startStreamService } from '../support/long-streams.ts';
import { startWeir, type WeirProcess } from '../support/weir-process.ts';

const WARM_RELOADS = 40;
const RELOADS = 300;
const RELOADS_PER_STREAM = 10;
/** A configuration of 1 MB, most of it in the answers of fallbacks, which every worker keeps. */
const ROUTES = 20;
const BODY = 'x'.repeat(50_000);
const MOST_GROWTH_MIB = 150;

describe.skipIf(process.platform !== 'linux')('hundreds of reloads', () => {
  const owned = new AsyncDisposableStack();
  let service: StreamService;
  let weir: WeirProcess;
  let files: ConfigFiles;

  beforeAll(async () => {
    service = owned.adopt(await startStreamService('one'), (server) => server.stop());
    const routes = Array.from({ length: ROUTES }, (_, at) => [`r${at}`, routeTo(`r${at}`)]);
    weir = owned.adopt(await startWeir({ routes: Object.fromEntries(routes) }), (gateway) => gateway.close());
    files = new ConfigFiles(weir);
  });
  afterAll(() => owned.disposeAsync());

  function routeTo(name: string, responseSeconds = 30): object {
    const endpoints = [`127.0.0.1:${service.port}`];
    const fallback = { chain: [{ respond: { body: BODY } }] };
    return {
      service: name,
      endpoints,
      match: [{ paths: [`/${name}/*`] }],
      fallback,
      timeout: { response: `${responseSeconds}s` },
    };
  }

  it('beside streams that were opened under each of them keep no old configuration in memory (case 133)', async () => {
    const { pid } = (await weir.upstreams()).gateway;
    const residentMiB = () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    const tunnels: WebSocket[] = [];
    const reload = async (time: number) => {
      await files.route('r0', routeTo('r0', 1 + (time % 50)));
      expect((await files.reload()).changed).toEqual(['r0']);
    };
    for (let time = 0; time < WARM_RELOADS; time++) await reload(time);
    const before = residentMiB();
    for (let time = 0; time < RELOADS; time++) {
      await reload(time);
      if (time % RELOADS_PER_STREAM !== 0) continue;
      const tunnel = owned.adopt(new WebSocket(`ws://127.0.0.1:${weir.port}/r${time % 3}/chat`), (each) =>
        each.terminate(),
      );
      await once(tunnel, 'open');
      tunnels.push(tunnel);
    }
    // One copy in one thread for each reload would be three hundred.
    expect(residentMiB() - before).toBeLessThan(MOST_GROWTH_MIB);
    for (const tunnel of tunnels) {
      const echoed = once(tunnel, 'message');
      tunnel.send('still there');
      expect(String((await echoed)[0])).toBe('still there');
    }
  });
});
